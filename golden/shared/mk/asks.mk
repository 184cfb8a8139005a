
# --- Module: questions for pass or fail: answered at a terminal, from a file, or by `make answer` ---------------------
define RDC_MODULE_ASKS
perform_pass_fail() { ask; }
perform_yes_no() { ask; }

ask() {
  show_question
  if from_make; then return; fi
  if [ -n "${rdc_given_ANSWERS-}" ] && from_file; then return; fi
  if [ -n "${rdc_given_AGENT-}" ] && by_agent; then return; fi
  if [ -t 0 ] && [ -t 2 ]; then from_terminal; return; fi
  [ "$rdc_verb" != step ] || end 75 "WAITING $rdc_id"
  hint | while IFS= read -r rdc_word; do
    say "rdc: to answer: ${rdc_again}answer STEP=$(quoted "$rdc_id") REPLY=$rdc_word"
  done
  hint_values
  say "rdc: to go on:  ${rdc_again}resume"
  end 75 "WAITING $rdc_id"
}
quoted() { # a word as it can be pasted into a shell
  case $1 in
    *[!A-Za-z0-9_./-]*) printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;; *) printf %s "${1:-''}" ;;
  esac
}
from_make() { return 1; }
by_agent() { return 1; }
hint_values() { :; }
show_question() { filled "$rdc_ask_U"; [ -z "$rdc_value" ] || say "$rdc_value"; }
in_words() {
  rdc_low=$1
  [ "$rdc_kind" != yes_no ] || case $1 in pass) rdc_low=yes ;; *) rdc_low=no ;; esac
  case $rdc_low in pass) rdc_says=PASS ;; fail) rdc_says=FAIL ;; yes) rdc_says=YES ;; *) rdc_says=NO ;; esac
}

# What can be replied, as words that can be pasted into a shell, a line each.
hint() { case $rdc_kind in yes_no) printf 'yes\nno\n' ;; *) printf 'pass\nfail\n' ;; esac; }
hints() { hint | awk -v between="$1" 'NR > 1 { printf "%s", between } { printf "%s", $0 }'; }

# Lets rdc_outcome be what the reply $1 says; fails if it is none that this step takes.
read_reply() {
  case $(printf %s "$1" | LC_ALL=C tr -d ' \t\r' | LC_ALL=C tr '[:upper:]' '[:lower:]') in
    pass | yes) rdc_outcome=pass ;;
    fail | no) rdc_outcome=fail ;;
    *) return 1 ;;
  esac
}
replied() { ended 0 "$1"; } # $1 says where in a file of answers it stood

from_terminal() {
  while :; do
    printf '%s [%s] ' "$rdc_id" "$(hints /)" >&2
    IFS= read -r rdc_word || end 75 "WAITING $rdc_id"
    case $rdc_kind:$rdc_word in
      yes_no:y | confirm:y) rdc_word=yes ;;
      yes_no:n | confirm:n) rdc_word=no ;;
      pass_fail:p) rdc_word=pass ;;
      pass_fail:f) rdc_word=fail ;;
    esac
    ! read_reply "$rdc_word" || break
  done
  replied ''
}

# Records the answer that a person gives by make; the run goes on when somebody says so.
answer() {
  take_up; ready_to_answer
  case $rdc_last in "begin "*) ;; *) fail "no step waits for an answer" ;; esac
  case $rdc_kind in bash | sh | agents | tool) fail "no step waits for an answer" ;; esac
  [ "$rdc_id" = "${rdc_given_STEP-}" ] ||
    fail "step '$(printf '%s' "${rdc_given_STEP-}" | tr -c '[:print:]' ' ')' does not wait for an answer, \
step '$rdc_id' does"
  [ -n "${rdc_given_REPLY+given}" ] ||
    fail "REPLY is missing: ${rdc_again}answer STEP=$(quoted "$rdc_id") REPLY=$(hints ' or ')"
  read_reply "$rdc_given_REPLY" || fail "this is no answer of step $rdc_id: $(refused_reply); REPLY=$(hints ' or ')"
  sign
  now; rdc_start=$rdc_now
  replied ''
  say "rdc: to go on:  ${rdc_again}resume"
}
ready_to_answer() { :; }
refused_reply() { printf '%s' "$rdc_given_REPLY" | LC_ALL=C tr -c '[:print:]' ' '; }

# The ids of steps that ask, a line each.
asks() {
  (for rdc_word in $rdc_order; do
    look_at "$rdc_word"
    case $rdc_kind_U in pass_fail | yes_no | confirm | gate | input | select) printf '%s\n' "$rdc_id_U" ;; esac
  done)
}

# Reads the file of answers before anything is run, and lets rdc_answers be lines with line, word and step of each. Its
# lines are `STEP REPLY` and `REPLY`, or `STEP<<WORD` … `WORD`; or it is a JSON object.
check_answers() {
  [ -n "${rdc_given_ANSWERS-}" ] || return 0
  [ -f "$rdc_given_ANSWERS" ] && [ -r "$rdc_given_ANSWERS" ] || fail "the answers cannot be read: $rdc_given_ANSWERS"
  rdc_sum=$(cksum < "${rdc_given_ANSWERS-}" | tr ' ' -)
  [ -n "$rdc_sum" ] || fail "the answers cannot be read: ${rdc_given_ANSWERS-}; is cksum on PATH?"
  rdc_answers=$({ asks; echo; answer_lines; } | LC_ALL=C awk '
    function give(at, said, node) {
      if (tolower(said) ~ /^(pass|fail|yes|no)$/ && (node == "" || node in known)) print at, said, node
      else print "wrong " at ": " said
    }
    !begun { if ($0 == "") begun = NR; else known[$0] = 1; next }
    NR == begun + 1 { sub(/^\357\273\277/, "") }
    { sub(/\r$/, "") }
    word != "" { if ($0 == word) { give(at, text, node); word = "" } else text = text $0; next }
    { sub(/(^|[ \t])#.*/, ""); at = NR - begun }
    NF == 0 { next }
    {
      sub(/^[ \t]+/, ""); sub(/[ \t]+$/, "")
      here = index($0, "<<"); node = substr($0, 1, here - 1)
      if (here > 1 && node in known) { word = substr($0, here + 2); text = ""; next }
      node = $0; sub(/[ \t]*[^ \t]+$/, "", node)
      give(at, $NF, node)
    }
    END { if (word != "") print "wrong " at ": the last line of this answer is missing" }
  ') || fail "${rdc_given_ANSWERS-} cannot be read as JSON"
  rdc_says=$(printf '%s\n' "$rdc_answers" | sed -n 's/^wrong //p' | head -n 1)
  [ -z "$rdc_says" ] || fail "this is no answer of a step that asks: line $rdc_says"
}
answer_lines() {
  case $(LC_ALL=C tr -d ' \t\r\n\000' < "${rdc_given_ANSWERS-}" | LC_ALL=C cut -c 1-2) in
    '{"' | '{}') ;; # a step may be called {N}
    *) cat < "$rdc_given_ANSWERS"; return ;;
  esac
  python3 -I -c '
import json, sys
for node, value in json.loads(open(sys.argv[1], "rb").read().decode("utf-8-sig"), object_pairs_hook=tuple):
    for one in value if isinstance(value, list) else [value]:
        print(node or "no step", one if isinstance(one, str) else "no word")
' "${rdc_given_ANSWERS-}" 2> /dev/null || echo 'this is JSON that is damaged, or there is no python3 to read it'
}

# Takes the next answer of the file: one for the step itself before a common one, each once.
from_file() {
  rdc_found=$(printf '%s\n' "$rdc_answers" | RDC_NAME=$rdc_id RDC_SUM=$rdc_sum LC_ALL=C awk '
    FILENAME == ARGV[1] { if ($2 == "end" && $7 == ENVIRON["RDC_SUM"]) used[$8] = 1; next }
    $1 == "" || $1 in used { next }
    { found = $1 " " $2; sub(/^[^ ]+ [^ ]+ ?/, "") }
    $0 == "" && !common { common = found }
    $0 "" == ENVIRON["RDC_NAME"] "" && !own { own = found }
    END { print own ? own : common }
  ' "$rdc_journal" -)
  [ -n "$rdc_found" ] || return 1
  read_reply "${rdc_found#* }"
  replied "$rdc_sum ${rdc_found%% *}"
}
help_answers() {
  help_line "${rdc_again}answer STEP=ID REPLY=REPLY" 'answer the question that the run waits with'
  help_line "$rdc_begin ANSWERS=FILE" 'take answers from a file, in a run or when it goes on'
}
endef
