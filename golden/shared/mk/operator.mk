
# --- Module: the operator: who decides and why, runs that are prompted or stand beside others, values given by hand ---
define RDC_MODULE_OPERATOR
if [ -n "${rdc_given_AS+given}" ]; then
  rdc_value=$rdc_given_AS
  case $rdc_given_AS in '' | [!A-Za-z0-9]* | *[!A-Za-z0-9_.-]*) rdc_value='' ;; esac
  [ "${#rdc_value}" -ge 1 ] && [ "${#rdc_value}" -le 64 ] ||
    fail "AS takes a name of at most 64 letters, digits, dots, dashes and underscores; it begins with a letter or digit"
  rdc_state=${rdc_state%.make}@$rdc_given_AS.make rdc_files=$rdc_state
  [ "$rdc_journal" = /dev/null ] || rdc_journal=$rdc_state/journal
fi

# Runs that were archived may have been removed: their numbers are not used again while later ones are there.
for rdc_word in "$rdc_state"/history/[1-9]*; do
  rdc_word=${rdc_word##*/}
  case $rdc_word in *[!0-9]*) ;; *) [ "$rdc_word" -lt "${rdc_archived:=1}" ] || rdc_archived=$((rdc_word + 1)) ;; esac
done

# Lets rdc_signed be who decides and why, as two words of the journal.
sign() {
  rdc_word=${rdc_given_BY-}
  [ -n "$rdc_word" ] || rdc_word=${LOGNAME:-${USER:-$(id -un 2> /dev/null || id -u)}}
  written BY "$rdc_word" 200; rdc_signed=" by $rdc_value"
  written NOTE "${rdc_given_NOTE-}" 2000; rdc_signed="$rdc_signed $rdc_value"
}
# Lets rdc_value be the text $2, which may have $3 characters, as a word: a byte that is no plain letter, digit or sign
# is `=` and two digits.
written() {
  case $2 in *"$rdc_newline"*) fail "$1 has more than one line" ;; esac
  rdc_value=$(printf '%s' "$2" | LC_ALL=C tr -d '\200-\277' | wc -c) # characters, not bytes
  [ "$rdc_value" -le "$3" ] || fail "$1 is longer than $3 characters"
  rdc_value=$2
  [ -z "${rdc_secrets-}" ] || rdc_value=$(printf '%s' "$2" | masked)
  rdc_value=$(RDC_TEXT=$rdc_value LC_ALL=C awk 'BEGIN {
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = sprintf("=%02X", i)
    text = ENVIRON["RDC_TEXT"] ""
    for (i = 1; i <= length(text); i++) {
      one = substr(text, i, 1)
      printf "%s", index("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@:,+-", one) ? one : code[one]
    }
    if (text == "") printf "="
  }')
}
rdc_newline='
'
redo() { sign; rdc_changes=" again$rdc_signed" rdc_signed=''; }

# --- A prompted run executes nothing: each of its commands is a question, and what is asked is the command ------------
is_given() { case $1 in '' | 0 | no) return 1 ;; esac; }
! is_given "${rdc_given_PROMPTED-}" || rdc_mode=" prompted"
is_own() {
  case $rdc_first in
    "1 run $rdc_program "*" 1") rdc_mode='' ;;
    "1 run $rdc_program "*" 1 prompted") rdc_mode=' prompted' ;;
    *) return 1 ;;
  esac
}
check_run() {
  [ -n "$rdc_mode" ] || ! is_given "${rdc_given_PROMPTED-}" ||
    fail "this run is not prompted; PROMPTED=1 is for its beginning: $rdc_begin PROMPTED=1"
  [ -z "$rdc_mode" ] || [ -z "${rdc_python_wanted-}" ] ||
    fail "a run that calls agents or tools cannot be prompted"
}
as_prompt() {
  rdc_is_shown=''
  case $rdc_mode:$rdc_kind_U in *prompted:bash | *prompted:sh) ;; *) return 0 ;; esac
  rdc_is_shown=yes rdc_kind_U=pass_fail rdc_ask_U=$rdc_do_U
  case $rdc_ask_U in *[!\ -~]*) rdc_ask_U=$(printf '%s\n' "$rdc_do_U" | LC_ALL=C tr -c '\n\t -~\200-\377' '?') ;; esac
}

# Shows how to give the values that the command which is shown writes: their names stand in it before `=` or `<<`.
hint_values() {
  [ -n "$rdc_is_shown" ] || return 0
  rdc_value=$(printf '%s\n' "$rdc_do_U" | RDC_NAMES=${rdc_gives_U-} LC_ALL=C awk '
    BEGIN { count = split(ENVIRON["RDC_NAMES"], names, " ") }
    { text = text " " $0 }
    END {
      for (i = 1; i <= count; i++)
        if (text ~ ("[^A-Za-z0-9_-]" names[i] "(=|<<)")) printf "%s%s=…", (found++ ? "\n" : ""), names[i]
    }')
  [ -z "$rdc_value" ] ||
    say "rdc: with outputs: ${rdc_again}answer STEP=$(quoted "$rdc_id") REPLY=pass VALUE='$rdc_value'"
}

# Takes VALUE, lines as a command writes them, for a command that was not run.
take_values() {
  if [ -z "${rdc_is_shown-}${rdc_is_assumed-}" ]; then
    [ "$rdc_verb" != answer ] || [ -z "${rdc_given_VALUE-}" ] || fail "VALUE is for commands; step $rdc_id is none"
    return 0
  fi
  rdc_is_assumed=''
  [ -z "${rdc_folders-}" ] || no_values
  [ -n "${rdc_given_VALUE-}" ] || return 0
  [ -n "${rdc_gives_U-}" ] || fail "step $rdc_id has no outputs, so it takes no VALUE"
  printf '%s\n' "${rdc_given_VALUE%"$rdc_newline"}" 2> /dev/null > "$rdc_files/output" || unkept
  read_values || { no_values; rm -f "$rdc_files/output"; fail "VALUE: $(printf '%s' "$rdc_says" | line)"; }
  rdc_given_VALUE=''
}
endef
