# --- The driver: takes one unit after the other, and keeps a journal of it ----------------------------------------------

define RDC_DRIVER
set -u
# A descriptor that is closed would be taken by the next file that is opened.
command : 3>&2 || exec 2> /dev/null
command : 2> /dev/null 3>&1 || exec > /dev/null
command : 2> /dev/null 3<&0 || exec < /dev/null
# A write that is not possible is seen by its status, which these signals would not leave time for.
command trap : PIPE XFSZ 2> /dev/null
# Variables begin with `rdc_`, so that a command sees none in place of its own; what make hands over is not for it.
rdc_file=$RDC_FILE rdc_top=$RDC_TOP rdc_folder=$RDC_FOLDER rdc_prefix=$RDC_PREFIX rdc_program=$RDC_PROGRAM
rdc_state=$RDC_STATE rdc_journal=$RDC_STATE/journal rdc_files=$RDC_STATE rdc_given=" $RDC_GIVEN "
rdc_verb=$1 rdc_count=0
for rdc_word in unit id outcome last over next changes way child ready help variables folders loads run text \
  given_AGENT given_ANSWERS given_ASSUME given_HUMAN given_INPUTS given_RERUN given_RESULT given_TOOLS given_UNIT; do
  eval "rdc_$rdc_word=''"
done
for rdc_word in $RDC_GIVEN; do # NAME:VARIABLE
  case ${rdc_word#*:} in '' | *[!A-Za-z0-9_]*) continue ;; esac
  eval "rdc_given_${rdc_word#*:}=\$RDC_GIVEN_${rdc_word#*:}"
  unset "RDC_GIVEN_${rdc_word#*:}"
  case ${rdc_word%:*} in *[!A-Za-z0-9_]*) ;; *) unset "${rdc_word%:*}" ;; esac
done
unset RDC RDC_FILE RDC_TOP RDC_FOLDER RDC_PREFIX RDC_STATE RDC_PROGRAM RDC_GIVEN RDC_STEP_INSTANCE RDC_SUBSTEP_INSTANCE
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# --- What is said: progress on standard error, and as the last line on standard output how the run ended --------------
say() { printf '%s\n' "$*" >&2 2> /dev/null || :; }
end() { printf 'rdc: %s\n' "$2" 2> /dev/null || say "rdc: $2"; exit "$1"; }
fail() { say "rdc: $1"; end 2 "error: $1"; }
waits() { say "rdc: $1"; end 75 "WAITING $rdc_id"; }
is_yes() { case $1 in '' | 0 | no) return 1 ;; esac; }
is_number() { case $1 in '' | *[!0123456789]* | 0?* | ???????????????*) return 1 ;; esac; }
quoted() { # a word as it can be pasted into a shell
  case $1 in
    '' | *[!A-Za-z0-9_./-]*) printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf %s "$1" ;;
  esac
}
rdc_make="make -f $(quoted "$rdc_top")"
case $rdc_top in
  GNUmakefile) rdc_make='make' ;;
  makefile | Makefile) [ -e GNUmakefile ] || { [ "$rdc_top" = Makefile ] && [ -e makefile ]; } || rdc_make='make' ;;
esac
[ -z "$rdc_folder" ] || rdc_make="make -C $(quoted "$rdc_folder")${rdc_make#make}"
rdc_again="$rdc_make $rdc_prefix" rdc_begin="$rdc_make${rdc_prefix:+ ${rdc_prefix}run}"

# What modules make more of: texts with references, words of outcomes, attempts, values, inputs, waiting, calls.
filled() { rdc_value=$1; }
line() { cat; }
in_words() { rdc_low=$1; case $1 in pass) rdc_says=PASS ;; *) rdc_says=FAIL ;; esac; }
words() { printf %s "pass${1}fail"; }
is_word() { case $1 in pass | fail) ;; *) return 1 ;; esac; }
outcome() {
  case $1 in [Pp]ass | PASS) rdc_outcome=pass ;; [Ff]ail | FAIL) rdc_outcome=fail ;; *) return 1 ;; esac
}
attempt() { rdc_attempt=$rdc_nth; }
surround() { exec "$@"; }
call_command() { call "$@"; }
left_calls() { return 1; }
for rdc_word in inputs begin_values resume_values restored folders choose before counted call_number call_again tell \
  after_command no_values; do eval "$rdc_word() { :; }"; done

# --- The units --------------------------------------------------------------------------------------------------------
key() { # what a name becomes in the name of a variable; no two names of a Makefile become the same
  rdc_key=$1
  while :; do case $rdc_key in *[.-]*) rdc_key=${rdc_key%%[.-]*}_${rdc_key#*[.-]} ;; *) return ;; esac; done
}
unit() { rdc_name_U=$1 rdc_kind_U=$2 rdc_title_U=$3 rdc_id_U=$1; }
known_as() { rdc_id_U=$1; }
entry() { rdc_entry=$1; }

# Takes the program out of the Makefile once: what becomes of the file later does no harm. All that belongs to a unit is
# one text, which sets variables whose names end with `_U`.
load() {
  [ -z "$rdc_loads" ] || return 0
  rdc_text=$({ LC_ALL=C awk -v prefix="$rdc_prefix" '
    function key(name) { gsub(/[.-]/, "_", name); return name }
    function quoted(text) { gsub(/\047/, "\047\"\047\"\047", text); return text }
    function put(text) { # without a name it belongs to no unit
      if (name == "") { printf "%s", text; return }
      if (!(name in texts)) names[++number] = name
      texts[name] = texts[name] text
    }
    kind != "" && $0 == "endef" { put(ends); kind = ""; next }
    kind == "text" { put((count++ ? "\n" : "") quoted($0)); next }
    kind == "rows" && $1 == "unit" { name = $2; order = order " " name }
    kind != "" { put($0 "\n"); next }
    index($0, prefix "RDC_PROGRAM := ") == 1 { print "rdc_loads=" $3 }
    $1 == "define" && NF == 2 && substr($2, 1, length(prefix)) == prefix {
      block = substr($2, length(prefix) + 1)
      if (block == "RDC_LINE") exit # the driver begins
      is_escaped = sub(/^escaped_/, "", block)
      kind = block; sub(/_.*/, "", kind)
      name = substr(block, length(kind) + 2); ends = ""; count = 0
      if (kind == "RDC") { kind = "rows"; name = ""; next }
      if (kind == "after") { put("rdc_after_U() { case $rdc_outcome in\n"); ends = "esac; }\n"; next }
      variable = "rdc_" kind "_U"
      if (kind == "text" || kind == "python") { variable = "rdc_" block; name = "" }
      kind = "text"
      put(variable "=" (is_escaped ? "$(printf %b. " : "") "\047")
      ends = "\047" (is_escaped ? "); " variable "=${" variable "%.}" : "") "\n"
    }
    END {
      for (i = 1; i <= number; i++) print "rdc_u_" key(names[i]) "=\047" quoted(texts[names[i]]) "\047"
      print "rdc_order=\047" order " \047"
    }' < "$rdc_file"; } 2> /dev/null) && [ -n "$rdc_text" ] || unreadable
  eval "$rdc_text"
  rdc_text=''
  [ "$rdc_loads" = "$rdc_program" ] ||
    fail "the Makefile was changed during the run: $rdc_file; put it back, or ${rdc_again}clean archives the run"
  [ -n "${rdc_entry-}" ] || { rdc_entry=${rdc_order# }; rdc_entry=${rdc_entry%% *}; }
}
unreadable() { fail "$rdc_file cannot be read: is there a blank in its name, and are sed and awk on PATH?"; }
of() { eval "rdc_value=\${rdc_$1_U-}"; }

# Sets the variables of the unit $1, if that is the name of one; `take` also makes it the unit where the run stands.
look_at() {
  case $1 in '' | *[!A-Za-z0-9_.-]*) return 1 ;; esac
  key "$1"; eval "rdc_value=\${rdc_u_$rdc_key-}"
  unset rdc_marks_U rdc_variables_U rdc_attempts_U rdc_gives_U rdc_delay_U rdc_timeout_U rdc_words_U rdc_entries_U
  rdc_name_U=''
  eval "$rdc_value"
  [ "$rdc_name_U" = "$1" ]
}
take() { look_at "$1" && rdc_unit=$1 rdc_id=$rdc_id_U rdc_kind=$rdc_kind_U rdc_variables=${rdc_variables_U-}; }

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
follow() { rdc_way=''; counted; rdc_after_U; choose; }

walk() {
  while choose; [ -z "$rdc_over" ]; do
    take "$rdc_next" || fail "there is no unit $rdc_next"
    begin_unit; perform
  done
  case $rdc_last in over\ *) ;; *) note "over $rdc_code $rdc_over" ;; esac
  filled "$rdc_message"; rdc_message=$(printf '%s' "$rdc_value" | line)
  end "$rdc_code" "$rdc_over${rdc_message:+ $rdc_message}"
}
begin_unit() {
  attempt; before; call_number
  rdc_value=${rdc_way:--} # the way here, as one word
  while :; do
    case $rdc_value in
      *[!A-Za-z0-9_.:{}+-]*) rdc_value=${rdc_value%%[!A-Za-z0-9_.:{\}+-]*}+${rdc_value#*[!A-Za-z0-9_.:{\}+-]} ;;
      *) break ;;
    esac
  done
  note "begin $rdc_unit $rdc_attempt $rdc_value$rdc_changes"
  rdc_changes=''
}
perform() {
  now; rdc_start=$rdc_now
  called; say "$rdc_says"
  case $rdc_kind in bash | sh) command_unit ;; *) "perform_$rdc_kind" ;; esac
}
called() {
  filled "$rdc_title_U"; rdc_title=$rdc_value rdc_says=$rdc_id${rdc_value:+ $rdc_value}
  case $rdc_says in *[!\ -~]*) rdc_says=$(printf '%s\n' "$rdc_says" | line) ;; esac
  [ "$rdc_attempt" -eq 1 ] || rdc_says="$rdc_says, attempt $rdc_attempt"
}

# Records the outcome before anything else; $1 is the exit code, $2 the file and line of an answer.
ended() {
  now; rdc_time=$((rdc_now - rdc_start))
  in_words "$rdc_outcome"; rdc_ended=$rdc_says
  record "end $rdc_unit $rdc_outcome $1 $rdc_time${2:+ $2}" || unrecorded
  [ "$rdc_verb" = step ] || follow
  details "$1" "$rdc_time" "$rdc_way"; say "    $rdc_ended  $rdc_says"
}
details() { # exit code, time in hundredths of a second, and transition, as people read them
  rdc_says="$(($2 / 100)).$(($2 % 100 / 10)) s"
  [ "$2" -lt 6000 ] || rdc_says="$(($2 / 6000)) min $(($2 / 100 % 60)) s"
  [ "$2" -lt 360000 ] || rdc_says="$(($2 / 360000)) h $(($2 / 6000 % 60)) min"
  rdc_says="$rdc_says${3:+, $3}"
  [ "$1" = 0 ] || rdc_says="exit code $1, $rdc_says"
}
now() {
  { read -r rdc_now _ < /proc/uptime; } 2> /dev/null || rdc_now=$(date +%s).00
  rdc_now=${rdc_now%.*}${rdc_now#*.}
}

# --- Commands: each a process group of its own; at a terminal in ours, whose keys reach it ----------------------------
how_to_call() {
  rdc_how='wait' rdc_wrapper='env --default-signal=INT --default-signal=QUIT'
  $rdc_wrapper true 2> /dev/null || rdc_wrapper=''
  if { true < /dev/tty; } 2> /dev/null; then [ -z "$rdc_wrapper" ] || rdc_how='beside'
  elif command -v setsid > /dev/null; then rdc_how='group' rdc_wrapper="setsid $rdc_wrapper"
  else
    set -m 2> /dev/null
    case $- in *m*) rdc_how='group' rdc_wrapper='' ;; esac
  fi
}
become() { # the process of these words, once its number is on record
  { read -r rdc_word _ < /proc/self/stat; } 2> /dev/null || rdc_word=$(exec sh -c 'echo "$PPID"')
  began "$rdc_word"
  printf '%s\n' "$rdc_count $rdc_word ${rdc_began:-0} $rdc_place" 2> /dev/null > "$rdc_files/process"
  # shellcheck disable=SC2086 # these are several words
  surround $rdc_wrapper "$@"
}
call() {
  if [ "$rdc_how" = wait ]; then (become "$@"); rdc_code=$?; return; fi
  { { become "$@" <&3 3<&-; } & } 3<&0
  rdc_child=$!
  wait "$rdc_child"; rdc_code=$?
  rdc_child=''
}
began() { # lets rdc_began be when the process $1 did, in ticks
  rdc_began='' rdc_condition=''
  { read -r rdc_value < "/proc/$1/stat"; } 2> /dev/null || return 0
  # shellcheck disable=SC2086 # these are several words
  set -- ${rdc_value##*) }
  rdc_condition=$1; shift 19; rdc_began=$1
}
alive() {
  kill -0 "$1" 2> /dev/null || ps -p "$1" > /dev/null 2>&1 || return 1
  began "$1"
  case $rdc_condition:$2 in [ZX]:*) return 1 ;; :* | *:0 | *:"$rdc_began") ;; *) return 1 ;; esac
}

# Ends the process $1, which began at $2, with its group if it has one: by the signal $3, after $4 / 20 s by force.
end_process() {
  [ -z "$3" ] || kill -s "$3" -- "-$1" 2> /dev/null || kill -s "$3" "$1" 2> /dev/null
  kill -s CONT -- "-$1" 2> /dev/null || kill -s CONT "$1" 2> /dev/null
  rdc_number=0
  while alive "$1" "$2" && [ "$rdc_number" -lt "$4" ]; do
    rdc_number=$((rdc_number + 1)); sleep 0.05 2> /dev/null || sleep 1
  done
  kill -s KILL -- "-$1" 2> /dev/null || kill -s KILL "$1" 2> /dev/null
}
interrupt() {
  trap '' INT TERM HUP
  rdc_word=$1
  [ "$rdc_how$1" != besideINT ] || rdc_word='' # the key has reached it by itself
  [ -z "$rdc_child" ] || end_process "$rdc_child" 0 "$rdc_word" 200
  end 130 "INTERRUPTED${rdc_id:+ $rdc_id}"
}
# shellcheck disable=SC2064 # what is done at the end is known now
heed() { trap "$1" EXIT; trap 'interrupt INT' INT; trap 'interrupt TERM' TERM; trap 'interrupt HUP' HUP; }
command_unit() {
  of 'do'; filled "$rdc_value"; rdc_command=$rdc_value rdc_outcome=fail rdc_code=1
  RDC_RUN_ID=$rdc_run RDC_ATTEMPT=$rdc_attempt
  export RDC_RUN_ID RDC_ATTEMPT
  if tell; then
    command -v "$rdc_kind" > /dev/null || say "rdc: there is no $rdc_kind on PATH to run this with"
    call_command "$rdc_kind" -c "$rdc_command"
    # This code may be the command's own: whether the system can start a shell with it is tried.
    [ "$rdc_code" -ne 126 ] || "$rdc_kind" -c : "$rdc_command" 2> /dev/null || no_outcome
    [ "$rdc_code" -ne 0 ] || rdc_outcome=pass
  fi
  after_command
  ended "$rdc_code"
}
no_outcome() {
  rdc_says="is the environment too large, or are there too many processes?"
  [ "$rdc_verb" = step ] || rdc_says="$rdc_says Mend this, then: ${rdc_again}resume RERUN=1"
  say "rdc: $rdc_says"; fail "unit $rdc_id has no outcome: $rdc_kind cannot be started"
}

# --- The journal ------------------------------------------------------------------------------------------------------
# A line each, appended at once: its number, and `run`, program, id and 2; `begin`, unit, attempt, the way there and
# what has changed; `end`, unit, outcome, exit code, time, and where an answer stood; `over`, exit code and end. All of
# it stands there twice.
record() {
  rdc_count=$((rdc_count + 1)) rdc_last=$*
  is_kept || vanished
  printf '%s | %s\n' "$rdc_count $*" "$rdc_count $*" 2> /dev/null >> "$rdc_journal"
}
note() { record "$@" || fail "the state cannot be written: $rdc_journal; make room for it, then: ${rdc_again}resume"; }
unrecorded() {
  case $rdc_kind in bash | sh) rdc_says="resume ASSUME=$rdc_outcome" ;; *) rdc_says=resume ;; esac
  rdc_says="but this cannot be recorded: $rdc_journal; make room for it, then: $rdc_again$rdc_says"
  fail "unit $rdc_id ended with $rdc_ended, $rdc_says"
}
# Whether the journal is still that of this run: a command may have removed the state, and another run begun since.
is_kept() {
  [ "$rdc_count" -gt 1 ] && [ "$rdc_journal" != /dev/null ] || return 0
  rdc_text="1 run $rdc_program $rdc_run 2"
  { read -r rdc_value < "$rdc_journal" && [ "$rdc_value" = "$rdc_text | $rdc_text" ]; } 2> /dev/null
}
vanished() {
  trap - EXIT # the lock that is there may be that of another run by now
  case $rdc_last in end\ *) rdc_says="unit $rdc_id ended with $rdc_ended, and this is lost: " ;; *) rdc_says='' ;; esac
  say "rdc: if the folder was moved, put it back, then: ${rdc_again}resume"
  say "rdc: if it is lost, begin anew:                  $rdc_begin"
  fail "$rdc_says$rdc_state was removed or replaced during the run"
}

# Reads the journal without changing it. A write that was interrupted leaves the beginning of a line at its end.
read_journal() {
  rdc_tail='' rdc_count=0 rdc_first='' rdc_begun='' rdc_done='' rdc_last='' rdc_facts=''
  [ -e "$rdc_journal" ] || return 0
  [ -f "$rdc_journal" ] && [ -r "$rdc_journal" ] ||
    fail "the state cannot be read: $rdc_journal; ${rdc_again}clean archives it"
  rdc_facts=$({ LC_ALL=C tr -c '\n -~' '?' < "$rdc_journal"; echo .; } 2> /dev/null | LC_ALL=C awk '
    function starts(line) { return index(line, count + 1 " ") == 1 }
    function is_whole(line) {
      half = (length(line) - 3) / 2
      return starts(line) && half == int(half) && substr(line, 1, half) " | " substr(line, 1, half) == line
    }
    function is_torn(line) {
      half = index(line, " | ")
      if (line ~ /[?]/) return 0
      if (!half) return starts(line) || index(count + 1 " ", line) == 1
      rest = substr(line, half + 3)
      return starts(line) && length(line) < 2 * half + 1 && substr(line, 1, length(rest)) == rest
    }
    function take(line, words, n, i, at) {
      count++; last = substr(line, length(count) + 2, half - length(count) - 1)
      if (count == 1) first = last
      n = split(last, words, " ")
      if (words[1] == "end") done = last
      if (words[1] != "begin") return
      begun = last; done = ""; fact["calls " words[2]]++
      for (i = 5; i <= n; i++) {
        at = index(words[i], "=")
        fact["value " substr(words[i], 1, at - 1)] = substr(words[i], at + 1)
      }
    }
    NR > 1 { if (!is_whole(held)) { damaged = 1; exit } take(held) }
    { held = $0 }
    END {
      held = substr(held, 1, length(held) - 1) # the dot shows whether the last line has an end
      if (damaged) tail = "damaged"
      else if (held == "") tail = "whole"
      else if (is_whole(held)) { tail = "open"; take(held) }
      else tail = is_torn(held) ? "torn" : "damaged"
      print tail "\n" count + 0 "\n" first "\n" begun "\n" done "\n" last
      for (name in fact) print name, fact[name]
    }') && [ -n "$rdc_facts" ] || fail "the state cannot be read: $rdc_journal"
  {
    read -r rdc_tail; read -r rdc_count; read -r rdc_first; read -r rdc_begun; read -r rdc_done; read -r rdc_last
    rdc_facts=$(cat)
  } << facts
$rdc_facts
facts
  [ "$rdc_tail" != damaged ] || damaged "$((rdc_count + 1))"
}
damaged() { fail "$rdc_journal${1:+:$1}: the journal is damaged, or of another rdc; ${rdc_again}clean archives it"; }
mend_journal() {
  case $rdc_tail in
    open) printf '\n' 2> /dev/null >> "$rdc_journal" ;;
    torn)
      { sed '$d' "$rdc_journal" > "$rdc_journal.whole" && mv "$rdc_journal.whole" "$rdc_journal"; } 2> /dev/null
      ;;
  esac || fail "the state cannot be written: $rdc_journal"
}
is_there() { [ -e "$rdc_journal" ]; }
is_over() { case $rdc_last in over\ *) ;; *) return 1 ;; esac; }
is_own() {
  rdc_run=${rdc_first#run "$rdc_program" } rdc_run=${rdc_run% 2}
  [ "$rdc_first" = "run $rdc_program $rdc_run 2" ]
}

# Goes to where the run stands. Nothing of a journal is believed: names have to be known, and values numbers.
own_journal() {
  [ "$rdc_count" -gt 0 ] || fail "there is no run to go on with"
  is_own || fail "this run was started with a different version of the Makefile; ${rdc_again}clean archives it"
  load
  resume_values; restored
  # shellcheck disable=SC2086 # these are several words
  set -- $rdc_begun
  [ $# -gt 0 ] || set -- begin "$rdc_entry" 1
  { take "${2-}" && is_number "${3-}"; } || damaged
  [ "$rdc_kind" != choice ] || [ -z "$rdc_begun" ] || damaged
  rdc_next=$2 rdc_nth=$3
  attempt; call_again
}

# --- The lock: a symbolic link is made by one process only, at once and with what it says: number, start, and place ---
here() {
  rdc_place="$(uname -n) $(readlink /proc/self/ns/pid 2> /dev/null)"
  rdc_place=$(printf %s "$rdc_place" | LC_ALL=C tr -c 'A-Za-z0-9.-' _)
}
holder() { # who made the lock, or took it over when that one was gone, and so on; rdc_free is the next
  rdc_holder='' rdc_links='' rdc_free=lock
  while rdc_value=$(readlink "$rdc_state/$rdc_free" 2> /dev/null); do
    rdc_holder=$rdc_value rdc_links="$rdc_links $rdc_free" rdc_free=lock.after.${rdc_value%% *}
  done
}
# Whether who holds the lock lives; of another machine or container nobody can tell here, so it is not judged dead.
is_held() {
  rdc_word=${rdc_holder%% *}
  [ "${rdc_holder#* }" != "$rdc_place" ] || alive "${rdc_word%-*}" "${rdc_word#*-}"
}
lock() {
  mkdir -p "$rdc_state" 2> /dev/null ||
    fail "the state folder cannot be made: $rdc_state; is something else there, or is this place read-only or full?"
  here; began $$; rdc_me="$$-${rdc_began:-0} $rdc_place" rdc_tries=0
  until holder; [ "$rdc_holder" = "$rdc_me" ]; do
    [ -z "$rdc_holder" ] || ! is_held || refuse_lock
    [ -n "$rdc_holder" ] || [ ! -e "$rdc_state/lock" ] ||
      fail "this is no lock: $rdc_state/lock; if no run is under way, remove it"
    rdc_tries=$((rdc_tries + 1))
    [ "$rdc_tries" -lt 99 ] ||
      fail "the state folder cannot be written: $rdc_state; is it read-only or full, and are ln and readlink on PATH?"
    ln -s "$rdc_me" "$rdc_state/$rdc_free" 2> /dev/null || :
  done
  [ -e "$rdc_state/.gitignore" ] || { printf '*\n' > "$rdc_state/.gitignore"; } 2> /dev/null || : # Git takes nothing
  heed release
}
refuse_lock() {
  rdc_word=${rdc_holder%%-*} rdc_says=${rdc_holder#* }
  [ "$rdc_says" != "$rdc_place" ] || fail "another run is under way, process $rdc_word"
  say "rdc: it cannot be seen from here whether it still runs; if it does not: ${rdc_again}unlock"
  fail "another run is under way elsewhere: process $rdc_word of $rdc_says"
}
release() { holder; for rdc_word in $rdc_links; do rm -f "$rdc_state/$rdc_word"; done; }

# --- What make is told to do ------------------------------------------------------------------------------------------
run() { load; lock; ready; read_journal; how_to_call; begin; walk; }
ready() { for rdc_step in $rdc_ready; do "$rdc_step"; done; }
begin() {
  if [ "$rdc_count" -gt 0 ] && ! is_over; then
    is_own || fail "an unfinished run of a different version of the Makefile is there: ${rdc_again}clean archives it"
    fail "an unfinished run is there: ${rdc_again}resume continues it, ${rdc_again}clean archives it"
  fi
  inputs
  mend_journal; archive
  rdc_count=0 rdc_run=$(date +%Y%m%d-%H%M%S | tr -cd '0-9-')-$$
  begin_values
  note "run $rdc_program $rdc_run 2"
  go "$rdc_entry"
}
archive() {
  rdc_history=''
  for rdc_word in journal $rdc_folders; do
    [ -e "$rdc_state/$rdc_word" ] || [ -h "$rdc_state/$rdc_word" ] || continue
    if [ -z "$rdc_history" ]; then
      rdc_number=1; while [ -e "$rdc_state/history/$rdc_number" ]; do rdc_number=$((rdc_number + 1)); done
      rdc_history=$rdc_state/history/$rdc_number
    fi
    { mkdir -p "$rdc_history" && mv "$rdc_state/$rdc_word" "$rdc_history/$rdc_word"; } 2> /dev/null ||
      fail "the run cannot be archived: $rdc_history"
  done
}
resume() {
  is_there || fail "there is no run to go on with"
  lock; read_journal; own_journal; ready; mend_journal; folders; how_to_call
  decide; walk
}

# Decides about a unit that was running when the run was interrupted.
decide() {
  case $rdc_last in run\ *) return ;; over*LIMIT*) limit_reached ;; esac
  if [ -n "$rdc_done" ]; then # what followed its outcome was not recorded, or is the end
    # shellcheck disable=SC2086 # these are several words
    set -- $rdc_done
    rdc_outcome=$3
    is_word "$rdc_outcome" || damaged
    follow
    return
  fi
  case $rdc_kind in
    bash | sh) rdc_noun='command' ;; agents) rdc_noun=$rdc_noun_U ;; tool) rdc_noun=tool ;;
    *) return ;; # a question is put again
  esac
  if is_left; then
    rdc_says="unit $rdc_id: its $rdc_noun still runs (pid $rdc_left)" rdc_word="${rdc_again}resume RERUN=1"
    if ! is_yes "$rdc_given_RERUN"; then
      [ -z "$rdc_given_ASSUME" ] || fail "$rdc_says; wait for its end, or end it and run it again: $rdc_word"
      waits "$rdc_says; wait for its end and resume, or end it and run it again: $rdc_word"
    fi
    say "rdc: $rdc_says; ending it"
    end_left
  fi
  rdc_outcome=''
  ! is_yes "$rdc_given_RERUN" || return 0
  if [ -n "$rdc_given_ASSUME" ]; then
    outcome "$rdc_given_ASSUME" || fail "ASSUME is none of the words of unit $rdc_id: $(words ', ')"
  elif [ -t 0 ] && [ -t 2 ]; then
    while [ -z "$rdc_outcome" ]; do
      printf 'unit %s was interrupted [%s/again] ' "$rdc_id" "$(words /)" >&2
      read -r rdc_word || end 75 "WAITING $rdc_id"
      [ "$rdc_word" != again ] || return 0
      outcome "$rdc_word" || rdc_outcome=''
    done
  else
    rdc_says="${rdc_again}resume RERUN=1 runs it again, ASSUME=WORD decides ($(words ', '))"
    waits "unit $rdc_id was interrupted: $rdc_says"
  fi
  no_values
  now; rdc_start=$rdc_now
  called; say "$rdc_says, as assumed"
  ended 0
}
limit_reached() { damaged; }

# Whether what the unit has called outlived its driver; its number was on record before it ran.
is_left() {
  { read -r rdc_value rdc_left rdc_since rdc_where < "$rdc_files/process"; } 2> /dev/null || return 1
  case $rdc_value:$rdc_where in "$rdc_count:$rdc_place") is_number "$rdc_left" || return 1 ;; *) return 1 ;; esac
  alive "$rdc_left" "$rdc_since" || left_calls
}
end_left() { end_process "$rdc_left" "$rdc_since" TERM 100; }

# A line for each unit that has finished, and where the run stands. It takes no lock, and changes nothing.
status() {
  [ -r "$rdc_file" ] || unreadable
  here; read_journal
  [ "$rdc_count" -gt 0 ] || { echo 'no run'; return; }
  # shellcheck disable=SC2086 # these are several words
  if is_over && ! is_own; then
    set -- $rdc_last
    echo "over: $3, a run of a different version of the Makefile"
    return
  fi
  own_journal
  LC_ALL=C awk -v count="$rdc_count" '
    function tell(way) { if (unit != "") print unit, word, code, attempt, time, way; unit = "" }
    NR > count { exit }
    { sub(/ [|] .*/, "") }
    $2 == "begin" { tell($5); attempt = $4 }
    $2 == "end" { unit = $3; word = $4; code = $5; time = $6 }
    $2 == "over" { tell($4) }
    END { tell("-") }
  ' "$rdc_journal" | while read -r rdc_unit rdc_outcome rdc_code rdc_attempt rdc_time rdc_way; do
    { take "$rdc_unit" && is_word "$rdc_outcome" && is_number "$rdc_code" && is_number "$rdc_attempt" &&
      is_number "$rdc_time"; } || damaged
    in_words "$rdc_outcome"; called; rdc_title=$rdc_says
    case $rdc_way in -) rdc_way='' ;; *+*) rdc_way=$(printf '%s\n' "$rdc_way" | tr + ' ') ;; esac
    details "$rdc_code" "$rdc_time" "$rdc_way"
    printf '%s %s  (%s)\n' "$rdc_low" "$rdc_title" "$rdc_says" 2> /dev/null || : # the last line tells
  done || exit
  # shellcheck disable=SC2086 # these are several words
  if is_over; then set -- $rdc_last; echo "over: $3"
  else
    called; rdc_title=$rdc_says rdc_says=''
    ! is_left || rdc_says=", its command still runs (pid $rdc_left)"
    echo "at $rdc_title$rdc_says"
  fi 2> /dev/null || fail "standard output cannot be written"
}

# One unit alone, apart from any run: the state is neither read nor changed.
step() {
  load; here; how_to_call
  rdc_journal=/dev/null rdc_files=$rdc_state/alone.$$ rdc_run=alone
  heed leave_nothing
  ready; inputs; begin_values
  take "$1" || fail "there is no unit $1"
  go "$1"; begin_unit; perform
  case $rdc_outcome in fail | failed | no | rejected | none | invalid | ambiguous) exit 1 ;; esac
}
leave_nothing() { rm -rf "$rdc_files"; rmdir "$rdc_state" "${rdc_state%/*}" 2> /dev/null; }
clean() {
  is_there || return 0
  lock; archive
  say "the run was archived in $rdc_history"
}

# A person says that who holds the lock is no more; of a process that can be seen to live nobody has to.
unlock() {
  here; holder
  [ "${rdc_holder#* }" != "$rdc_place" ] || ! is_held || fail "process ${rdc_holder%%-*} still runs: end it first"
  rm -f "$rdc_state/lock" "$rdc_state"/lock.after.* 2> /dev/null || fail "the lock cannot be removed: $rdc_state/lock"
}
answer() { read_journal; [ "$rdc_count" -eq 0 ] || own_journal; fail "no unit waits for an answer"; }
help_line() { printf '%-32s %s\n' "$1" "$2" 2> /dev/null; }
help() {
  help_line "$rdc_begin" 'run the whole'
  help_line "${rdc_again}resume" 'resume a run; RERUN=1 or ASSUME=WORD decide about a unit that was interrupted'
  load
  for rdc_step in $rdc_help; do "$rdc_step"; done
  help_line "${rdc_again}status" 'what was done, and where the run stands'
  help_line "${rdc_again}clean" 'archive the run'
  help_line "${rdc_again}unlock" 'remove the lock of a run that is no more'
  for rdc_unit; do
    take "$rdc_unit"; go "$rdc_unit"; attempt; called
    help_line "${rdc_again}step-$rdc_unit" "$rdc_says"
  done
}
endef
