
# --- Module: going on with a run --------------------------------------------------------------------------------------
define RDC_MODULE_RESUME
resume() { take_up; ready; folders; decide; walk; }

# Takes the lock, and goes to where the run stands; a line that was not written to its end is taken away.
take_up() {
  [ -e "$rdc_journal" ] || fail "there is no run to go on with"
  lock; read_journal; go_to_node
  [ "$rdc_tail" = whole ] ||
    { LC_ALL=C awk -v n="$rdc_count" 'NR <= n' "$rdc_journal" > "$rdc_journal.whole" &&
      [ "$(wc -l < "$rdc_journal.whole")" -eq "$rdc_count" ] && # some awks do not say that the disk is full
      mv "$rdc_journal.whole" "$rdc_journal"; } 2> /dev/null || fail "the state cannot be written: $rdc_journal"
}
# Nothing of a journal is believed: names have to be known, and values numbers.
go_to_node() {
  [ "$rdc_count" -gt 0 ] || fail "there is no run to go on with"
  is_own || fail "this run was started with a different version of the Makefile; ${rdc_again}clean archives it"
  rdc_run=${rdc_first#"1 run $rdc_program "} rdc_run=${rdc_run%% *}
  resume_values; restored
  [ -n "$rdc_at" ] || rdc_at=$rdc_entry rdc_nth=1
  { take "$rdc_at" && is_number "$rdc_nth"; } || damaged
  rdc_next=$rdc_at rdc_attempt=$rdc_nth
  attempt; call_again
}
is_own() { case $rdc_first in "1 run $rdc_program "*" 1") ;; *) return 1 ;; esac; }
waits() { say "rdc: $1"; end 75 "WAITING $rdc_id"; }
is_number() { case $1 in '' | *[!0123456789]* | 0?* | ???????????????*) return 1 ;; esac; }

# What modules make more of: words of outcomes, values, calls.
words() { printf %s "pass${1}fail"; }
is_word() { case $1 in pass | fail) ;; *) return 1 ;; esac; }
outcome() { case $1 in [Pp]ass | PASS) rdc_outcome=pass ;; [Ff]ail | FAIL) rdc_outcome=fail ;; *) return 1 ;; esac; }
for rdc_word in resume_values restored call_again no_values calls_ended limited redo; do eval "$rdc_word() { :; }"; done

# Decides about a step that was running when the run was interrupted (R2).
decide() {
  case $rdc_last in run\ * | jump\ *) return ;; over*LIMIT*) limited ;; esac
  if [ -n "$rdc_done" ]; then # what followed its outcome was not recorded, or is the end
    is_word "$rdc_done" || damaged
    rdc_outcome=$rdc_done
    follow; return
  fi
  case $rdc_kind in bash | sh | agents | tool) ;; *) ! is_left || end_left; return ;; esac # a question is put again
  case ${rdc_given_RERUN-} in '' | 0 | no) rdc_rerun=false ;; *) rdc_rerun=true ;; esac
  if is_left; then
    rdc_says="step $rdc_id: its command still runs (pid $rdc_left)"
    rdc_word="$rdc_says; wait until it ends, or stop it and run it again: ${rdc_again}resume RERUN=1"
    $rdc_rerun || { [ -z "${rdc_given_ASSUME-}" ] && waits "$rdc_word"; fail "$rdc_word"; }
    say "rdc: $rdc_says; ending it"
    end_left
  fi
  ! $rdc_rerun || { redo; return 0; }
  if [ -z "${rdc_given_ASSUME-}" ] && [ -t 0 ] && [ -t 2 ]; then
    printf 'step %s was interrupted [%s/again] ' "$rdc_id" "$(words /)" >&2
    read -r rdc_given_ASSUME || end 75 "WAITING $rdc_id"
    [ "$rdc_given_ASSUME" != again ] || { redo; return 0; }
  fi
  rdc_says="${rdc_again}resume RERUN=1 runs it again, ASSUME=WORD decides ($(words ', '))"
  [ -n "${rdc_given_ASSUME-}" ] || waits "step $rdc_id was interrupted: $rdc_says"
  outcome "$rdc_given_ASSUME" || fail "this is none of the words of step $rdc_id: $rdc_says"
  no_values; rdc_is_assumed=yes; sign
  announce ', as assumed'
  ended 0 assumed
}

# Whether what the step has called outlived its driver; its number was on record before it ran.
is_left() {
  { read -r rdc_value rdc_left rdc_since rdc_where < "$rdc_files/process"; } 2> /dev/null || return 1
  [ "$rdc_value:$rdc_where" = "$rdc_count:$rdc_place" ] && is_number "$rdc_left" && [ "$rdc_left" -gt 1 ] || return 1
  alive "$rdc_left" "$rdc_since" || ! calls_ended
}
end_left() { end_process "$rdc_left" "$rdc_since" TERM 100; }
endef
