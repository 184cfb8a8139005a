
# --- The driver: takes one step after the other, and keeps a journal of it --------------------------------------------
define RDC_DRIVER
set -u
# A descriptor that is closed would be taken by the next file that is opened.
command : 3>&2 || exec 2> /dev/null
command : 2> /dev/null 3>&1 || exec > /dev/null
command : 2> /dev/null 3<&0 || exec < /dev/null
# A write that is not possible is seen by its status, which these signals would not leave time for.
command trap : PIPE XFSZ 2> /dev/null
# Variables begin with `rdc_`, so that a command sees none in place of its own; what make hands over is not for it.
unset RDC_SCRIPT RDC_GIVEN RDC_STEP_INSTANCE RDC_SUBSTEP_INSTANCE
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES MAKE_TERMOUT MAKE_TERMERR
rdc_verb=$1 rdc_journal=$rdc_state/journal rdc_files=$rdc_state rdc_folders='' rdc_id='' rdc_last=''
rdc_way='' rdc_over='' rdc_child='' rdc_changes='' rdc_outcome='' rdc_ended='' rdc_assume='' rdc_signed='' rdc_mode=''

# --- What is said: progress on standard error, and as the last line on standard output how the run ended --------------
say() { printf '%s\n' "$*" >&2 2> /dev/null || :; }
end() { printf 'rdc: %s\n' "$2" 2> /dev/null || say "rdc: $2"; exit "$1"; }
fail() { say "rdc: $1"; end 2 "error: $1"; }

# What modules make more of: texts with references, words of outcomes, attempts, values, inputs, calls, the operator.
filled() { rdc_value=$1; }
in_words() { rdc_low=$1; case $1 in pass) rdc_says=PASS ;; *) rdc_says=FAIL ;; esac; }
surround() { enter "$@"; }; enter() { exec "$@"; }; call_command() { call "$@"; }
for rdc_word in attempt shown inputs begin_values folders choose before counted call_number after_command tidy mask \
  sign check_answers check_commands check_secrets check_run as_prompt take_values shared keep_all
do eval "$rdc_word() { :; }"; done
ready() { tidy; check_run; check_secrets; check_answers; check_commands; }

# --- The steps --------------------------------------------------------------------------------------------------------
key() { # what a name becomes in the name of a variable; no two names of a Makefile become the same
  rdc_key=$1
  while :; do case $rdc_key in *[.-]*) rdc_key=${rdc_key%%[.-]*}_${rdc_key#*[.-]} ;; *) return ;; esac; done
}
node() {
  rdc_name_U=$1 rdc_kind_U=$2 rdc_title_U=$3 rdc_id_U=${4-$1}
  unset rdc_marks_U rdc_variables_U rdc_attempts_U rdc_gives_U rdc_delay_U rdc_timeout_U rdc_words_U rdc_entries_U
  unset rdc_constants_U rdc_keeps_U; shared; as_prompt
}

# Takes the program out of the Makefile once: what becomes of the file later does no harm. All that belongs to a step is
# one text, which sets variables whose names end with `_U`.
load() {
  rdc_text=$({ LC_ALL=C awk -v prefix="$rdc_prefix" '
    function quoted(text) { gsub(/\047/, "\047\"\047\"\047", text); return text }
    function put(text) { if (name == "") printf "%s", text; else texts[name] = texts[name] text }
    kind != "" && $0 == "endef" { put(ends "\n"); kind = ""; next }
    kind == "RDC" && $1 == "node" { name = $2; order = order name " " }
    kind == "RDC" || kind == "after" { put($0 "\n"); next }
    kind != "" { put((lines++ ? "\n" : "") quoted($0)); next }
    index($0, prefix "RDC_PROGRAM := ") == 1 { print "rdc_program=" $3 }
    $1 == "define" && substr($2, 1, length(prefix)) == prefix {
      block = substr($2, length(prefix) + 1)
      if (block == "RDC_LINE") exit # the driver begins
      is_escaped = sub(/^escaped_/, "", block)
      kind = name = block; sub(/_.*/, "", kind); sub(/^[^_]*_/, "", name)
      variable = "rdc_" kind "_U"; ends = ""; lines = 0
      if (kind ~ /^(RDC|text|python)$/) { variable = "rdc_" block; name = "" }
      if (kind == "RDC") next
      if (kind == "after") { put("rdc_after_U() { case $rdc_outcome in\n"); ends = "esac; }"; next }
      put(variable "=" (is_escaped ? "$(printf %b. " : "") "\047")
      ends = "\047" (is_escaped ? "); " variable "=${" variable "%.}" : "")
    }
    END {
      print "rdc_order=\047 " order "\047 rdc_entry=" substr(order, 1, index(order, " ") - 1)
      for (name in texts) { key = name; gsub(/[.-]/, "_", key); print "rdc_u_" key "=\047" quoted(texts[name]) "\047" }
    }' < "$rdc_file"; } 2> /dev/null) && [ -n "$rdc_text" ] ||
    fail "$rdc_file cannot be read: is there a space in its name, and are sed and awk on PATH?"
  eval "$rdc_text"
}

# Sets the variables of the step $1, if that is the name of one; `take` also makes it the step where the run stands.
look_at() {
  case $1 in '' | *[!A-Za-z0-9_.-]*) return 1 ;; esac
  key "$1"; rdc_name_U=''
  eval "eval \"\${rdc_u_$rdc_key-}\""
  [ "$rdc_name_U" = "$1" ]
}
take() { look_at "$1" && rdc_node=$1 rdc_id=$rdc_id_U rdc_kind=$rdc_kind_U rdc_variables=${rdc_variables_U-}; }

# --- Transitions: words in capitals, and a last word, are those of the document ---------------------------------------
as() { rdc_way="$rdc_way${rdc_way:+, }$1"; }
go() { [ $# -lt 2 ] || as "$2"; rdc_next=$1 rdc_nth=1; }
CONTINUE() { go "$1" CONTINUE; }
GOTO() { go "$1" "GOTO $1"; }
to() { go "$1" "to $1"; }
finish() { rdc_over=COMPLETE rdc_code=0 rdc_message=${1-}; }
COMPLETE() { as "${2-COMPLETE}"; finish "$@"; }
stop() { rdc_over=STOP rdc_code=1 rdc_message=${1-}; }
STOP() { as "${2-STOP}"; stop "$@"; }
follow() { rdc_way=''; counted; rdc_after_U; keep_all; choose; }

# --- A run ------------------------------------------------------------------------------------------------------------
run() { lock; ready; read_journal; begin; walk; }
no_other() {
  [ "$rdc_count" -eq 0 ] || is_over ||
    fail "an unfinished run is there: ${rdc_again}resume continues it, ${rdc_again}clean archives it"
}
begin() {
  no_other; inputs; archive
  rdc_count=0 rdc_run=$(date +%Y%m%d-%H%M%S | tr -cd '0-9-')-$$
  begin_values
  record "run $rdc_program $rdc_run 1$rdc_mode"
  rdc_first="1 $rdc_last | 1 $rdc_last"; go "$rdc_entry"
}
archive() {
  rdc_number=${rdc_archived-1}
  while [ -e "$rdc_state/history/$rdc_number" ]; do rdc_number=$((rdc_number + 1)); done
  rdc_history=$rdc_state/history/$rdc_number
  for rdc_word in journal $rdc_folders; do
    [ -e "$rdc_state/$rdc_word" ] || [ -h "$rdc_state/$rdc_word" ] || continue
    { mkdir -p "$rdc_history" && mv "$rdc_state/$rdc_word" "$rdc_history/$rdc_word"; } 2> /dev/null ||
      fail "the run cannot be archived: $rdc_history"
  done
}
walk() {
  while choose; [ -z "$rdc_over" ]; do
    take "$rdc_next" || fail "there is no step $rdc_next"
    do_node
  done
  is_over || record "over $rdc_code $rdc_over"
  filled "$rdc_message"; shown; end "$rdc_code" "$rdc_over${rdc_value:+ $rdc_value}"
}
do_node() {
  rdc_attempt=$rdc_nth; attempt; before; call_number
  case $rdc_way in
    *[!A-Za-z0-9_.:{}\ ,+-]*) rdc_way=$(printf %s "$rdc_way" | LC_ALL=C tr -c ' -"%->@-[]-_a-{}~' +) ;;
  esac
  record "begin $rdc_node $rdc_attempt$rdc_changes${rdc_way:+ by $rdc_way}"
  rdc_changes=''
  announce
  case $rdc_kind in bash | sh) command_node ;; *) "perform_$rdc_kind" ;; esac
}
announce() { now; rdc_start=$rdc_now; called; say "$rdc_says${1-}"; }
called() {
  filled "$rdc_title_U"; rdc_title=$rdc_value; shown
  rdc_says=$rdc_id${rdc_value:+ $rdc_value}
  [ "$rdc_attempt" -eq 1 ] || rdc_says="$rdc_says, attempt $rdc_attempt"
}

# Records the outcome before anything else; $1 is the exit code, $2 the file and line of an answer.
ended() {
  take_values; now; rdc_time=$((rdc_now - rdc_start))
  in_words "$rdc_outcome"; rdc_went=$rdc_says rdc_ended="step $rdc_id ended with $rdc_says"
  record "end $rdc_node $rdc_outcome $1 $rdc_time${2:+ $2}$rdc_signed"
  rdc_ended='' rdc_assume='' rdc_signed=''
  code_in_words "$1"; follow
  details "$rdc_time" "$rdc_way"; say "    $rdc_went  $rdc_says"
}
code_in_words() { rdc_coded="exit code $1, "; [ "$1" != 0 ] || rdc_coded=''; }
details() { # exit code, time in hundredths of a second, and transition, as people read them
  rdc_says="$rdc_coded$(($1 / 100)).$(($1 % 100 / 10)) s${2:+, $2}"
}
now() {
  { read -r rdc_now _ < /proc/uptime; } 2> /dev/null || rdc_now=$(date +%s).00
  rdc_now=${rdc_now%.*}${rdc_now#*.}
}

# --- Commands: each a process group of its own; at a terminal in ours, whose keys reach it ----------------------------
command_node() {
  filled "$rdc_do_U"; rdc_command=$rdc_value rdc_outcome=fail rdc_code=1
  if tell; then
    command -v "$rdc_kind" > /dev/null || say "rdc: there is no $rdc_kind on PATH to run this with"
    call_command "$rdc_kind" -c "$rdc_command"
    # This code may be the command's own: whether the system can start a shell with it is tried.
    if [ "$rdc_code" -eq 126 ] && ! "$rdc_kind" -c : "$rdc_command" 2> /dev/null; then
      say "rdc: is the environment too large, or are there too many processes? Then: ${rdc_again}resume RERUN=1"
      fail "step $rdc_id has no outcome: $rdc_kind cannot be started"
    fi
    [ "$rdc_code" -ne 0 ] || rdc_outcome=pass
  fi
  after_command
  rdc_assume=" ASSUME=$rdc_outcome"
  ended "$rdc_code"
}
tell() { # to what is called, who calls it; a title travels in the environment, which is not for long texts
  export RDC_STEP="$rdc_id" RDC_RUN_ID="$rdc_run" RDC_ATTEMPT="$rdc_attempt" RDC_TITLE="$rdc_title"
  [ "${#rdc_title}" -le 1000 ] || RDC_TITLE=$(printf %.1000s "$rdc_title")
}
call() {
  if [ "$rdc_how" = wait ]; then (become "$@"); rdc_code=$?; return; fi
  { { become "$@" <&3 3<&-; } & } 3<&0
  rdc_child=$!
  wait "$rdc_child"; rdc_code=$? rdc_child=''
}
become() { # the process of these words, once its number is on record
  began self || rdc_pid=$(exec sh -c 'echo "$PPID"')
  [ ! -h "$rdc_files/process" ] || rm -f "$rdc_files/process" # a command may have put it there
  printf '%s\n' "$rdc_count $rdc_pid $rdc_began $rdc_place" 2> /dev/null > "$rdc_files/process"
  # shellcheck disable=SC2086 # these are several words
  surround $rdc_wrapper "$@"
}
began() { # lets rdc_began be when the process $1 did, in ticks; 0 where the system does not tell
  rdc_began=0
  { read -r rdc_value < "/proc/$1/stat"; } 2> /dev/null || return
  # shellcheck disable=SC2086 # these are several words
  set -- "${rdc_value%% *}" ${rdc_value##*) }
  [ $# -gt 20 ] || return # a process may have given itself a name with a line end
  rdc_pid=$1 rdc_condition=$2; shift 20; rdc_began=$1
}
alive() { # whether the process $1, which began at $2, is there
  if ! began "$1"; then kill -0 "$1" 2> /dev/null || ps -p "$1" > /dev/null 2>&1; return; fi
  case $rdc_condition:$2 in [ZX]:*) return 1 ;; *:0 | *:"$rdc_began") ;; *) return 1 ;; esac
}
signal() { kill -s "$1" -- "-$2" 2> /dev/null || kill -s "$1" "$2" 2> /dev/null; }
pause() { sleep 0.05 2> /dev/null || sleep 1; }

# Ends the process $1, which began at $2, with its group if it has one: by the signal $3, after $4 / 20 s by force.
end_process() {
  [ -z "$3" ] || signal "$3" "$1"
  signal CONT "$1"; rdc_number=0
  while alive "$1" "$2" && [ "$rdc_number" -lt "$4" ]; do
    rdc_number=$((rdc_number + 1)); pause
  done
  signal KILL "$1"
}
interrupt() {
  trap '' INT TERM HUP
  [ "$rdc_how$1" != besideINT ] || set -- '' # the key has reached it by itself
  [ -z "$rdc_child" ] || end_process "$rdc_child" 0 "$1" 200
  [ -z "$rdc_id" ] || [ "$rdc_verb" = step ] || say "rdc: to go on: ${rdc_again}resume"
  end 130 "INTERRUPTED${rdc_id:+ $rdc_id}"
}
heed() { # signals; and finds out how commands are called
  trap release EXIT; trap 'interrupt INT' INT; trap 'interrupt TERM' TERM; trap 'interrupt HUP' HUP
  rdc_how='wait' rdc_wrapper='env --default-signal=INT --default-signal=QUIT'
  $rdc_wrapper true 2> /dev/null || rdc_wrapper=''
  if { true < /dev/tty; } 2> /dev/null; then [ -z "$rdc_wrapper" ] || rdc_how='beside'
  elif command -v setsid > /dev/null; then rdc_how='group' rdc_wrapper="setsid $rdc_wrapper"
  elif set -m 2> /dev/null; [ "${-#*m}" != "$-" ]; then rdc_how='group' rdc_wrapper=''
  fi
}

# --- The journal ------------------------------------------------------------------------------------------------------
# A line each, appended at once: a number, and `run`, program, id, the format (and `prompted`); `begin` or `jump`, step,
# attempt, what has changed, and the path there; `end`, step, outcome, exit code, time, and where an answer stood or who
# gave it; `over`, exit code and end. All of it stands there twice.
record() {
  rdc_count=$((rdc_count + 1)) rdc_last=$*
  { read -r rdc_value < "$rdc_journal"; } 2> /dev/null || rdc_value=''
  if [ "$rdc_count" -gt 1 ] && [ "$rdc_value" != "$rdc_first" ]; then
    trap - EXIT # a command has removed the state, and another run may have begun since, whose lock is there
    say "rdc: put the folder back, then: ${rdc_again}resume; if it is lost, begin anew: $rdc_begin"
    fail "${rdc_ended:+$rdc_ended, and this is lost: }$rdc_state was removed or replaced during the run"
  fi
  printf '%s | %s\n' "$rdc_count $*" "$rdc_count $*" 2> /dev/null >> "$rdc_journal" && return
  rdc_says='the state cannot be written'
  [ -z "$rdc_ended" ] || rdc_says="$rdc_ended, but this cannot be recorded"
  fail "$rdc_says: $rdc_journal; make room for it, then: ${rdc_again}resume$rdc_assume"
}
is_over() { case $rdc_last in over\ *) ;; *) return 1 ;; esac; }

# Reads the journal without changing it. A write that was interrupted leaves the beginning of a line at its end.
read_journal() {
  rdc_tail=whole rdc_count=0 rdc_last=''
  [ -e "$rdc_journal" ] || return 0
  [ -f "$rdc_journal" ] && [ -r "$rdc_journal" ] &&
    rdc_text=$({ LC_ALL=C tr -c '\n -~' '?' < "$rdc_journal"; echo .; } 2> /dev/null | LC_ALL=C awk '
    function judged(line, number, whole) {
      number = count + 1 " "; whole = line; sub(/ [|] .*/, "", whole); whole = whole " | " whole
      if (line ~ /[?]/ || index(line, number) != 1 && index(number, line) != 1) return "damaged"
      return line == whole ? "whole" : index(whole, line) == 1 ? "torn" : "damaged"
    }
    function take(line, words) {
      if (!count++) first = line
      sub(/^[^ ]* /, "", line); sub(/ [|] .*/, "", line); last = line; split(line, words, " ")
      if (words[1] ~ /^(begin|jump)$/) { node = words[2] == "" ? "?" : words[2]; attempt = words[3]; outcome = "" }
      if (words[1] == "end") outcome = words[3]
    }
    NR > 1 { if (judged(held) != "whole") { tail = "damaged"; exit } take(held) }
    { held = $0 }
    END {
      sub(/[.]$/, "", held) # it shows whether the last line has an end
      if (tail == "") tail = held == "" ? "whole" : judged(held)
      if (tail == "whole" && held != "") { tail = "torn"; take(held) }
      print tail "|" count + 0 "|" node "|" attempt "|" outcome "|" last "|" first
    }') && [ -n "$rdc_text" ] ||
    fail "the state cannot be read: $rdc_journal; ${rdc_again}clean archives it"
  IFS='|' read -r rdc_tail rdc_count rdc_at rdc_nth rdc_done rdc_last rdc_first << facts
$rdc_text
facts
  [ "$rdc_tail" != damaged ] || damaged "$((rdc_count + 1))"
}
damaged() { fail "$rdc_journal${1:+:$1}: the journal is damaged, or of another rdc; ${rdc_again}clean archives it"; }

# --- The lock: a symbolic link is made by one process only, at once and with what it says: number, start, and place ---
rdc_place=$(printf %s "$(uname -n) $(readlink /proc/self/ns/pid 2> /dev/null)" | LC_ALL=C tr -c 'A-Za-z0-9.-' _)
holder() { # who made the lock, or took it over when that one was gone, and so on; rdc_free is the next
  rdc_holder='' rdc_links='' rdc_free=lock
  while rdc_value=$(readlink "$rdc_state/$rdc_free" 2> /dev/null); do
    rdc_holder=$rdc_value rdc_links="$rdc_links $rdc_free" rdc_free=lock.after.${rdc_value%% *}
  done
}
is_held() { # of another machine or container nobody can tell here who lives, so nobody is judged dead
  rdc_word=${rdc_holder%% *}
  [ -n "$rdc_holder" ] && { [ "${rdc_holder#* }" != "$rdc_place" ] || alive "${rdc_word%-*}" "${rdc_word#*-}"; }
}
# A repository may have committed links, and a command may make some: they would lead what is written elsewhere.
checked() {
  case $rdc_state in /*) set -- "$rdc_state" ;; *) set -- "${rdc_state%/*}" "$rdc_state" ;; esac
  for rdc_path in "$@" "$rdc_state"/* "$rdc_state"/.[!.]* "$rdc_state"/*/* "$rdc_state"/*/.[!.]*; do
    case $rdc_path in "$rdc_state"/lock | "$rdc_state"/lock.after.*) continue ;; esac # which lead nowhere
    [ ! -h "$rdc_path" ] || fail "$rdc_path is a link: remove it"
  done
  [ ! -d "$rdc_state" ] || [ -z "$(find "$rdc_state" -prune -perm -002 2> /dev/null)" ] ||
    fail "everybody may write to $rdc_state, and so change the run; to forbid it: chmod o-w $rdc_state"
}
lock() {
  checked
  (umask 077; mkdir -p "$rdc_state") 2> /dev/null
  began $$; rdc_me="$$-$rdc_began $rdc_place" rdc_tries=0
  until holder; [ "$rdc_holder" = "$rdc_me" ]; do
    if is_held; then
      if [ "${rdc_patience:=0}" -gt 0 ]; then rdc_patience=$((rdc_patience - 1)); pause; continue; fi
      rdc_says="another run is under way, process ${rdc_holder%%-*}"
      [ "${rdc_holder#* }" != "$rdc_place" ] || fail "$rdc_says"
      fail "$rdc_says of ${rdc_holder#* }, which cannot be seen from here; if it is no more: ${rdc_again}unlock"
    fi
    [ -n "$rdc_holder" ] || [ ! -e "$rdc_state/lock" ] ||
      fail "this is no lock: $rdc_state/lock; if no run is under way, remove it"
    ln -s "$rdc_me" "$rdc_state/$rdc_free" 2> /dev/null || rdc_tries=$((rdc_tries + 1))
    [ "$rdc_tries" -lt 99 ] ||
      fail "the state directory cannot be written: $rdc_state; is it read-only, full or no folder, and is ln on PATH?"
  done
  [ -e "$rdc_state/.gitignore" ] || { printf '*\n' > "$rdc_state/.gitignore"; } 2> /dev/null || : # Git takes nothing
  heed
}
release() { holder; for rdc_word in $rdc_links; do rm -f "$rdc_state/$rdc_word"; done; }
endef
