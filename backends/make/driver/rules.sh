# --- Module: steps as rules of make: each does itself, if this run has not done it yet, and make what comes before it -
follow() {
  rdc_way=''
  if [ "$rdc_outcome" != pass ]; then stop; return; fi
  rdc_value=${rdc_order#*" $rdc_node "}
  if [ -n "$rdc_value" ]; then go "${rdc_value%% *}"; else finish; fi
}

# Begins a run, unless one may go on: as a target that names a step says, for which $1 is `on`.
rule_begin() {
  holder
  if ! is_held; then # who is refused takes no lock, which a rule of the run that is there may need now
    read_journal
    if goes_on "$1"; then return; fi
    no_other
  fi
  lock; read_journal
  goes_on "$1" || { ready; begin; }
}
goes_on() { [ "$1" = on ] && [ "$rdc_count" -gt 0 ] && ! is_over && is_own; }
rule() {
  rdc_patience=20 # another make may hold the lock for as long as it takes to see that there is a run
  take_up
  ! LC_ALL=C grep -q '^[0-9]* jump ' "$rdc_journal" ||
    fail "step $1 cannot be run by its name: this run was moved by goto; ${rdc_again}resume goes on with it"
  ! LC_ALL=C grep -qF " end $1 pass " "$rdc_journal" || return 0
  case $rdc_last in
    "begin "*) waits "step $rdc_id was interrupted: ${rdc_again}resume RERUN=1 runs it again, ASSUME=WORD decides" ;;
    "over "*) fail "step $1 cannot be run: the run is over" ;;
  esac
  ready
  take "$1"; go "$1"; do_node
  [ -z "$rdc_over" ] || walk
}
