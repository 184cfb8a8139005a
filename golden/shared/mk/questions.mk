
# --- Module: questions for texts and options, and gates ---------------------------------------------------------------
define RDC_MODULE_QUESTIONS
perform_confirm() { ask; }
perform_input() { ask; }
perform_select() { ask; }
perform_gate() { ask; }

show_question() {
  rdc_prompt=$rdc_files/prompts/$rdc_node.$rdc_call
  filled "$rdc_ask_U"
  keep "$rdc_value" "prompts/$rdc_node.$rdc_call"
  [ ! -s "$rdc_prompt" ] || say "$(visible < "$rdc_prompt")"
  node_words; options
}
from_make() { # a gate, once
  [ "$rdc_kind" = gate ] || return 1
  case ${rdc_given_HUMAN-} in '' | 0 | [nN][oO] | [fF][aA][lL][sS][eE] | [oO][fF][fF]) return 1 ;; esac
  rdc_given_HUMAN='' rdc_outcome=approved
  replied ''
}
ready_to_answer() { tidy; folders; }

# What can be replied, as words that can be pasted into a shell, a line each.
hint() {
  case $rdc_kind in
    yes_no | confirm) printf 'yes\nno\n' ;;
    gate) printf 'approved\nrejected\n' ;;
    input) echo "'TEXT'" ;;
    select)
      node_words; rdc_number=0
      for rdc_word in $rdc_words; do
        rdc_number=$((rdc_number + 1))
        quoted "$(option_text "$rdc_number" | line)"; echo
      done
      ;;
    *) printf 'pass\nfail\n' ;;
  esac
}
option_text() { eval "fill \"\$rdc_option${1}_U\""; }
options() {
  rdc_number=0
  [ "$rdc_kind" != select ] || for rdc_word in $rdc_words; do
    rdc_number=$((rdc_number + 1))
    say "  - $(option_text "$rdc_number" | visible)"
  done
}

# Reads the reply in the file $1; fails if it is none that this step takes.
reads() {
  node_words
  is_text "$1" || return 1
  case $rdc_kind in
    input) rdc_outcome='pass'; without_blanks "$1"; return ;;
    select)
      rdc_number=0
      for rdc_outcome in $rdc_words; do
        rdc_number=$((rdc_number + 1))
        ! option_text "$rdc_number" | cmp -s - "$1" || return 0
      done
      return 1
      ;;
  esac
  rdc_word=$(LC_ALL=C tr -d ' \t\r' < "$1" | LC_ALL=C tr '[:upper:]' '[:lower:]')
  case $rdc_kind:$rdc_word in
    pass_fail:pass | pass_fail:yes | yes_no:pass | yes_no:yes) rdc_outcome=pass ;;
    pass_fail:fail | pass_fail:no | yes_no:fail | yes_no:no) rdc_outcome=fail ;;
    confirm:yes | confirm:no | gate:approved | gate:rejected) rdc_outcome=$rdc_word ;;
    *) return 1 ;;
  esac
}

# Takes white space at both ends off the text in the file $1; a line waits for one behind it that is not blank.
without_blanks() {
  { LC_ALL=C awk '
    !/[^ \t\r\013\014]/ { if (begun) space[count++] = $0; next }
    begun { print last; for (i = 0; i < count; i++) print space[i] }
    { last = $0; count = 0 }
    !begun { from = 1; while (index(" \t\r\013\014", substr(last, from, 1))) from++ }
    !begun { last = substr(last, from); begun = 1 }
    END {
      to = length(last); while (to && index(" \t\r\013\014", substr(last, to, 1))) to--
      printf "%s", substr(last, 1, to)
    }' "$1" > "$rdc_files/message" && cat < "$rdc_files/message" > "$1"; } || unkept
  rm -f "$rdc_files/message"
}

read_reply() {
  printf '%s' "$1" > "$rdc_files/reply" || unkept
  reads "$rdc_files/reply"
}
refused_reply() { line < "$rdc_files/reply"; }

# Records the outcome with the reply that is in the file `reply`.
replied() {
  case $rdc_kind in
    gate) true > "$rdc_files/reply" ;;
    confirm) printf '%s' "$rdc_outcome" > "$rdc_files/reply" ;;
  esac || unkept
  copy reply "answers/$rdc_node.$rdc_call"
  ended 0 "$1"
}

# Files of answers have lines `STEP REPLY` and `REPLY`, and `STEP<<WORD` … `WORD`; names of steps are those in `asks`.
check_answers() {
  [ -n "${rdc_given_ANSWERS-}" ] || return 0
  [ -f "$rdc_given_ANSWERS" ] && [ -r "$rdc_given_ANSWERS" ] || fail "the answers cannot be read: $rdc_given_ANSWERS"
  is_text "$rdc_given_ANSWERS" || fail "the answers are not UTF-8: $rdc_given_ANSWERS"
  as_lines "$rdc_given_ANSWERS" "$rdc_state/answers.lines" answers "$(asks)"
  rdc_given_ANSWERS=$rdc_lines
  case $rdc_given_ANSWERS in /*) ;; *) rdc_given_ANSWERS=./$rdc_given_ANSWERS ;; esac
  { mkdir -p "$rdc_files" && asks > "$rdc_files/asks"; } 2> /dev/null || unkept
  rdc_free_texts=$(for rdc_word in $rdc_order; do
    look_at "$rdc_word"; case $rdc_kind_U in input | select) echo yes; break ;; esac
  done)
  [ "$rdc_lines" = "$rdc_state/answers.lines" ] || [ -n "$rdc_free_texts" ] || check_lines
}

# Where nothing but words is asked for, a line that is no answer is refused before anything is run.
check_lines() {
  rdc_says=$(LC_ALL=C awk '
    FILENAME == ARGV[1] { known[$0] = 1; next }
    FNR == 1 { sub(/^\357\273\277/, "") }
    { sub(/\r$/, "") }
    word != "" { if ($0 == word) word = ""; next }
    { sub(/(^|[ \t])#.*/, "") }
    NF == 0 { next }
    { at = index($0, "<<"); if (at > 1 && substr($0, 1, at - 1) in known) { word = substr($0, at + 2); next } }
    { said = tolower($NF); node = $0; sub(/[ \t]*[^ \t]+[ \t]*$/, "", node); sub(/^[ \t]+/, "", node) }
    said !~ /^(pass|fail|yes|no|approved|rejected)$/ || (node != "" && !(node in known)) { print FNR ": " $0; exit }
  ' "$rdc_files/asks" "$rdc_given_ANSWERS")
  [ -z "$rdc_says" ] || fail "this is no answer of a step that asks: line $rdc_says"
}

# Takes the next answer of the file: one for the step itself before a common one, each once.
from_file() {
  rdc_sum=$(cksum < "$rdc_given_ANSWERS" | tr ' ' -)
  [ -n "$rdc_sum" ] || fail "the answers cannot be read: $rdc_given_ANSWERS; is cksum on PATH?"
  rdc_found=$(RDC_NAME=$rdc_id RDC_SUM=$rdc_sum RDC_KIND=$rdc_kind RDC_FREE=$rdc_free_texts LC_ALL=C awk '
    FILENAME == ARGV[1] { if ($2 == "end" && $7 == ENVIRON["RDC_SUM"]) used[$8] = 1; next }
    FILENAME == ARGV[2] { names[++count] = $0; next }
    function take(from, to, skipped) {
      if (at in used) return
      if (node == ENVIRON["RDC_NAME"] "" && !own) own = at " " from " " to " " skipped
      if (node == "" && !common && ENVIRON["RDC_KIND"] != "gate") common = at " " from " " to " " skipped
    }
    function begins(line) { return substr($0, 1 + spaces, length(line)) == line }
    { sub(/\r$/, "") }
    word != "" { if ($0 == word) { take(at + 1, FNR - 1, 0); word = "" } next }
    FNR == 1 { sub(/^\357\273\277/, "") }
    ENVIRON["RDC_FREE"] == "" { sub(/(^|[ \t])#.*/, "") }
    /^[ \t]*$/ { next }
    {
      at = FNR; node = ""; spaces = 0
      if (ENVIRON["RDC_FREE"] == "" && match($0, /^[ \t]+/)) spaces = RLENGTH
      for (i = 1; i <= count; i++) {
        if (length(names[i]) <= length(node)) continue
        if (begins(names[i] " ") || begins(names[i] "\t")) { node = names[i]; word = "" }
        else if (begins(names[i] "<<")) { node = names[i]; word = substr($0, spaces + length(node) + 3) }
      }
      if (word == "") take(at, at, node == "" ? 0 : spaces + length(node) + 1)
    }
    END { if (word != "") print "unended " at; else print own ? own : common }
  ' "$rdc_journal" "$rdc_files/asks" "$rdc_given_ANSWERS") || unkept
  [ -n "$rdc_found" ] || return 1
  rdc_line=${rdc_found%% *}
  [ "$rdc_line" != unended ] || fail "$rdc_given_ANSWERS:${rdc_found#* }: the last line of this answer is missing"
  RDC_FREE=$rdc_free_texts LC_ALL=C awk -v found="$rdc_found" '
    BEGIN { split(found, at, " ") }
    NR < at[2] { next }
    NR > at[3] { exit }
    NR > at[2] { printf "\n" }
    at[1] == NR {
      if (NR == 1) sub(/^\357\273\277/, "")
      sub(/\r$/, "")
      if (ENVIRON["RDC_FREE"] == "") sub(/(^|[ \t])#.*/, "")
    }
    { printf "%s", substr($0, at[4] + 1) }
  ' "$rdc_given_ANSWERS" > "$rdc_files/reply" || unkept
  reads "$rdc_files/reply" ||
    fail "$rdc_given_ANSWERS:$rdc_line: this is no answer of step $rdc_id: $(line < "$rdc_files/reply")"
  replied "$rdc_sum $rdc_line"
}
endef
