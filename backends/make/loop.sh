# Runs one step after another until COMPLETE or STOP. The file `run` in the state directory has the next step and the
# counters, and is replaced as a whole before each step. Nothing in it is executed. Variables start with `rdc_`.
# shellcheck disable=SC2154,SC2329 # `eval` sets the variables and calls the words of the flow
set -u; trap : PIPE
rdc_file=$2 rdc_state=$3 rdc_id=$4 rdc_steps=$5 rdc_questions=$6 rdc_words="id run at tries $7"
rdc_at='' rdc_tries=0 rdc_end='' rdc_outcome='' rdc_child='' rdc_noted='' rdc_past=''
for rdc_word in loop flow make again REPLY STEP RERUN ASSUME BY NOTE; do # known here, but not to commands
  eval "rdc_value=\$rdc_$rdc_word; unset rdc_$rdc_word; rdc_$rdc_word=\$rdc_value"; done
say() { printf 'rdc: %s\n' "$*" >&2; }
end() { printf 'rdc: %s\n' "$2"; exit "$1"; }
fail() { end 2 "error: $1"; }
go() { rdc_at=$1 rdc_tries=0; } # this and the next ones are the words of the flow
retry() { [ "$rdc_tries" -lt "$1" ] && rdc_tries=$((rdc_tries + 1)); }
COMPLETE() { rdc_end="COMPLETE${1:+ $1}" rdc_code=0; }
STOP() { rdc_end="STOP${1:+ $1}" rdc_code=1; }
eval "flow() { case \$1 in $rdc_flow
*) fail \"no transition for \$1\" ;; esac; }"
note() { echo "$1" > "$rdc_state/pid"; } # the process of the step `at`, `shown` for a question, or `ready`: not started
save() { # a whole `run.new` first
  note '' && for rdc_word in $rdc_words; do eval "echo $rdc_word \$rdc_$rdc_word" || return; done > "$rdc_state/run.new" &&
    mv -f "$rdc_state/run.new" "$rdc_state/run"
} 2> /dev/null
keep() { [ "$1" = fail ] || [ -e "$rdc_state/failed" ] || return 0 # for each step that failed last, its `run` as a line
  { grep -vF " at $rdc_at " "$rdc_state/failed"
    [ "$1" = pass ] || { sed 's/^tries .*/tries 0/' "$rdc_state/run" | tr '\n' ' '; echo; }; } > "$rdc_state/failed.new"
  mv -f "$rdc_state/failed.new" "$rdc_state/failed"
} 2> /dev/null
after() { flow "$rdc_at:$1"; echo "${rdc_end:+$1}"; for rdc_word in $rdc_words; do eval "echo \$rdc_$rdc_word"; done; }
load() { # the same words in the same order, and nothing else
  for rdc_left in $rdc_words; do
    read -r rdc_word rdc_value rdc_rest && [ "$rdc_word $rdc_rest" = "$rdc_left " ] || return 1
    case $rdc_word:$rdc_value in
      id:*) [ "$rdc_value" = "$rdc_id" ] || fail "$rdc_state/run is of another document or version; $rdc_again clean drops it" ;;
      at:*) case " $rdc_steps " in *" $rdc_value "*) ;; *) return 1 ;; esac ;;
      *: | *:*[!0-9]* | *:0?* | *:???????????????*) return 1 ;;
    esac
    eval "rdc_$rdc_word=\$rdc_value"; done
  ! read -r rdc_rest && [ -z "$rdc_rest" ]
}
lives() { # whether the process $1 runs; one that has ended but was not collected does not
  if read -r rdc_stat < "/proc/$1/stat"; then case ${rdc_stat##*) } in [ZX]*) return 1 ;; esac
  else kill -s 0 "$1" || ps -p "$1" > /dev/null; fi
} 2> /dev/null
lock() { # a link to a process and its machine; one behind the locks of processes that are gone
  rdc_lock=$rdc_state/lock rdc_gone=''
  until [ ! -d "$rdc_lock" ] && ln -s "$$@$(uname -n)" "$rdc_lock" 2> /dev/null; do
    rdc_value=$(readlink "$rdc_lock") || fail "cannot write $rdc_lock"; rdc_left=${rdc_value%@"$(uname -n)"}
    case $rdc_left in '' | *[!0-9]*) false ;; *) ! lives "$rdc_left" ;; esac ||
      fail "another make is running; if it is not, remove $rdc_lock"
    rdc_gone=${rdc_gone:-$rdc_value} rdc_lock=$rdc_lock.$rdc_left
  done
  [ -z "$rdc_gone" ] || [ "$(readlink "$rdc_state/lock")" = "$rdc_gone" ] ||
    { rm -f "$rdc_lock"; fail 'another make has just ended; try again'; }
}
interrupt() { # ends the command, but make first: it would send the signal a second time
  trap '' INT TERM HUP; rdc_signal=0 rdc_left=100; [ "$rdc_child" ] || return 0
  kill -s KILL "$rdc_child"; wait "$rdc_child" || rdc_signal=$?; kill -s TERM -- "-$rdc_child"
  while kill -s 0 -- "-$rdc_child" && [ "$rdc_left" -gt 0 ]; do rdc_left=$((rdc_left - 1)); sleep 0.1; done
  kill -s KILL -- "-$rdc_child"
} 2> /dev/null
how() { say "$rdc_again RERUN=yes runs step $rdc_at again, ASSUME=pass or ASSUME=fail sets its outcome"; }
perform() { # sets rdc_outcome; without a terminal, the command has its own process group
  set -- "$rdc_make" --no-print-directory -f "$rdc_file" "step-$rdc_at"; rdc_code=0
  if [ "$rdc_tty" ]; then sh -c 'echo $$ > "$0"; exec "$@"' "$rdc_state/pid" "$@" || rdc_code=$?
  else
    $rdc_own "$@" <&3 3<&- & rdc_child=$!; note "$rdc_child"; [ -z "${rdc_signal-}" ] || interrupt
    wait "$rdc_child" || rdc_code=${rdc_signal:-$?}; rdc_child=''
  fi
  case $rdc_code${rdc_signal+ signal} in
    0*) rdc_outcome=pass ;;
    2) rdc_outcome=fail; "$@" -n > /dev/null 2>&1 || fail "make cannot run step-$rdc_at; was $rdc_file changed?" ;;
    *signal) how; end 130 "INTERRUPTED $rdc_at" ;;
    *) how; fail "make ended with $rdc_code in step $rdc_at" ;;
  esac
}
reads() { # sets rdc_outcome for the reply $1
  case $1 in [Yy] | [Yy][Ee][Ss] | pass) rdc_outcome=pass ;; [Nn] | [Nn][Oo] | fail) rdc_outcome=fail ;; *) false ;; esac
}
ask() { # shows a question; a person replies here, or later by REPLY
  "$rdc_make" -s --no-print-directory -f "$rdc_file" "step-$rdc_at" || fail "make cannot show step $rdc_at"
  note shown; trap 'end 130 "INTERRUPTED $rdc_at"' INT TERM HUP
  while [ -t 0 ] && printf '[yes/no] ' >&2 && read -r rdc_value; do
    ! reads "$rdc_value" || { trap interrupt INT TERM HUP; return 0; }; done
  say "to answer: $rdc_again STEP='$rdc_at' REPLY=yes, or REPLY=no"; end 75 "WAITING $rdc_at"
}
for rdc_value in "${rdc_state%/*}" "$rdc_state" "$rdc_state"/run "$rdc_state"/run.new "$rdc_state"/failed "$rdc_state"/failed.new "$rdc_state"/log "$rdc_state"/pid "$rdc_state"/.gitignore; do
  [ ! -L "$rdc_value" ] || fail "$rdc_value is a link: remove it"; done
(umask 077; mkdir -p "$rdc_state") || fail "cannot create $rdc_state"
rdc_left=$(find "${rdc_state%/*}" "$rdc_state" -prune \( ! -user "$(id -u)" ! -user 0 -o -perm -0002 ! -perm -1000 \))
[ -z "$rdc_left" ] || fail "another user can change $rdc_state; use chown, or chmod o-w"
lock; trap 'rm -f "$rdc_state"/lock*' EXIT
[ ! -e "$rdc_state/run" ] || [ ! -e "$rdc_state/pid" ] || read -r rdc_noted < "$rdc_state/pid"
case $rdc_noted in shown | ready) ;; '' | *[!0-9]*) rdc_noted='' ;; *) ! lives "$rdc_noted" ||
  fail "the command still runs (process $rdc_noted); wait for it or end it; if it is another, remove $rdc_state/pid" ;; esac
[ "$1" != clean ] || { rm -f "$rdc_state/run" "$rdc_state/failed"; end 0 'no run'; }
(: 3<&0) 2> /dev/null || exec < /dev/null; exec 3<&0; rdc_tty=''; ! (: < /dev/tty) 2> /dev/null || rdc_tty=yes
for rdc_own in 'setsid env --default-signal=INT --default-signal=QUIT' setsid ''; do ! $rdc_own true 2> /dev/null || break; done
[ "$rdc_tty$rdc_own" ] || set -m; trap interrupt INT TERM HUP
export rdc_expected="$rdc_id"; unset MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEOVERRIDES MAKELEVEL MAKE_TERMOUT MAKE_TERMERR
for rdc_word in $7; do export "rdc_$rdc_word"; done; rdc_given=$rdc_REPLY$rdc_ASSUME$rdc_RERUN
if [ "$1" = retry ]; then
  [ ! -e "$rdc_state/run" ] || fail "the run has not ended with STOP; $rdc_again resume continues it"
  [ -s "$rdc_state/failed" ] || fail "no run has ended with STOP; $rdc_again starts one"
  tail -n 1 "$rdc_state/failed" | xargs -n 2 > "$rdc_state/run.new"; load < "$rdc_state/run.new" ||
    fail "$rdc_state/failed is damaged; $rdc_again clean drops it"
  say "running again: $(awk -v at="$rdc_at" '$1 == at && $2 != "retry,"' "$rdc_state/log" | tail -n 1)"; rdc_noted=ready; note ready
  rdc_value="$rdc_at retry, by ${rdc_BY:-$(id -un)}${rdc_NOTE:+: $rdc_NOTE}"
  { printf '%s' "$rdc_value" | LC_ALL=C tr -c ' -~' '?'; echo; } >> "$rdc_state/log"
  mv -f "$rdc_state/run.new" "$rdc_state/run" || fail "cannot write $rdc_state/run"
fi
if [ -e "$rdc_state/run" ]; then
  load < "$rdc_state/run" || fail "$rdc_state/run is damaged; $rdc_again clean drops it"
  case $rdc_STEP in '' | "$rdc_at") ;; *) fail "the run is at step $rdc_at" ;; esac
  case " $rdc_questions :$rdc_noted" in
    *" $rdc_at "*:shown) rdc_given=$rdc_ASSUME$rdc_RERUN; [ -z "$rdc_REPLY" ] || reads "$rdc_REPLY" || fail 'REPLY is yes or no' ;;
    *" $rdc_at "* | *:ready) ;;
    *) # the step was interrupted
      rdc_given=$rdc_REPLY rdc_value=$rdc_ASSUME; [ "$rdc_RERUN$rdc_value" ] || [ ! -t 0 ] ||
        { printf '%s was interrupted [again/pass/fail] ' "$rdc_at" >&2; read -r rdc_value; }
      case $rdc_RERUN:$rdc_value in
        yes: | 1: | :again) ;; :pass | :fail) rdc_outcome=$rdc_value ;;
        :) how; end 75 "WAITING $rdc_at was interrupted" ;; *) fail 'RERUN is yes; ASSUME is pass or fail' ;;
      esac ;;
  esac
elif [ "$1" = resume ]; then fail "there is no run to continue; $rdc_again starts one"
else rdc_given=$rdc_given$rdc_STEP rdc_run=$(date +%Y%m%d%H%M%S)
fi
[ -z "$rdc_given" ] || fail 'no step waits for REPLY, STEP, RERUN or ASSUME'
[ "$rdc_at" ] || { flow start; rm -f "$rdc_state/failed"; printf '' > "$rdc_state/log"; echo '*' > "$rdc_state/.gitignore"; }
while [ -z "$rdc_end" ]; do
  if [ -z "$rdc_outcome" ]; then
    save || fail "cannot write $rdc_state/run$rdc_past"
    [ -z "${rdc_signal-}" ] || { note ready; end 130 "INTERRUPTED before $rdc_at"; }
    export RDC_RUN_ID="$rdc_run" RDC_ATTEMPT=$((rdc_tries + 1))
    case " $rdc_questions " in *" $rdc_at "*) ask ;; *) perform ;; esac
  fi
  if [ "$rdc_outcome" = pass ] || [ "$(after pass)" = "$(after fail)" ]; then keep pass; else keep fail; fi
  rdc_past=$rdc_at; flow "$rdc_at:$rdc_outcome"; echo "$rdc_past $rdc_outcome${rdc_end:+, $rdc_end}" >> "$rdc_state/log"
  [ "$rdc_outcome" = pass ] || say "step $rdc_past: $rdc_outcome"
  case " $rdc_questions " in *" $rdc_past "*) rdc_value=" answer it again: $rdc_again" ;; *) rdc_value=": $rdc_again ASSUME=$rdc_outcome" ;; esac
  rdc_past="; step $rdc_past ended with $rdc_outcome; if the disk is full, free some space, then$rdc_value" rdc_outcome=''
done
if [ "$rdc_code" = 0 ]; then rm -f "$rdc_state/failed"
else [ -s "$rdc_state/failed" ] || keep fail; say "to run the failed step again: $rdc_again retry"; fi
rm -f "$rdc_state/run"; end "$rdc_code" "$rdc_end"
