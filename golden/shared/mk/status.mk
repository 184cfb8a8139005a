
# --- Module: what was done --------------------------------------------------------------------------------------------
define RDC_MODULE_STATUS
# A line for each step that has finished, and where the run stands. It takes no lock, and changes nothing.
status() {
  read_journal
  [ "$rdc_count" -gt 0 ] || { echo 'no run'; return; }
  rdc_end=${rdc_last#over ? } rdc_end=${rdc_end%% *}
  if is_over && ! is_own; then echo "over: $rdc_end, a run of a different version of the Makefile"; return; fi
  go_to_node
  LC_ALL=C awk -v count="$rdc_count" '
    function tell(how) {
      if (node != "") print node, word, code, attempt, time, said (said == "" || how == "" ? "" : ", ") how
      node = ""
    }
    NR > count { exit }
    { sub(/ [|] .*/, "") }
    $2 == "begin" { tell(index($0, " by ") ? substr($0, index($0, " by ") + 4) : ""); attempt = $4 }
    $2 == "end" { node = $3; word = $4; code = $5; time = $6; said = $7 == "assumed" ? "as assumed" : "" }
    $2 == "over" { tell($4) }
    END { tell("") }
  ' "$rdc_journal" | while read -r rdc_node rdc_outcome rdc_code rdc_attempt rdc_time rdc_way; do
    { take "$rdc_node" && is_word "$rdc_outcome" && is_number "$rdc_code" && is_number "$rdc_attempt" &&
      is_number "$rdc_time"; } || damaged
    called; rdc_title=$rdc_says
    in_words "$rdc_outcome"; code_in_words "$rdc_code"; details "$rdc_time" "$rdc_way"
    printf '%s %s  (%s)\n' "$rdc_low" "$rdc_title" "$rdc_says" 2> /dev/null || : # the last line tells
  done || exit
  called; rdc_says="at $rdc_says"
  ! is_left || rdc_says="$rdc_says, its command still runs (pid $rdc_left)"
  ! is_over || rdc_says="over: $rdc_end"
  echo "$rdc_says" 2> /dev/null || fail "standard output cannot be written"
}
endef
