# --- Module: counters ---------------------------------------------------------------------------------------------------

define RDC_MODULE_COUNTERS
# --- Counters: their changes are noted in the journal where the next unit begins ---------------------------------------------
counter() { key "$1"; eval "rdc_r_$rdc_key=\$2"; rdc_counters="$rdc_counters $rdc_key"; }
scope() { key "$1"; shift; eval "rdc_scope_$rdc_key=\$*"; }
attempts() { rdc_attempts_U=$1; }
variable() { rdc_variables_U="${rdc_variables_U-} $1=$2"; }
rdc_counters=''

value() { key "$1"; eval "rdc_value=\$rdc_r_$rdc_key"; }
set_to() {
  value "$1"
  [ "$rdc_value" = "$2" ] || { eval "rdc_r_$rdc_key=\$2"; rdc_changes="$rdc_changes $1=$2"; }
}
add() { value "$1"; set_to "$1" "$((rdc_value + $2))"; }
add_counter() { value "$2"; add "$1" "$rdc_value"; }
raise() { at_least "$1" "$2" || set_to "$1" "$2"; }
reset() {
  key "$1"
  eval "set -- \$rdc_scope_$rdc_key"
  for rdc_word; do set_to "${rdc_word%:*}" "${rdc_word##*:}"; done
}
below() { value "$1"; [ "$rdc_value" -lt "$2" ]; }
at_least() { value "$1"; [ "$rdc_value" -ge "$2" ]; }
equals() { value "$1"; [ "$rdc_value" -eq "$2" ]; }
endef
