# --- Units as rules of make -------------------------------------------------------------------------------------------------
# Begins a run, unless one may go on: as a target that names a unit says, for which $1 is `on`.
rule_begin() {
  lock; read_journal
  if [ "$1" = on ] && [ "$rdc_count" -gt 0 ] && ! is_over && is_own; then return; fi
  begin
}

# Does the unit $1, if this run has not done it yet. Make has seen to it that what comes before it is done.
rule() {
  load "$1"; lock; how_to_call
  rdc_last=$(tail -n 1 "$rdc_journal" 2> /dev/null)
  rdc_text=${rdc_last%% | *} rdc_count=${rdc_last%% *}
  [ "$rdc_last" = "$rdc_text | $rdc_text" ] || damaged
  rdc_last=${rdc_text#* }
  { read -r rdc_first < "$rdc_journal"; } 2> /dev/null
  rdc_first=${rdc_first%% | *} rdc_first=${rdc_first#1 }
  is_own || refuse_version
  ! LC_ALL=C grep -q "^[0-9]* end $1 pass " "$rdc_journal" || return 0
  case $rdc_last in
    "begin "*)
      rdc_word=${rdc_last#begin } rdc_word=${rdc_word%% *}
      say "rdc: unit $rdc_word was interrupted: ${rdc_again}resume RERUN=1 runs it again, ASSUME=WORD decides"
      end 75 "WAITING $rdc_word"
      ;;
    "over "*) fail "unit $1 cannot be run: the run is over" ;;
  esac
  rdc_next=$1
  take "$1"; begin_unit; perform
  [ -z "$rdc_over" ] || walk
}
