# --- Questions: answered at the terminal, from a file, or by `make answer` ---
ask() {
  text_of ask; [ -z "$rdc_value" ] || say "$rdc_value"
  words_of_reply
  if from_file || from_terminal; then return; fi
  if [ "$rdc_verb" != step ]; then
    quoted "$rdc_id"
    for rdc_word in $rdc_replies; do
      say "rdc: to answer: ${rdc_again}answer STEP=$rdc_value REPLY=$rdc_word"
    done
    say "rdc: to go on:  ${rdc_again}resume"
  fi
  end 75 "WAITING $rdc_id"
}
words_of_reply() { case $rdc_kind in yes_no) rdc_replies='yes no' ;; *) rdc_replies='pass fail' ;; esac; }
read_reply() { # sets rdc_outcome to what $1 means
  case $1 in
    [Pp][Aa][Ss][Ss] | [Yy][Ee][Ss]) rdc_outcome=pass ;;
    [Ff][Aa][Ii][Ll] | [Nn][Oo]) rdc_outcome=fail ;;
    *) return 1 ;;
  esac
}
from_terminal() {
  { [ -t 0 ] && [ -t 2 ]; } || return 1
  while :; do
    printf '%s [%s] ' "$rdc_id" "${rdc_replies% *}/${rdc_replies#* }" >&2
    read -r rdc_word || end 75 "WAITING $rdc_id"
    case $rdc_kind$rdc_word in yes_noy | pass_failp) rdc_word=yes ;; yes_non | pass_failf) rdc_word=no ;; esac
    ! read_reply "$rdc_word" || break
  done
  ended 0
}

# Reads the file of answers before anything runs: lines `STEP REPLY` and `REPLY`, or `STEP<<WORD`, REPLY and `WORD`.
read_answers() {
  rdc_answers='' rdc_used=' ' rdc_sum=''
  [ -n "$rdc_ANSWERS" ] || return 0
  [ -f "$rdc_ANSWERS" ] && [ -r "$rdc_ANSWERS" ] || fail "the answers cannot be read: $rdc_ANSWERS"
  rdc_sum=$(cksum < "$rdc_ANSWERS" | tr ' ' -)
  [ -n "$rdc_sum" ] || fail "the answers cannot be read: $rdc_ANSWERS; is cksum on PATH?"
  rdc_answers=$({ questions; echo; cat < "$rdc_ANSWERS"; } | LC_ALL=C awk '
    function give(at, word, step) {
      if (tolower(word) ~ /^(pass|fail|yes|no)$/ && (step == "" || step in asks)) print at, word, step
      else wrong(at ": " word)
    }
    function wrong(what) { print what; bad = 1; exit 1 }
    !start { if ($0 == "") start = NR; else asks[$0]; next }
    { at = NR - start; sub(/\r$/, "") }
    at == 1 { sub(/^\357\273\277/, "") }
    end != "" { if ($0 != end) { text = text $0; next } give(first, text, step); end = ""; next }
    { sub(/(^|[ \t])#.*/, ""); sub(/^[ \t]+/, ""); sub(/[ \t]+$/, "") }
    $0 == "" { next }
    {
      here = index($0, "<<"); step = substr($0, 1, here - 1)
      if (here > 1 && step in asks) { end = substr($0, here + 2); first = at; text = ""; next }
      step = $0; sub(/[ \t]*[^ \t]+$/, "", step)
      give(at, $NF, step)
    }
    END { if (!bad && end != "") wrong(first ": its last line is missing") }
  ') || fail "this is no answer of a step that asks: line ${rdc_answers##*"$rdc_line"}"
}
questions() { # the steps that ask, a line each
  (for rdc_word in $rdc_order; do
    take "$rdc_word"
    case $rdc_kind in pass_fail | yes_no) printf '%s\n' "$rdc_id" ;; esac
  done)
}
# Takes the next answer of the file, each once: one for the step itself before one for any.
from_file() {
  [ -n "$rdc_answers" ] || return
  rdc_found=''
  while read -r rdc_at rdc_word rdc_step; do
    case $rdc_used in *" $rdc_at "*) continue ;; esac
    [ "$rdc_step" != "$rdc_id" ] || { rdc_found="$rdc_at $rdc_word"; break; }
    [ -n "$rdc_step$rdc_found" ] || rdc_found="$rdc_at $rdc_word"
  done << answers
$rdc_answers
answers
  [ -n "$rdc_found" ] || return
  rdc_used="$rdc_used${rdc_found% *} "
  read_reply "${rdc_found#* }"
  ended 0 "$rdc_sum ${rdc_found% *}"
}
