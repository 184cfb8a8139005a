
# --- Module: tests of what slots hold: they come between the outcome of a step and what is said of it -----------------
define RDC_MODULE_COMPARING
held() {
  rdc_held=''
  eval "rdc_value=\$rdc_r_$rdc_key rdc_is_slot=\${rdc_slot_$rdc_key-}"
  [ -n "$rdc_is_slot" ] || return 0
  if [ "$rdc_value" = 0 ]; then rdc_held='unset'; else rdc_held=$rdc_files/values/rdc_s_$rdc_key.$rdc_value; fi
  rdc_value=''
}
endef
