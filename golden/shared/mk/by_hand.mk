
# --- Module: answers of people in place of agents and tools, and long replies -----------------------------------------
define RDC_MODULE_BY_HAND
# The ids of steps that can be answered, a line each.
asks() {
  (for rdc_word in $rdc_order; do
    look_at "$rdc_word"
    case $rdc_kind_U in
      pass_fail | yes_no | confirm | gate | input | select | agents | tool) printf '%s\n' "$rdc_id_U" ;;
    esac
  done)
}
check_lines() { :; } # an answer of an agent is any text
rdc_is_hand=''

# Questions are kept under the names of their steps, as they are written in names of files.
show_question() {
  filled "$rdc_ask_U"
  said; rdc_prompt=prompts/${rdc_said#*/}
  keep "$rdc_value" "$rdc_prompt"
  [ ! -s "$rdc_files/$rdc_prompt" ] || say "$(visible < "$rdc_files/$rdc_prompt")"
  node_words; options
}

# Puts to a person what there is no command for.
by_hand() {
  prepare_hand
  visible < "$rdc_asked" | sed -e 's/^/    /' -e 's/ *$//' >&2
  if [ -t 0 ] && [ -t 2 ]; then
    say "$rdc_id: your answer (end it with Ctrl-D)"
    while text_of - && [ -s "$rdc_files/reply" ]; do
      if ! is_empty; then replied ''; return; fi
      say "the answer is empty; your answer:"
    done
  fi
  [ "$rdc_verb" != step ] || end 75 "WAITING $rdc_id"
  rdc_word='AGENT=COMMAND'; [ "$rdc_kind" = agents ] || rdc_word='TOOLS=FILE'
  say "rdc: to answer: ${rdc_again}answer STEP=$(quoted "$rdc_id") FILE=FILE"
  say "rdc: to go on:  ${rdc_again}resume   (or ${rdc_again}resume $rdc_word)"
  end 75 "WAITING $rdc_id"
}

# Lets rdc_asked be the file of what would be given to a command.
prepare_hand() {
  rdc_entries=${rdc_entries_U-} rdc_is_hand=yes rdc_asked=$rdc_files/prompts/.0
  prepare_call "$rdc_call_U"
  [ "$rdc_kind" != tool ] || informed helper shown "$rdc_files" "$(registers)" "$rdc_asked" || unkept
}

# Takes the answer that the file of answers has for this very step.
by_file() {
  [ -n "${rdc_given_ANSWERS-}" ] && [ "${rdc_entries_U:--}" = - ] && is_named || return 1
  prepare_hand
  rdc_kind=input # a text
  from_file && return
  rdc_kind=$rdc_kind_U rdc_is_hand=''
  return 1
}
is_named() {
  rdc_free_texts=yes
  RDC_NAME=$rdc_id RDC_SUM=$(cksum < "$rdc_given_ANSWERS" | tr ' ' -) LC_ALL=C awk '
    FILENAME == ARGV[1] { if ($2 == "end" && $7 == ENVIRON["RDC_SUM"]) used[$8] = 1; next }
    { sub(/\r$/, "") }
    word != "" { if ($0 == word) word = ""; next }
    FNR == 1 { sub(/^\357\273\277/, "") }
    {
      name = ENVIRON["RDC_NAME"]; rest = substr($0, length(name) + 1)
      if (substr($0, 1, length(name)) == name && rest ~ /^([ \t]|<<)/ && !(FNR in used)) found = 1
      at = index($0, "<<")
      if (at > 1 && substr($0, 1, at - 1) !~ /[ \t]/) word = substr($0, at + 2)
    }
    END { exit !found }' "$rdc_journal" "$rdc_given_ANSWERS"
}

# Whether an agent would have said nothing; a tool may.
is_empty() {
  [ "$rdc_kind_U" = agents ] || return 1
  [ -z "$(LC_ALL=C tr -d ' \t\n\r\013\014' < "$rdc_files/reply" | LC_ALL=C cut -c 1)" ]
}
replied() {
  if [ -n "$rdc_is_hand" ]; then
    rdc_is_hand='' rdc_kind=$rdc_kind_U
    ! is_empty || fail "${1:+$rdc_given_ANSWERS:${1##* }: }the answer of step $rdc_id is empty"
    rm -f "$rdc_files/outcome"
    set -- "$1" "$rdc_files" "$rdc_files/$rdc_said" "$rdc_asked" "$rdc_files/reply"
    informed call_helper replied $$ "$rdc_files/left" "$2" "$3" "$4" "$5"
    rm -f "$rdc_files/reply" "$rdc_asked"
    called_out
    ended 0 "$1"; return
  fi
  case $rdc_kind in
    gate) true > "$rdc_files/reply" ;;
    confirm) printf '%s' "$rdc_outcome" > "$rdc_files/reply" ;;
  esac || unkept
  said; copy reply "$rdc_said"
  ended 0 "$1"
}

# Records the answer that a person gives by make: a word, a file, or what comes on standard input.
answer() {
  take_up; ready_to_answer
  case $rdc_last in "begin "*) ;; *) fail "no step waits for an answer" ;; esac
  case $rdc_kind in
    bash | sh) fail "no step waits for an answer" ;;
    agents | tool) at_rest || fail "no step waits for an answer: step $rdc_id was interrupted; ${rdc_again}resume" ;;
  esac
  [ "$rdc_id" = "${rdc_given_STEP-}" ] ||
    fail "step '$(printf '%s' "${rdc_given_STEP-}" | tr -c '[:print:]' ' ')' does not wait for an answer, \
step '$rdc_id' does"
  take_reply
  case $rdc_kind in
    agents | tool)
      ! is_empty || fail "the answer of step $rdc_id is empty"
      prepare_helper; called; prepare_hand; tell || fail "step $rdc_id cannot be answered" ;;
    *) reads "$rdc_files/reply" || fail "this is no answer of step $rdc_id: $(refused_reply); REPLY=$(hints ' or ')" ;;
  esac
  sign
  now; rdc_start=$rdc_now
  replied ''
  pass_break
  rdc_says=$({ LC_ALL=C tr -cd 'A-Z_, ' < "$rdc_files/calls/given"; } 2> /dev/null)
  say "rdc: to go on:  ${rdc_again}resume${rdc_says:+   (with $rdc_says, as before)}"
}
take_reply() {
  rdc_says="REPLY is missing: ${rdc_again}answer STEP=$(quoted "$rdc_id")"
  case $rdc_kind in
    agents | tool) rdc_says="$rdc_says FILE=FILE" ;;
    *) rdc_says="$rdc_says REPLY=$(hints ' or ')" ;;
  esac
  if [ -n "${rdc_given_FILE-}" ]; then
    [ -f "$rdc_given_FILE" ] && [ -r "$rdc_given_FILE" ] || fail "the answer cannot be read: $rdc_given_FILE"
    text_of "$rdc_given_FILE"
  elif [ "${rdc_given_REPLY--}" != - ]; then
    printf '%s' "$rdc_given_REPLY" > "$rdc_files/reply" || unkept
  else
    [ ! -t 0 ] || [ "${rdc_given_REPLY-}" = - ] || fail "$rdc_says"
    text_of -
    [ -s "$rdc_files/reply" ] || [ "${rdc_given_REPLY-}" = - ] || fail "$rdc_says"
  fi
}

# Lets `reply` be the text of the file $1, `-` for standard input, without a line end at its end.
text_of() {
  if [ "$1" = - ]; then cat > "$rdc_files/message"; else cat < "$1" > "$rdc_files/message"; fi || unkept
  [ "$(wc -c < "$rdc_files/message")" -le 1048577 ] || fail "the answer is longer than 1,048,576 bytes"
  is_text "$rdc_files/message" || fail "the answer is not UTF-8, or holds a NUL character"
  LC_ALL=C awk 'NR > 1 { printf "\n" } { printf "%s", $0 }' "$rdc_files/message" > "$rdc_files/reply" || unkept
  rm -f "$rdc_files/message"
}
endef
