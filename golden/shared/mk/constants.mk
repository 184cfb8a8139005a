
# --- Module: environment variables of a step's own --------------------------------------------------------------------
define RDC_MODULE_CONSTANTS
constant() {
  rdc_constants_U=${rdc_constants_U-}x
  eval "rdc_constant_U_${#rdc_constants_U}=\$1=\$2"
}
enter() { # words of env, since the shell itself may have a meaning of its own for one of them
  rdc_value=${rdc_constants_U-} rdc_i=${#rdc_value}
  while [ "$rdc_i" -gt 0 ]; do
    eval "set -- \"\$rdc_constant_U_$rdc_i\" \"\$@\""
    rdc_i=$((rdc_i - 1))
  done
  exec env "$@"
}
endef
