
# --- Module: counters: their changes are noted in the journal where the next step begins ------------------------------
define RDC_MODULE_COUNTERS
counter() {
  key "$1"; eval "rdc_r_$rdc_key=\$2"
  rdc_counters="$rdc_counters $rdc_key" rdc_registers="$rdc_registers $1"
}
scope() { key "$1"; shift; eval "rdc_scope_$rdc_key=\$*"; }
variable() { rdc_variables_U="${rdc_variables_U-} $1=$2"; }
rdc_counters='' rdc_registers=''

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

# Takes what the journal says of registers, and of how many times steps have been done.
restored() {
  rdc_facts=$(LC_ALL=C awk -v count="$rdc_count" '
    NR > count { exit }
    { sub(/ [|] .*/, "") }
    $2 == "begin" { calls[$3]++ }
    $2 ~ /^(begin|jump)$/ {
      for (i = 5; i <= NF && $i !~ /^(by|again)$/; i++) {
        split($i, said, "="); values[said[1]] = substr($i, index($i, "=") + 1)
      }
    }
    END {
      for (name in calls) print "calls", name, calls[name]
      for (name in values) print "value", name, values[name]
    }' "$rdc_journal")
  while read -r rdc_word rdc_name rdc_fact; do
    case $rdc_word in
      '') continue ;;
      value) case " $rdc_registers " in *" $rdc_name "*) rdc_word=r ;; *) damaged ;; esac ;;
      *) look_at "$rdc_name" || damaged ;;
    esac
    is_number "${rdc_fact#-}" || damaged
    key "$rdc_name"; eval "rdc_${rdc_word}_$rdc_key=\$rdc_fact"
  done << facts
$rdc_facts
facts
}

# Numbers go to commands as variables.
surround() {
  for rdc_word in $rdc_variables; do value "${rdc_word#*=}"; export "${rdc_word%%=*}=$rdc_value"; done
  enter "$@"
}
endef
