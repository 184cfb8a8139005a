# --- Commands: each has its own process group, except at a terminal, whose keys must reach it ---
run_command() {
  [ "$rdc_attempt" -gt 1 ] || shown_text prompt
  [ "$rdc_attempt" -gt 1 ] || [ -z "$rdc_value" ] || say "$rdc_value"
  shown_text show; rdc_command=$rdc_value rdc_outcome=fail
  command -v "$rdc_kind" > /dev/null || say "rdc: cannot find $rdc_kind on PATH, which this step needs"
  [ -z "$rdc_monitor" ] || set -m 2> /dev/null # only here, because bash reports jobs that end
  { { become "$rdc_kind" -c "$rdc_command" <&3 3<&-; } & } 3<&0
  rdc_child=$!; set +m; wait "$rdc_child"; rdc_code=$? rdc_child=''
  if [ "$rdc_code" -eq 126 ] && ! "$rdc_kind" -c : "$rdc_command" 2> /dev/null; then # the shell failed, not the command
    say "rdc: reduce the environment or the number of processes, then: ${rdc_again}resume RERUN=1"
    fail "step $rdc_id has no outcome: cannot start $rdc_kind"
  fi
  [ "$rdc_code" -ne 0 ] || rdc_outcome=pass
  rdc_assume=" ASSUME=$rdc_outcome"; ended "$rdc_code"
}
become() { # runs these words after it has recorded the process
  if { read -r rdc_value < /proc/self/stat; } 2> /dev/null; then parse "$rdc_value"
  else rdc_pid=$(exec sh -c 'echo "$PPID"'); began "$rdc_pid"; fi
  [ ! -h "$rdc_state/process" ] || rm -f "$rdc_state/process" # a command may have created it
  rdc_value="$rdc_count $rdc_place $rdc_pid $rdc_began"
  [ "$rdc_verb" = step ] || printf '%s\n' "$rdc_value" 2> /dev/null > "$rdc_state/process"
  for rdc_word in $rdc_variables; do value "${rdc_word#*=}"; set -- "${rdc_word%%=*}=$rdc_value" "$@"; done
  [ -n "$rdc_unset" ] || set -- LC_ALL="$rdc_locale" "$@"
  exec $rdc_wrapper RDC_STEP="$rdc_id" RDC_TITLE="$rdc_label" RDC_RUN_ID="$rdc_run" RDC_ATTEMPT="$rdc_attempt" "$@"
}
# Sets rdc_began to the start of process $1: ticks from /proc, words from ps, or 0 without both
began() {
  { read -r rdc_value < "/proc/$1/stat"; } 2> /dev/null && { parse "$rdc_value"; return; }
  rdc_began=0 rdc_value=$(TZ=UTC0 ps -o stat= -o lstart= -p "$1" 2> /dev/null)
  set -- $rdc_value; [ $# -gt 1 ] || return
  rdc_condition=$1; shift; rdc_began=$(printf %s "$@" | tr -cd 'A-Za-z0-9')
}
parse() { # a line of /proc/PID/stat
  rdc_began=0 rdc_pid=${1%% *}; set -- ${1##*) }
  [ $# -gt 19 ] || return # a process may have a line break in its name
  rdc_condition=$1; shift 19; rdc_began=$1
}
alive() { # whether the process $1 that started at $2 still runs
  if ! began "$1"; then kill -0 "$1" 2> /dev/null || ps -p "$1" > /dev/null 2>&1; return; fi
  case $rdc_condition:$2 in [ZX]*) return 1 ;; *:0 | *:"$rdc_began") ;; *) return 1 ;; esac
}
signal() { kill -s "$1" -- "-$2" 2> /dev/null || kill -s "$1" "$2" 2> /dev/null; }
end_process() { # ends the process $1 that started at $2, and its group: by signal $3, after $4 / 20 s by KILL
  [ -z "$3" ] || signal "$3" "$1"
  signal CONT "$1"; rdc_tries=0
  while alive "$1" "$2"; do
    [ "$rdc_tries" -lt "$4" ] || signal KILL "$1"
    [ "$rdc_tries" -lt $(($4 + 100)) ] || return
    rdc_tries=$((rdc_tries + 1)); sleep 0.05 2> /dev/null || sleep 1
  done
  kill -s KILL -- "-$1" 2> /dev/null || :
}
interrupt() {
  trap '' INT TERM HUP
  [ -z "$rdc_child" ] || end_process "$rdc_child" 0 "$1" 200
  [ -z "$rdc_id" ] || [ "$rdc_verb" = step ] || say "rdc: to continue: ${rdc_again}resume"
  end 130 "INTERRUPTED${rdc_id:+ $rdc_id}"
}
heed() { # sets up signals, and how to call commands
  rdc_key=INT rdc_wrapper="env --default-signal=INT --default-signal=QUIT $rdc_unset"
  $rdc_wrapper true 2> /dev/null || rdc_key=TERM rdc_wrapper="env $rdc_unset" # commands then ignore INT
  if { true < /dev/tty; } 2> /dev/null; then [ "$rdc_key" = TERM ] || rdc_key='' # the key reaches the command
  elif command -v setsid > /dev/null; then rdc_wrapper="setsid $rdc_wrapper"
  else rdc_monitor=yes; fi
  trap release EXIT; trap 'interrupt "$rdc_key"' INT; trap 'interrupt TERM' TERM; trap 'interrupt HUP' HUP
}
