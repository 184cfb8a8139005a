# --- The journal: one checked line per record, written at once, with its number; each fact is written twice ---
# `run PROGRAM ID 1`, `begin STEP ATTEMPT`, `end STEP OUTCOME CODE TIME` (`assumed`, or `SUM LINE`), `over CODE RESULT`
record() {
  rdc_count=$((rdc_count + 1))
  case $1 in run*) rdc_first="1 $* | 1 $*" ;; end* | over*) is_there ;; esac
  printf '%s | %s\n' "$rdc_count $*" "$rdc_count $*" 2> /dev/null >> "$rdc_journal" && return
  rdc_says="${rdc_ended:+$rdc_ended, but this cannot be recorded}"
  fail "${rdc_says:-the state cannot be written}: $rdc_journal; free some space, then: ${rdc_again}resume$rdc_assume"
}
is_there() { # checks that the state still exists after a command or a question
  { read -r rdc_value < "$rdc_journal"; } 2> /dev/null && [ "$rdc_value" = "$rdc_first" ] && return
  trap - EXIT # a lock that is there is that of another run
  say "rdc: move the directory back, then: ${rdc_again}resume; if it was deleted, start over: $rdc_start"
  fail "${rdc_ended:+$rdc_ended, and this is lost: }$rdc_state was removed or replaced during the run"
}
# Reads the journal without changing it. A write that was cut off leaves part of a line.
read_journal() {
  rdc_count=0 rdc_tail=whole rdc_records=''
  [ -e "$rdc_journal" ] || return 0
  rdc_text=$({ [ -f "$rdc_journal" ] && tr -c '\n -~' '?' < "$rdc_journal" && echo .; } 2> /dev/null | awk '
    function judged(line, number, record) {
      number = count + 1 " "; record = line; sub(/ [|] .*/, "", record)
      if (line ~ /[?]/ || index(line, number) != 1 && index(number, line) != 1) return "damaged"
      if (line != record " | " record) return index(record " | " record, line) == 1 ? "torn" : "damaged"
      count++; print substr(record, length(number) + 1); return "whole"
    }
    NR > 1 && judged(held) != "whole" { tail = "damaged"; exit }
    { held = $0 }
    END {
      if (tail == "" && !sub(/[.]$/, "", held)) exit 1 # held is the text after the last line end
      if (tail == "" && held != "") tail = judged(held) == "damaged" ? "damaged" : "torn"
      print tail == "" ? "whole" : tail, count + 0
    }') || fail "the state cannot be read: $rdc_journal; ${rdc_again}clean archives it"
  rdc_records=${rdc_text%"$rdc_eol"*} rdc_tail=${rdc_text##*"$rdc_eol"}
  rdc_count=${rdc_tail#* } rdc_tail=${rdc_tail% *} rdc_value="1 ${rdc_records%%"$rdc_eol"*}"
  rdc_first="$rdc_value | $rdc_value"
  [ "$rdc_tail" != damaged ] || damaged $((rdc_count + 1))
}
damaged() { fail "$rdc_journal:$1: the journal is damaged or from another rdc version; ${rdc_again}clean archives it"; }
has_ended() { case $rdc_records in *"$rdc_eol"over\ [01]\ [CS]*) ;; *) return 1 ;; esac; }
is_own() { case $rdc_records in "run $rdc_program "*) ;; *) return 1 ;; esac; }
# Moves the run to the step that its records show. Each record must fit the program.
replay() {
  is_own || fail "this run was started with another version of the Makefile; ${rdc_again}clean archives it"
  rdc_line=0; set -f # a record is words
  while read -r rdc_record; do
    rdc_line=$((rdc_line + 1)); repeat $rdc_record || damaged "$rdc_line"
  done << records
$rdc_records
records
}
repeat() {
  case ${1-}$# in
    run4) [ "$rdc_line$4" = 11 ] || return; rdc_run=$3; go "$rdc_entry"; arrive ;;
    begin3) [ -z "$rdc_over" ] && [ "$2 $3" = "$rdc_name $rdc_attempt" ] && rdc_begun=yes ;;
    end[567])
      [ "$rdc_begun$2" = "yes$rdc_name" ] && is_number "$4" && is_number "$5" || return
      case $3 in pass | fail) rdc_outcome=$3 rdc_begun='' ;; *) return 1 ;; esac
      [ "${6-}" != "$rdc_sum" ] || rdc_used="$rdc_used${7-} "
      if [ "$rdc_verb" = status ]; then show "$@"; else follow; fi ;;
    over3) [ "$rdc_closed$2 $3" = "${rdc_code-} $rdc_over" ] && rdc_closed=yes ;;
    *) return 1 ;;
  esac
}
is_number() { case $1 in '' | *[!0-9]* | 0?* | ???????????????*) return 1 ;; esac; }
