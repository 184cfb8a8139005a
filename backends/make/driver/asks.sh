# --- Questions: replies come from the terminal, from a file, or from `make answer` ---
ask() {
  shown_text show; [ -z "$rdc_value" ] || say "$rdc_value"
  replies; if from_file || from_terminal; then return; fi
  [ "$rdc_verb" = step ] || {
    quoted "$rdc_id"; rdc_word="rdc: to answer: ${rdc_again}answer STEP=$rdc_value REPLY="
    say "$rdc_word$rdc_good"; say "$rdc_word$rdc_bad"
    say "rdc: to continue: ${rdc_again}resume"
  }
  end 75 "WAITING $rdc_id"
}
replies() { case $rdc_kind in yes_no) rdc_good=yes rdc_bad=no ;; *) rdc_good=pass rdc_bad=fail ;; esac; }
read_reply() { # sets rdc_outcome for the reply $1
  rdc_outcome=pass
  case $1 in [Pp][Aa][Ss][Ss] | [Yy][Ee][Ss]) ;; [Ff][Aa][Ii][Ll] | [Nn][Oo]) rdc_outcome=fail ;; *) return 1 ;; esac
}
from_terminal() {
  [ -t 0 ] && [ -t 2 ] || return
  while printf '%s [%s/%s] ' "$rdc_id" "$rdc_good" "$rdc_bad" >&2; do
    read -r rdc_word || end 75 "WAITING $rdc_id"
    case $rdc_kind$rdc_word in yes_noy | pass_failp) rdc_word=yes ;; yes_non | pass_failf) rdc_word=no ;; esac
    ! read_reply "$rdc_word" || break
  done
  ended 0
}
read_answers() { # before the first step: lines `STEP REPLY` and `REPLY`, or `STEP<<WORD`, the reply and `WORD`
  rdc_answers='' rdc_used=' ' rdc_sum=none
  [ -n "$rdc_ANSWERS" ] || return 0
  [ -f "$rdc_ANSWERS" ] && [ -r "$rdc_ANSWERS" ] || fail "cannot read the answers: $rdc_ANSWERS"
  rdc_sum=$(cksum < "$rdc_ANSWERS" | tr ' ' -)
  [ -n "$rdc_sum" ] || fail "cannot read the answers: $rdc_ANSWERS; is cksum on PATH?"
  rdc_answers=$({
    for rdc_word in $rdc_order; do take "$rdc_word"; case $rdc_kind in *_*) printf '%s\n' "$rdc_id" ;; esac; done
    echo; cat < "$rdc_ANSWERS"; } | awk '
    function wrong(what) { print what; is_wrong = 1; exit 1 }
    function give(at, word, step) {
      if (tolower(word) !~ /^(pass|fail|yes|no)$/ || step != "" && !(step in asks)) wrong(at ": " word)
      print at, word, step
    }
    !start { if ($0 == "") start = NR; else asks[$0]; next }
    { at = NR - start; sub(/\r$/, ""); if (at == 1) sub(/^\357\273\277/, "") }
    last != "" && $0 != last { text = text $0; next }
    last != "" { give(first, text, step); last = ""; next }
    { sub(/(^|[ \t])#.*/, ""); sub(/^[ \t]+/, ""); sub(/[ \t]+$/, ""); step = $0 }
    $0 == "" { next }
    index($0, "<<") > 1 && substr($0, 1, index($0, "<<") - 1) in asks {
      sub(/<<.*/, "", step); sub(/^.*<</, ""); last = $0; first = at; text = ""; next
    }
    { sub(/[ \t]*[^ \t]+$/, "", step); give(at, $NF, step) }
    END { if (last != "" && !is_wrong) wrong(first ": the last line of this reply is missing") }
  ') || fail "$rdc_ANSWERS has an invalid reply: line ${rdc_answers##*"$rdc_eol"}"
}
from_file() { # takes the next unused reply, preferably one for this step
  rdc_found=''
  while [ -n "$rdc_answers" ] && read -r rdc_line rdc_word rdc_step; do
    case $rdc_used in *" $rdc_line "*) continue ;; esac
    [ "$rdc_step" != "$rdc_id" ] || { rdc_found="$rdc_line $rdc_word"; break; }
    [ -n "$rdc_step$rdc_found" ] || rdc_found="$rdc_line $rdc_word"
  done << answers
$rdc_answers
answers
  [ -n "$rdc_found" ] && read_reply "${rdc_found#* }" || return
  rdc_used="$rdc_used${rdc_found% *} "; ended 0 "$rdc_sum ${rdc_found% *}"
}
