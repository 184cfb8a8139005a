
# --- Module: a program for python3 ------------------------------------------------------------------------------------
define RDC_MODULE_HELPER
# Writes down the program that does what sh cannot do exactly.
prepare_helper() {
  command -v python3 > /dev/null || fail "there is no python3 on PATH, which this needs"
  python3 -I -c 'import sys; sys.exit(sys.version_info < (3, 9))' || fail "python3 is older than 3.9, which this needs"
  mkdir -p "$rdc_files" 2> /dev/null || unkept
  keep "$rdc_python_helper" helper.py
}
helper() {
  [ -e "$rdc_files/helper.py" ] || prepare_helper
  python3 -I -B "$rdc_files/helper.py" "$@"
}
check_commands() { prepare_helper; }
help_helper() { help_line '(needs python3)' '3.9 or newer, on PATH: to call and read what sh cannot exactly'; }
help_calls() { help_helper; }
endef

# --- What an operator drives a run with: to leave it out, compile with the option `operator: basic` -----------------------
RDC_DRIVES := goto history answer
RDC_TARGETS += $(RDC_DRIVES)
.PHONY: $(RDC_DRIVES)
goto: ; $(call RDC_CALL,goto)
history: ; $(call RDC_CALL,history)
answer: ; $(call RDC_CALL,answer)
goto: RDC_MORE := RDC_MODULE_RESUME RDC_MODULE_GOTO
answer: RDC_MORE := RDC_MODULE_RESUME
status: RDC_MORE := RDC_MODULE_RESUME RDC_MODULE_STATUS RDC_MODULE_RUNS
history: RDC_MORE := RDC_MODULE_RUNS
help: RDC_MORE := RDC_MODULE_HELP RDC_MODULE_MANUAL

RDC_TAKES += ALL:ALL AS:AS BY:BY KEEP:KEEP NOTE:NOTE NOTIFY:NOTIFY PROMPTED:PROMPTED VALUE:VALUE
override RDC_GETS = $(if $(filter command override,$(firstword $(origin $(1)))),$(value $(1)))
ifneq ($(call RDC_GETS,AS),)
RDC_AGAIN += AS=$(call RDC_WORD,$(value AS))
endif
RDC_RUNS := $(RDC_PARTS) RDC_MODULE_ASKS RDC_MODULE_OPERATOR
RDC_RUNS += $(if $(call RDC_GETS,NOTIFY),RDC_MODULE_NOTICE)
RDC_PARTS = $(RDC_RUNS)

# Jumps to units that are more than to go there, and to groups: what unit stands in what, and what a jump does.
define RDC_JUMPS
jump N-.1 "{N}"
endef
