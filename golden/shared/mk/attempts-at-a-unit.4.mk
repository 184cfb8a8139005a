
# --- Module: attempts at a unit: counted by themselves, or by a counter -----------------------------------------------
define RDC_MODULE_RETRIES
retry() { [ "$rdc_attempt" -le "$1" ] && as "${2-RETRY $1}" && rdc_next=$rdc_unit rdc_nth=$((rdc_attempt + 1)); }
attempts() { rdc_attempts_U=$1; }
attempt() {
  [ -z "${rdc_attempts_U-}" ] || { value "$rdc_attempts_U"; rdc_attempt=$((rdc_value + 1)); }
}
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
