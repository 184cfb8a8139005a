# --- Module: agents and tools -----------------------------------------------------------------------------------------
entries() { rdc_entries_U=$*; }
no_answer() { rdc_none_U=$1; }

# Refuses a run that would come to an agent or a tool without a command.
check_commands() {
  prepare_helper
  [ -n "${rdc_python_wanted-}" ] || return 0
  RDC_AGENT_GIVEN=${rdc_given_AGENT-} RDC_TOOLS_FILE=${rdc_given_TOOLS-}
  export RDC_AGENT_GIVEN RDC_TOOLS_FILE
  rdc_says=$(helper check "$rdc_python_wanted") || fail "$rdc_says"
  unset RDC_AGENT_GIVEN RDC_TOOLS_FILE
}

perform_agents() { perform_call; }
perform_tool() { perform_call; }
perform_call() {
  rdc_outcome=$rdc_none_U rdc_entries=${rdc_entries_U-}
  if tell; then call_out "$rdc_call_U"
  else true > "$rdc_files/answers/$rdc_unit.$rdc_call"; fi
  ended 0
}

# A call without an outcome leaves the unit to be resumed.
no_call() {
  end_calls
  [ "$rdc_verb" = step ] || say "rdc: when the cause is removed: ${rdc_again}resume RERUN=1"
  fail "unit $rdc_id has no outcome: the call ended with exit code $rdc_code"
}

# Calls as the JSON $1 says: the prompts of the unit's entries, and where their answers go.
call_out() {
  keep "$1" call
  rdc_answer=$rdc_files/answers/$rdc_unit
  set -- "$rdc_files/call" "$(registers)" "$rdc_files/values" "$rdc_files/outcome" "$rdc_answer.$rdc_call"
  for rdc_entry in $rdc_entries; do
    if [ "$rdc_entry" = - ]; then rdc_value=$rdc_ask_U; else eval "rdc_value=\$rdc_entry${rdc_entry#_}_U"; fi
    rdc_prompt=$rdc_unit${rdc_entry#-}.$rdc_call
    filled "$rdc_value"
    keep "$rdc_value" "prompts/$rdc_prompt"
    set -- "$@" "$rdc_files/prompts/$rdc_prompt"
  done
  for rdc_entry in $rdc_entries; do set -- "$@" "$rdc_answer${rdc_entry#-}.$rdc_call"; done
  rm -f "$rdc_files/outcome"
  RDC_AGENT_GIVEN=${rdc_given_AGENT-} RDC_TOOLS_FILE=${rdc_given_TOOLS-}
  export RDC_AGENT_GIVEN RDC_TOOLS_FILE
  call_helper call $$ "$rdc_files/left" "$@"
  unset RDC_AGENT_GIVEN RDC_TOOLS_FILE
  mask "$rdc_answer.$rdc_call"
  for rdc_entry in $rdc_entries; do mask "$rdc_answer${rdc_entry#-}.$rdc_call"; done
  { read -r rdc_outcome < "$rdc_files/outcome" && is_word "$rdc_outcome"; } 2> /dev/null || no_call
}
registers() {
  for rdc_word in $rdc_counters; do eval "printf ' rdc_n_$rdc_word=%s' \"\$rdc_r_$rdc_word\""; done
  for rdc_word in $rdc_slots; do eval "printf ' rdc_s_$rdc_word=%s' \"\$rdc_r_$rdc_word\""; done
}

# Lets the agent decide that was named for this run: the last line of its answer counts, and all but a word is fail.
by_agent() {
  case $rdc_kind in pass_fail | yes_no) ;; *) return 1 ;; esac
  rdc_entries=-
  tell
  call_out "$rdc_python_question"
  tail -n 1 "$rdc_files/answers/$rdc_unit.$rdc_call" > "$rdc_files/reply" || unkept
  reads "$rdc_files/reply" || rdc_outcome=fail
  ended 0
}
help_calls() {
  help_helper
  [ -n "${rdc_python_wanted-}" ] || return 0
  help_line "$rdc_begin AGENT=COMMAND" 'the command of the agents; else RDC_AGENTS (a file), RDC_AGENT'
  help_line "$rdc_begin TOOLS=FILE" 'the commands of the tools: lines CONNECTION=COMMAND'
}
