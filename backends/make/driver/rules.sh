# --- Module: units as rules of make: each does itself, if this run has not done it yet, and make what comes before it -
follow() {
  rdc_way=''
  if [ "$rdc_outcome" != pass ]; then stop; return; fi
  rdc_value=${rdc_order#*" $rdc_unit "}
  if [ -n "$rdc_value" ]; then go "${rdc_value%% *}"; else finish; fi
}

# Begins a run, unless one may go on: as a target that names a unit says, for which $1 is `on`.
rule_begin() {
  lock; read_journal
  if [ "$1" = on ] && [ "$rdc_count" -gt 0 ] && ! is_over && is_own; then return; fi
  begin
}
rule() {
  rdc_tries=0 # another make may hold the lock for as long as it takes to refuse a second run
  while holder; [ -n "$rdc_holder" ] && is_held && [ "$rdc_tries" -lt 20 ]; do
    rdc_tries=$((rdc_tries + 1)); sleep 0.05 2> /dev/null || sleep 1
  done
  take_up
  ! LC_ALL=C grep -qF " end $1 pass " "$rdc_journal" || return 0
  case $rdc_last in
    "begin "*) waits "unit $rdc_id was interrupted: ${rdc_again}resume RERUN=1 runs it again, ASSUME=WORD decides" ;;
    "over "*) fail "unit $1 cannot be run: the run is over" ;;
  esac
  take "$1"; go "$1"; do_unit
  [ -z "$rdc_over" ] || walk
}
