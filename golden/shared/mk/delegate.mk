
# --- Module: an agent that answers prompts ----------------------------------------------------------------------------
define RDC_MODULE_DELEGATE
# The prompt is given on standard input; the last line that is not empty decides, and anything but a word is FAIL.
by_agent() {
  case $rdc_kind:${rdc_is_shown-} in pass_fail: | yes_no:) ;; *) return 1 ;; esac
  rdc_low='PASS or FAIL'; [ "$rdc_kind" = pass_fail ] || rdc_low='YES or NO'
  filled "$rdc_ask_U"
  { printf '%s\n\nEnd your answer with a line that is just %s.\n' "$rdc_value" "$rdc_low" > "$rdc_files/message"; } \
    2> /dev/null || fail "the state cannot be written: $rdc_files"
  true > "$rdc_files/reply"
  if tell; then
    export RDC_AGENT_TYPE=''
    # Not around `call`: what an interruption says is for our own output.
    # shellcheck disable=SC2016 # its own shell expands it
    call sh -c 'exec sh -c "$1" < "$2" > "$3"' rdc "$(named_agent)" "$rdc_files/message" "$rdc_files/reply"
    unset RDC_AGENT_TYPE
  else rdc_code=126; fi
  LC_ALL=C tr -c '\n\t -~\200-\377' '?' < "$rdc_files/reply" | sed 's/^/    /' >&2
  verdict
  [ -z "${rdc_folders-}" ] || copy reply "answers/$rdc_node.$rdc_call"
  rm -f "$rdc_files/message" "$rdc_files/reply"
  ended 0
}
# The command of an agent; a name beats a command that is called so.
# shellcheck disable=SC2016 # its own shell expands it
named_agent() {
  rdc_value=$rdc_given_AGENT
  case $rdc_given_AGENT in
    claude-code) rdc_value='claude -p --output-format text --permission-mode dontAsk' ;;
    codex) rdc_value='codex exec --ephemeral --color never -s read-only -' ;;
    gemini) rdc_value='gemini -o text --approval-mode plan --skip-trust' ;;
    llm) rdc_value='llm' ;;
    copilot) rdc_value='copilot -s --no-ask-user' ;;
    opencode) rdc_value='opencode run' ;;
    cursor) rdc_value='cursor-agent -p --output-format text -- "$(cat)"' ;;
  esac
  printf '%s' "$rdc_value"
}
verdict() {
  rdc_outcome='fail'
  rdc_says=$(LC_ALL=C awk 'NF { last = toupper($0) } END { gsub(/[^A-Z]/, "", last); print last }' "$rdc_files/reply")
  if [ "$rdc_code" -ne 0 ]; then
    say "    the agent ended with exit code $rdc_code, so this counts as FAIL"
    return
  fi
  case $rdc_says in
    PASS | YES | OK) rdc_outcome='pass' ;;
    FAIL | NO) ;;
    *) say "    the last line of the answer is not PASS, FAIL, YES or NO, so this counts as FAIL" ;;
  esac
}
endef
