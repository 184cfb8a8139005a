
# --- Module: what was done and by whom; runs beside each other, and runs that are over -------------------------------
define RDC_MODULE_RUNS
status() {
  read_journal
  [ "$rdc_count" -gt 0 ] || { echo 'no run'; return; }
  rdc_end=${rdc_last#over ? } rdc_end=${rdc_end%% *}
  if is_over && ! is_own; then echo "over: $rdc_end, a run of a different version of the Makefile"; return; fi
  go_to_node
  LC_ALL=C awk -v count="$rdc_count" '
    function tell(way) {
      if (node != "") print node, word, code, attempt, time, who, said (said == "" || way == "" ? "" : ", ") way
      node = ""
    }
    function signed(from) { while (from <= NF && $from != "by") from++; return $(from + 1) "/" $(from + 2) }
    NR > count { exit }
    { sub(/ [|] .*/, "") }
    $2 == "jump" || $5 == "again" { tell(""); print $3, $2, 0, 1, 0, signed(4) }
    $2 == "begin" { tell(index($0, " by ") ? substr($0, index($0, " by ") + 4) : ""); attempt = $4 }
    $2 == "end" { node = $3; word = $4; code = $5; time = $6; who = signed(7); said = "" }
    $2 == "end" && $7 == "assumed" { said = "as assumed" }
    $2 == "over" { tell($4) }
    END { tell("") }
  ' "$rdc_journal" | while read -r rdc_node rdc_outcome rdc_code rdc_attempt rdc_time rdc_who rdc_way; do
    { take "$rdc_node" && is_number "$rdc_code" && is_number "$rdc_attempt" && is_number "$rdc_time"; } || damaged
    called; rdc_title=$rdc_says rdc_says=''
    case $rdc_outcome in
      jump) rdc_low='goto' ;;
      begin) rdc_low='rerun' ;;
      *)
        is_word "$rdc_outcome" || damaged
        in_words "$rdc_outcome"; code_in_words "$rdc_code"; details "$rdc_time" "$rdc_way"
        ;;
    esac
    who "$rdc_who"
    printf '%s %s  (%s)\n' "$rdc_low" "$rdc_title" "$rdc_says" 2> /dev/null || : # the last line tells
  done || exit
  called; rdc_says="at $rdc_says"
  ! is_left || rdc_says="$rdc_says, its command still runs (pid $rdc_left)"
  ! is_over || rdc_says="over: $rdc_end"
  echo "$rdc_says" 2> /dev/null || fail "standard output cannot be written"
}
who() { # adds who decided, and why, to what is told of a step
  [ "$1" != / ] || return 0
  rdc_value=$(RDC_WHO=${1%%/*} RDC_NOTE=${1#*/} LC_ALL=C awk '
    function plain(word,    at, text) {
      for (; at = index(word, "="); word = substr(word, at + 3)) {
        text = text substr(word, 1, at - 1)
        if (word != "=") text = text sprintf("%c", 16 * digit(substr(word, at + 1, 1)) + digit(substr(word, at + 2, 1)))
      }
      return text word
    }
    function digit(one) { return index("0123456789ABCDEF", one) - 1 }
    BEGIN {
      note = plain(ENVIRON["RDC_NOTE"])
      text = "by " plain(ENVIRON["RDC_WHO"]) (note == "" ? "" : ": " note)
      gsub(/\302[\200-\237]|\330\234|\341\240\216|\342\200[\213-\217\250-\256]/, "?", text)
      gsub(/\342\201[\240-\257]|\357\273\277/, "?", text)
      rest = text # what is no UTF-8 is not shown
      gsub(/[\302-\337][\200-\277]|[\340-\357][\200-\277][\200-\277]/, "", rest)
      gsub(/[\360-\364][\200-\277][\200-\277][\200-\277]/, "", rest)
      if (rest ~ /[\200-\377]/) gsub(/[\200-\377]/, "?", text)
      print text
    }' | LC_ALL=C tr -c '\n -~\200-\377' '?')
  rdc_says="$rdc_says${rdc_says:+, }$rdc_value"
}

# Where each run of this document stands.
status_of_all() {
  rdc_base=${rdc_state%.make} rdc_base=${rdc_base%"${rdc_given_AS:+@$rdc_given_AS}"} rdc_number=0
  for rdc_state in "$rdc_base.make" "$rdc_base"@*.make; do
    [ -e "$rdc_state/journal" ] || continue
    rdc_number=1 rdc_word=${rdc_state#"$rdc_base"} rdc_word=${rdc_word%.make} rdc_word=${rdc_word#@}
    rdc_files=$rdc_state rdc_journal=$rdc_state/journal
    rdc_text=$(status 2> /dev/null | tail -n 1)
    printf '%-20s %s\n' "${rdc_word:+AS=}${rdc_word:-(no name)}" "$rdc_text" | LC_ALL=C tr -c '\n -~\200-\377' '?'
  done
  [ "$rdc_number" = 1 ] || echo 'no run'
}
case $rdc_verb:${rdc_given_ALL-} in status: | status:0 | status:no) ;; status:*) set -- status_of_all ;; esac

# The runs that were archived, the oldest first; of these the newest KEEP stay.
history() {
  rdc_keep=${rdc_given_KEEP-}
  case $rdc_keep in *[!0-9]* | 0?* | ?????????*) fail "KEEP takes a number" ;; esac
  [ -z "$rdc_keep" ] || lock
  [ ! -h "$rdc_state/history" ] || fail "$rdc_state/history is a link: what it leads to may belong to others"
  rdc_list=$(for rdc_word in "$rdc_state"/history/[1-9]*; do
    [ ! -e "$rdc_word" ] || case ${rdc_word##*/} in *[!0-9]*) ;; *) echo "${rdc_word##*/}" ;; esac
  done | sort -n)
  [ -n "$rdc_list" ] || { echo 'no run was archived'; return; }
  # shellcheck disable=SC2086 # it is a list of numbers
  set -- $rdc_list
  while [ -n "$rdc_keep" ] && [ $# -gt "$rdc_keep" ]; do
    rm -rf "$rdc_state/history/$1" 2> /dev/null || fail "it cannot be removed: $rdc_state/history/$1"
    shift
  done
  for rdc_number; do
    LC_ALL=C awk -v number="$rdc_number" '
      { sub(/ [|] .*/, "") }
      NR == 1 { run = $(NF - 1) }
      $2 == "over" { over = $4 }
      $2 == "jump" { over = "" }
      END { print number, run, over == "" ? "not over" : over }
    ' "$rdc_state/history/$rdc_number/journal" 2> /dev/null | LC_ALL=C tr -c '\n -~' '?'
  done
}
endef
