# --- The targets of make ---
run() {
  lock; read_answers; read_journal
  [ "$rdc_count" -eq 0 ] || has_ended ||
    fail "there is an unfinished run; ${rdc_again}resume continues it, ${rdc_again}clean archives it"
  no_other_run; archive
  rdc_count=0 rdc_run=$(date +%Y%m%d-%H%M%S | tr -cd '0-9-')-$$
  record "run $rdc_program $rdc_run 1"
  go "$rdc_entry"; arrive; walk
}
no_other_run() { # the document's Python program has a separate state
  rdc_other=${rdc_state%.make}
  case $(tail -n 1 "$rdc_other/journal" 2> /dev/null) in
    '' | *'"condition":"complete"'* | *'"condition":"stop"'*) ;;
    *) fail "$rdc_other has an unfinished run of the Python program; resume or reset it with that program" ;;
  esac
}
archive() {
  rdc_number=1
  while rdc_history=$rdc_state/history/$rdc_number; [ -e "$rdc_history" ]; do rdc_number=$((rdc_number + 1)); done
  [ ! -e "$rdc_journal" ] || { mkdir -p "$rdc_history" && mv "$rdc_journal" "$rdc_history"; } 2> /dev/null ||
    fail "cannot archive the run: $rdc_history"
}
resume() { take_up; decide; walk; }
take_up() { # takes the lock, goes to the current step, and removes an incomplete line
  [ ! -e "$rdc_journal" ] || { lock; read_answers; read_journal; }
  [ "$rdc_count" -gt 0 ] || fail "there is no run to continue"
  replay
  [ "$rdc_tail" = whole ] || {
    printf '%s\n' "$rdc_records" | awk '{ print NR " " $0 " | " NR " " $0 }' > "$rdc_journal.whole" &&
      [ "$(wc -l < "$rdc_journal.whole")" -eq "$rdc_count" ] && # some awks don't report a full disk
      mv "$rdc_journal.whole" "$rdc_journal"
  } 2> /dev/null || fail "cannot write the state: $rdc_journal"
}
decide() { # decides about a command that an interruption cut short
  case $rdc_begun$rdc_kind in yesbash | yessh) ;; *) return 0 ;; esac
  case $rdc_RERUN in 0 | [Nn][Oo] | [Ff][Aa][Ll][Ss][Ee] | [Oo][Ff][Ff]) rdc_RERUN='' ;; esac
  if is_left; then
    rdc_says="step $rdc_id: its command still runs (pid $rdc_left)"
    rdc_word="$rdc_says; wait until it ends, or stop it and run it again: ${rdc_again}resume RERUN=1"
    [ -n "$rdc_RERUN$rdc_ASSUME" ] || waits "$rdc_word"
    [ -n "$rdc_RERUN" ] || fail "$rdc_word"
    { [ "$rdc_when" = "$rdc_began" ] && [ "$rdc_when" != 0 ]; } ||
      fail "$rdc_says, but it may be another one, because its start is not recorded; look, and end it yourself"
    say "rdc: $rdc_says; ending it"
    end_process "$rdc_left" "$rdc_when" TERM 100 || fail "$rdc_says, and it cannot be ended"
  fi
  if [ -z "$rdc_RERUN$rdc_ASSUME" ] && [ -t 0 ] && [ -t 2 ]; then
    printf 'step %s was interrupted [pass/fail/again] ' "$rdc_id" >&2
    read -r rdc_ASSUME || end 75 "WAITING $rdc_id"
    [ "$rdc_ASSUME" != again ] || rdc_RERUN=1
  fi
  [ -z "$rdc_RERUN" ] || return 0
  rdc_says="${rdc_again}resume RERUN=1 runs it again, ASSUME=pass or ASSUME=fail sets its outcome"
  [ -n "$rdc_ASSUME" ] || waits "step $rdc_id was interrupted: $rdc_says"
  case $rdc_ASSUME in [YyNn]*) false ;; *) read_reply "$rdc_ASSUME" ;; esac ||
    fail "this is not an outcome of step $rdc_id: $rdc_says"
  announce ', as assumed'; ended 0 assumed
}
waits() { say "rdc: $1"; end 75 "WAITING $rdc_id"; }
is_left() { # whether the command still runs without its driver, which recorded its process
  { read -r rdc_value rdc_where rdc_left rdc_when < "$rdc_state/process"; } 2> /dev/null || return
  [ "$rdc_value $rdc_where" = "$rdc_count $rdc_place" ] && is_number "$rdc_left" && [ "$rdc_left" -gt 1 ] &&
    alive "$rdc_left" "$rdc_when"
}
answer() { # records a reply; `make resume` continues the run
  take_up
  case $rdc_begun$rdc_kind in yespass_fail | yesyes_no) ;; *) fail "no step waits for a reply" ;; esac
  [ "$rdc_id" = "$rdc_STEP" ] || fail "step '$(shown "$rdc_STEP")' does not wait for a reply, but step '$rdc_id' does"
  replies; quoted "$rdc_id"; rdc_says="REPLY=$rdc_good or $rdc_bad"
  [ -n "$rdc_REPLY" ] || fail "REPLY is missing: ${rdc_again}answer STEP=$rdc_value $rdc_says"
  read_reply "$rdc_REPLY" || fail "this is not a reply to step $rdc_id: $(shown "$rdc_REPLY"); $rdc_says"
  now; rdc_since=$rdc_now; ended 0
  say "rdc: to continue: ${rdc_again}resume"
}
status() { # shows completed steps and the current one, without a lock
  rdc_sum=none; read_journal
  [ "$rdc_count" -gt 0 ] || { echo 'no run'; return; }
  is_own || ! has_ended || { echo "over: ${rdc_records##* }, a run of another version of the Makefile"; return; }
  replay
  if [ -n "$rdc_closed" ]; then rdc_says="over: $rdc_over"; else called; rdc_says="at $rdc_called"; fi
  [ -z "$rdc_begun" ] || ! is_left || rdc_says="$rdc_says, its command still runs (pid $rdc_left)"
  printf '%s\n' "$rdc_says" 2> /dev/null || fail 'cannot write to standard output'
}
show() { # a step that is over
  called; in_words; follow
  case ${6-} in assumed) details "$4" "$5" ', as assumed' ;; *) details "$4" "$5" ;; esac
  printf '%s %s  (%s)\n' "$rdc_low" "$rdc_called" "$rdc_says" 2> /dev/null || : # the last line fails
}
step() { # only one step, without the state
  record() { :; }; release() { :; }; follow() { rdc_way='' rdc_passed=''; }
  refuse_links; holder; ! is_held || under_way
  heed; read_answers; rdc_run=alone; go "$1"; arrive; perform
  [ "$rdc_outcome" = pass ] || exit 1
}
clean() { [ ! -e "$rdc_journal" ] || { lock; archive; say "the run was archived in $rdc_history"; }; }
unlock() { # for a person who knows that the process with the lock is gone
  refuse_links; holder
  [ "${rdc_holder#* }" != "$rdc_place" ] || ! is_held || fail "process ${rdc_holder%%-*} still runs; end it first"
  rm -f "$rdc_state/lock" "$rdc_state"/lock.after.* 2> /dev/null || fail "cannot remove the lock: $rdc_state/lock"
}
help() {
  line() { printf '%-32s %s\n' "$1" "$2" 2> /dev/null; }
  line "$rdc_start" 'start a run'
  line "$rdc_start ANSWERS=FILE" 'read replies from a file; also for resume'
  line "${rdc_again}resume" 'continue a run; for an interrupted step, add RERUN=1 or ASSUME=pass'
  line "${rdc_again}answer STEP=ID REPLY=yes" 'answer the question of a waiting step'
  line "${rdc_again}status" 'show completed steps and the current one'
  line "${rdc_again}clean" 'archive the run'
  line "${rdc_again}unlock" 'remove the lock of a run that no longer exists'
  for rdc_word in $rdc_order; do
    take "$rdc_word"; rdc_attempt=1
    case $rdc_kind in choice | result) ;; *) called; line "${rdc_again}step-$rdc_name" "$rdc_called" ;; esac
  done
}

load
case $rdc_verb in step-*) rdc_step=${rdc_verb#step-} rdc_verb=step; step "$rdc_step" ;; *) "$rdc_verb" ;; esac
