
# --- Module: runs that are no more ------------------------------------------------------------------------------------
define RDC_MODULE_CLEARING
clean() {
  [ -e "$rdc_journal" ] || return 0
  lock; archive
  say "the run was archived in $rdc_history"
}

# A person says that who holds the lock is no more; of a process that can be seen to live nobody has to.
unlock() {
  holder
  [ "${rdc_holder#* }" != "$rdc_place" ] || ! is_held || fail "process ${rdc_holder%%-*} still runs: end it first"
  rm -f "$rdc_state/lock" "$rdc_state"/lock.after.* 2> /dev/null || fail "the lock cannot be removed: $rdc_state/lock"
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

# Jumps to units that are more than to go there, and to groups: what unit stands in what, and what a jump does.
define RDC_JUMPS
jump 1.1 "1"
endef
