
# --- Module: what an operator can do ----------------------------------------------------------------------------------
define RDC_MODULE_MANUAL
help_operator() {
  help_line "${rdc_again}goto STEP=ID" 'move a run that waits, was interrupted or has stopped; then resume it'
  help_line "$rdc_begin PROMPTED=1" 'begin a run that executes nothing: each command is shown, and a person answers'
  help_line "${rdc_again}answer STEP=ID REPLY=pass" "(and VALUE='NAME=VALUE') how a command ended that a person did"
  help_line 'BY=WHO NOTE=TEXT' 'with answer, goto, RERUN and ASSUME: who decides, and why; status shows it'
  [ -n "${rdc_python_wanted-}" ] || help_line "$rdc_begin AGENT=COMMAND" 'let an agent answer the prompts'
  help_line "$rdc_begin NOTIFY=COMMAND" 'call a command when the run waits or ends; it reads the event as JSON'
  help_line "$rdc_begin AS=NAME" 'begin a run beside others; give AS=NAME to the other targets too'
  help_line "${rdc_again}status ALL=1" 'where each of these runs stands'
  help_line "${rdc_again}history KEEP=10" 'list archived runs; with KEEP, remove all but the newest'
}
endef
