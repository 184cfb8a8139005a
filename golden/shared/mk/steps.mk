
# --- Module: how many steps a run may do, where make is told; 0 for any number ----------------------------------------
define RDC_MODULE_STEPS
keep_steps() {
  if [ -n "${rdc_given_MAX_STEPS-}" ]; then
    case $rdc_given_MAX_STEPS in 0) ;; *) is_digits "$rdc_given_MAX_STEPS" || fail "MAX_STEPS takes a number" ;; esac
    mkdir -p "$rdc_files/calls" && keep "$rdc_given_MAX_STEPS" calls/steps
  fi
  [ -e "$rdc_files/calls/steps" ] || return 0
  rdc_limit=$(cat "$rdc_files/calls/steps")
  [ "$rdc_limit" = 0 ] && rdc_limit=2147483647 || is_digits "$rdc_limit" || unkept
}
limited() { # a run that has ended at its limit goes on where it is given a higher one
  # Of a run that goes on, the last step is counted only then.
  [ "$rdc_verb" != resume ] || at_least rdc.tasks "$((rdc_limit - 1))" || return 0
  take "${rdc_last##* }" || damaged
  end 1 "STOP $rdc_id: the limit of $rdc_limit steps was reached"
}
help_steps() { help_line "$rdc_begin MAX_STEPS=NUMBER" 'how many steps the whole run may do, 0 for any number'; }
endef
