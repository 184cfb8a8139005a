
# --- Module: what there is --------------------------------------------------------------------------------------------
define RDC_MODULE_HELP
help_line() { printf '%-32s %s\n' "$1" "$2" 2> /dev/null; }
for rdc_word in help_answers help_inputs help_calls help_operator; do eval "$rdc_word() { :; }"; done
help() {
  help_line "$rdc_begin" 'run the whole'
  help_line "${rdc_again}resume" 'resume a run; RERUN=1 or ASSUME=WORD decide about a step that was interrupted'
  help_answers; help_inputs; help_calls; help_operator
  help_line "${rdc_again}status" 'what was done, and where the run stands'
  help_line "${rdc_again}clean" 'archive the run'
  help_line "${rdc_again}unlock" 'remove the lock of a run that is no more'
  for rdc_node in $rdc_order; do
    take "$rdc_node"; rdc_attempt=1
    called
    [ "$rdc_kind" = choice ] || help_line "${rdc_again}step-$rdc_node" "$rdc_says"
  done
}
endef
