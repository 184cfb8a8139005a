# --- The driver: takes one unit after the other, and keeps a journal of it ----------------------------------------------

define RDC_DRIVER
set -u
# A descriptor that is closed would be taken by the next file that is opened.
command : 3>&2 || exec 2> /dev/null
command : 2> /dev/null 3>&1 || exec > /dev/null
command : 2> /dev/null 3<&0 || exec < /dev/null
# A write that is not possible is seen by its status, which these signals would not leave time for.
command trap : PIPE XFSZ 2> /dev/null
# Variables begin with `rdc_`, so that a command sees none in place of its own; what make hands over is not for commands.
rdc_file=$RDC_FILE rdc_top=$RDC_TOP rdc_folder=$RDC_FOLDER rdc_prefix=$RDC_PREFIX rdc_state=$RDC_STATE rdc_program=$RDC_PROGRAM
rdc_journal=$rdc_state/journal rdc_files=$rdc_state rdc_folders='' rdc_run=alone rdc_loads='' rdc_variables=''
rdc_verb=$1 rdc_unit='' rdc_id='' rdc_child='' rdc_count=0 rdc_changes='' rdc_over='' rdc_next='' rdc_nth=1 rdc_last='' rdc_way=''
rdc_given_ASSUME='' rdc_given_RERUN='' rdc_given_ANSWERS='' rdc_given_UNIT='' rdc_given_RESULT='' rdc_given_HUMAN=''
rdc_given_AGENT='' rdc_given_TOOLS='' rdc_given_INPUTS='' rdc_given=" $RDC_GIVEN "
for rdc_word in $RDC_GIVEN; do # NAME:VARIABLE
  eval "rdc_given_${rdc_word#*:}=\$RDC_GIVEN_${rdc_word#*:}"
  unset "RDC_GIVEN_${rdc_word#*:}"
  case $rdc_word in *-*:*) ;; *) unset "${rdc_word%:*}" ;; esac
done
unset RDC RDC_FILE RDC_TOP RDC_FOLDER RDC_PREFIX RDC_STATE RDC_PROGRAM RDC_GIVEN RDC_STEP_INSTANCE RDC_SUBSTEP_INSTANCE
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# --- What is said: progress on standard error, and as the last line on standard output how the run ended ------------------
say() { printf '%s\n' "$*" >&2 2> /dev/null || :; }
end() { printf 'rdc: %s\n' "$2" 2> /dev/null || say "rdc: $2"; exit "$1"; }
fail() { say "rdc: $1"; end 2 "error: $1"; }
is_yes() { case $1 in '' | 0 | no) return 1 ;; esac; }

# A word as it can be pasted into a shell, and how make is called again on this file.
quoted() { case $1 in '' | *[!A-Za-z0-9_./-]*) printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;; *) printf %s "$1" ;; esac; }
rdc_make="make -f $(quoted "$rdc_top")"
case $rdc_top in
  GNUmakefile) rdc_make='make' ;;
  makefile | Makefile) [ -e GNUmakefile ] || { [ "$rdc_top" = Makefile ] && [ -e makefile ]; } || rdc_make='make' ;;
esac
[ -z "$rdc_folder" ] || rdc_make="make -C $(quoted "$rdc_folder")${rdc_make#make}"
rdc_again="$rdc_make $rdc_prefix" rdc_begin=$rdc_make
[ -z "$rdc_prefix" ] || rdc_begin=${rdc_again}run

# What modules go further in: texts with references, words of outcomes, inputs, limits, what is told to commands.
filled() { rdc_value=$1; }
in_words() { rdc_low=$1; case $1 in pass) rdc_says=PASS ;; *) rdc_says=FAIL ;; esac; }
words() { printf %s "pass${1}fail"; }
outcome() { case $1 in [Pp]ass | PASS | [Yy]es) rdc_outcome=pass ;; [Ff]ail | FAIL | [Nn]o) rdc_outcome=fail ;; *) return 1 ;; esac; }
rdc_ready='' rdc_help=''
call_number() { rdc_call=1; }
call_command() { call "$@"; }
ready() { for rdc_step in $rdc_ready; do "$rdc_step"; done; }
for rdc_word in inputs begin_values resume_values folders before counted tell after_command no_values let_go; do eval "$rdc_word() { :; }"; done
line() { cat; }
value() { rdc_value=''; }

# --- The units: what RDC_UNITS says of them, and their texts, by keys that a variable may be called ------------------------
key() { rdc_key=$1; while :; do case $rdc_key in *[.-]*) rdc_key=${rdc_key%%[.-]*}_${rdc_key#*[.-]} ;; *) return ;; esac; done; }
unit() { rdc_kind_U=$2 rdc_title_U=$3 rdc_id_U=$1; }
known_as() { rdc_id_U=$1; }
entry() { rdc_entry=$1; }

# Takes the program out of the Makefile once, or the unit $1 of it alone: what becomes of the file later does no harm. All
# that belongs to a unit is one text, which sets variables whose names end with `_U`.
load() {
  [ -z "$rdc_loads" ] || return 0
  rdc_only=$1
  rdc_text=$({ LC_ALL=C awk -v prefix="$rdc_prefix" -v only="$1" '
    function key(name) { gsub(/[.-]/, "_", name); return name }
    function quoted(text) { gsub(/\047/, "\047\"\047\"\047", text); return text }
    function add(name, text) { # without a name it belongs to no unit
      if (name == "") { printf "%s", text; return }
      if (!(name in size)) names[++number] = name
      texts[name, ++size[name]] = text
    }
    kind != "" && $0 == "endef" {
      if (kind == "text") add(name, ends)
      else if (kind == "after" || kind == "choose") add(name, kind == "after" ? "esac\n}\n" : "}\n")
      if (only != "" && kind == "units") exit
      kind = ""; next
    }
    kind == "skip" { next }
    kind == "values" { print; next }
    kind == "units" {
      if ($1 == "unit") {
        if (before != "") add(before, "rdc_then_U=" $2 "\n")
        else if (only == "") print "rdc_entry=" $2
        before = $2
        if ($3 ~ /^(pass_fail|yes_no|confirm|gate|input|select)$/) asking = asking " " $2
        if ($3 ~ /^(input|select)$/) free = "yes"
      }
      add(before, $0 "\n"); next
    }
    kind == "after" || kind == "choose" { add(name, $0 "\n"); next }
    kind != "" { add(name, (count++ ? "\n" : "") quoted($0)); next }
    index($0, prefix "RDC_PROGRAM := ") == 1 { print "rdc_loads=" $3 }
    $1 == "define" && NF == 2 && index($2, prefix) == 1 {
      block = substr($2, length(prefix) + 1)
      is_escaped = sub(/^escaped_/, "", block)
      kind = block; sub(/_.*/, "", kind)
      name = substr(block, length(kind) + 2)
      if (block == "RDC_UNITS") { kind = "units"; next }
      if (block == "RDC_VALUES") { kind = "values"; next }
      if (kind == "RDC" || only != "" && block != "do_" only && kind != "text") { kind = "skip"; next }
      if (kind == "after") { add(name, "rdc_after_U() { case $rdc_outcome in\n"); next }
      if (kind == "choose") { add(name, "rdc_kind_U=choice\nrdc_after_U() {\n"); next }
      variable = "rdc_" kind "_U"
      if (kind == "entry" || kind == "option") { variable = variable name; sub(/U.*_/, "U_", variable); sub(/_[0-9]+$/, "", name) }
      if (kind == "text" || kind == "python") { variable = "rdc_" kind "_" name; name = "" }
      kind = "text"; count = 0
      add(name, variable "=" (is_escaped ? "$(printf %b. " : "") "\047")
      ends = "\047" (is_escaped ? "); " variable "=${" variable "%.}" : "") "\n"
    }
    END {
      for (i = 1; i <= number; i++) {
        if (only != "" && names[i] != only) continue
        printf "rdc_u_%s=\047", key(names[i])
        for (j = 1; j <= size[names[i]]; j++) printf "%s", quoted(texts[names[i], j])
        print "\047"
      }
      print "rdc_asking=\047" asking "\047 rdc_free_texts=\047" free "\047"
    }' < "$rdc_file"; } 2> /dev/null) && [ -n "$rdc_text" ] ||
    unreadable
  eval "$rdc_text"
  [ "$rdc_loads" = "$rdc_program" ] || fail "the Makefile was changed during the run: $rdc_file; put it back, or ${rdc_again}clean archives the run"
  rdc_text=''
}
unreadable() { fail "$rdc_file cannot be read: is there a blank in its name, and are sed and awk on PATH?"; }
of() { eval "rdc_value=\${rdc_$1_U-}"; }

# Makes $1 the unit whose variables are set, if that is the name of one, and the unit where the run stands.
look_at() {
  case $1 in '' | *[!A-Za-z0-9_.-]*) return 1 ;; esac
  key "$1"; eval "rdc_value=\${rdc_u_$rdc_key-}"
  [ -n "$rdc_value" ] || return 1
  unset rdc_marks_U rdc_variables_U rdc_attempts_U rdc_then_U rdc_gives_U rdc_delay_U rdc_timeout_U rdc_words_U rdc_entries_U
  unset -f rdc_after_U 2> /dev/null || :
  rdc_id_U=$1 rdc_title_U=''
  eval "$rdc_value"
}
take() {
  look_at "$1" || return 1
  rdc_unit=$1 rdc_id=$rdc_id_U rdc_kind=$rdc_kind_U rdc_variables=${rdc_variables_U-}
}

# --- Transitions ----------------------------------------------------------------------------------------------------------
go() { rdc_next=$1 rdc_nth=1 rdc_way=go; }
retry() { [ "$rdc_attempt" -le "$1" ] && rdc_next=$rdc_unit rdc_nth=$((rdc_attempt + 1)) rdc_way="retry $rdc_attempt of $1"; }
COMPLETE() { rdc_over=COMPLETE rdc_code=0 rdc_message=${1-} rdc_way=COMPLETE; }
STOP() { rdc_over=STOP rdc_code=1 rdc_message=${1-} rdc_way=STOP; }

# Goes on by the outcome, through what only chooses. Without `after_` a unit that passes is followed by the next one.
follow() {
  rdc_next=''
  counted
  if command -v rdc_after_U > /dev/null; then rdc_after_U
  elif [ "$rdc_outcome" != pass ]; then STOP
  else of 'then'; if [ -n "$rdc_value" ]; then go "$rdc_value"; else COMPLETE; fi; fi
  choose
}
choose() {
  while [ -z "$rdc_over" ]; do
    rdc_id_U=$rdc_next
    look_at "$rdc_next" || [ -n "$rdc_only" ] || fail "there is no unit $rdc_next"
    [ "$rdc_kind_U" = choice ] || break
    rdc_after_U
  done
  [ -n "$rdc_over" ] || [ "$rdc_way" != go ] || rdc_way="go $rdc_id_U"
}
walk() {
  while choose; [ -z "$rdc_over" ]; do
    take "$rdc_next" || fail "there is no unit $rdc_next"
    begin_unit
    perform
  done
  case $rdc_last in over\ *) ;; *) note "over $rdc_code $rdc_over" ;; esac
  filled "$rdc_message"; rdc_message=$(printf '%s' "$rdc_value" | line)
  end "$rdc_code" "$rdc_over${rdc_message:+ $rdc_message}"
}
attempt() {
  of attempts; rdc_attempt=$rdc_nth
  [ -z "$rdc_value" ] || { value "$rdc_value"; rdc_attempt=$((rdc_value + 1)); }
}
begin_unit() {
  attempt
  before
  call_number
  note "begin $rdc_unit $rdc_attempt$rdc_changes"
  rdc_changes=''
}
perform() {
  now; rdc_start=$rdc_now
  called; say "$rdc_says"
  case $rdc_kind in bash | sh) command_unit ;; *) "perform_$rdc_kind" ;; esac
}
called() {
  of title; filled "$rdc_value"; rdc_title=$rdc_value rdc_says=$rdc_id${rdc_value:+ $rdc_value}
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

# Exit code $1, time $2 in hundredths of a second and transition $3 as people read them.
details() {
  rdc_says="$(($2 / 100)).$(($2 % 100 / 10)) s"
  [ "$2" -lt 6000 ] || rdc_says="$(($2 / 6000)) min $(($2 / 100 % 60)) s"
  [ "$2" -lt 360000 ] || rdc_says="$(($2 / 360000)) h $(($2 / 6000 % 60)) min"
  rdc_says="${1#0}, $rdc_says${3:+, $3}"
  case $rdc_says in ,*) rdc_says=${rdc_says#, } ;; *) rdc_says="exit code $rdc_says" ;; esac
}
now() { { read -r rdc_now _ < /proc/uptime; } 2> /dev/null || rdc_now=$(date +%s).00; rdc_now=${rdc_now%.*}${rdc_now#*.}; }
unrecorded() {
  case $rdc_kind in bash | sh) rdc_says="resume ASSUME=$rdc_outcome" ;; *) rdc_says=resume ;; esac
  rdc_says="but this cannot be recorded: $rdc_journal; make room for it, then: $rdc_again$rdc_says"
  fail "unit $rdc_id ended with $rdc_ended, $rdc_says"
}

# --- Commands: each a process group of its own; at a terminal in ours, whose keys reach it ---------------------------------
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

# Becomes the process of these words, once its number is on record. `began` tells when the process $1 did, in ticks.
become() {
  { read -r rdc_word _ < /proc/self/stat; } 2> /dev/null || rdc_word=$(exec sh -c 'echo "$PPID"')
  began "$rdc_word"
  printf '%s\n' "$rdc_count $rdc_word ${rdc_began:-0} $rdc_place" 2> /dev/null > "$rdc_files/process"
  # shellcheck disable=SC2086 # these are several words
  surround $rdc_wrapper "$@"
}
surround() {
  for rdc_word in $rdc_variables; do value "${rdc_word#*=}"; export "${rdc_word%%=*}=$rdc_value"; done
  exec "$@"
}
began() {
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
call() {
  if [ "$rdc_how" = wait ]; then (become "$@"); rdc_code=$?; return; fi
  { { become "$@" <&3 3<&-; } & } 3<&0
  rdc_child=$!
  wait "$rdc_child"; rdc_code=$?
  rdc_child=''
}
signal_child() { { [ "$rdc_how" = group ] && kill -s "$1" -- "-$rdc_child"; } 2> /dev/null || kill -s "$1" "$rdc_child" 2> /dev/null; }

# Ends what runs with the signal that came, after ten seconds by force.
interrupt() {
  trap '' INT TERM HUP
  if [ -n "$rdc_child" ]; then
    [ "$rdc_how$1" = besideINT ] || signal_child "$1" # the key has reached it by itself
    signal_child CONT
    rdc_number=0
    while alive "$rdc_child" 0 && [ "$rdc_number" -lt 200 ]; do rdc_number=$((rdc_number + 1)); sleep 0.05 2> /dev/null || sleep 1; done
    signal_child KILL
  fi
  end 130 "INTERRUPTED${rdc_id:+ $rdc_id}"
}
command_unit() {
  of 'do'; filled "$rdc_value"; rdc_command=$rdc_value rdc_outcome=fail rdc_code=1
  RDC_RUN_ID=$rdc_run RDC_ATTEMPT=$rdc_attempt
  export RDC_RUN_ID RDC_ATTEMPT
  if tell; then
    command -v "$rdc_kind" > /dev/null || say "rdc: there is no $rdc_kind on PATH to run this with"
    call_command "$rdc_kind" -c "$rdc_command"
    # This code may be the command's own: whether the system can start a shell with it is tried.
    [ "$rdc_code" -ne 126 ] || "$rdc_kind" -c : "$rdc_command" 2> /dev/null || no_outcome "$rdc_kind cannot be started"
    [ "$rdc_code" -ne 0 ] || rdc_outcome=pass
  fi
  after_command
  ended "$rdc_code"
}
no_outcome() {
  rdc_says="is the environment too large, or are there too many processes?"
  [ "$rdc_verb" = step ] || rdc_says="$rdc_says Mend this, then: ${rdc_again}resume RERUN=1"
  say "rdc: $rdc_says"; fail "unit $rdc_id has no outcome: $1"
}

# --- The journal ----------------------------------------------------------------------------------------------------------
# A line each, appended at once: its number, and `run`, program, id and 2; `begin`, unit, attempt, and what has changed;
# `end`, unit, outcome, exit code, time, and where an answer stood; `over`, exit code and end. Each line says this twice.
record() {
  rdc_count=$((rdc_count + 1)) rdc_last=$*
  is_kept || vanished
  printf '%s | %s\n' "$rdc_count $*" "$rdc_count $*" 2> /dev/null >> "$rdc_journal"
}
note() { record "$@" || fail "the state cannot be written: $rdc_journal; make room for it, then: ${rdc_again}resume"; }

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
endef

