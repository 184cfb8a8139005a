
# --- Module: attempts at a step: counted by themselves, or by a counter -----------------------------------------------
define RDC_MODULE_RETRIES
retry() { [ "$rdc_attempt" -le "$1" ] && as "${2-RETRY $1}" && rdc_next=$rdc_node rdc_nth=$((rdc_attempt + 1)); }
attempts() { rdc_attempts_U=$1; }
attempt() {
  [ -z "${rdc_attempts_U-}" ] || { value "$rdc_attempts_U"; rdc_attempt=$((rdc_value + 1)); }
}
endef
