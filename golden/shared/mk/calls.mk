
# --- Module: agents and tools -----------------------------------------------------------------------------------------
define RDC_MODULE_CALLS
entries() { rdc_entries_U=$*; }
no_answer() { rdc_none_U=$1; }
rdc_folders="$rdc_folders calls said entries"
help_steps() { :; }; help_task() { :; }

# Has the helper do what the words say, and tells it what make was given.
informed() {
  for rdc_word in AGENT AGENTS AGENT_CALLS AGENT_MODEL AGENT_RETRIES AGENT_TIMEOUT JOBS MOCK TOOLS; do
    eval "RDC_GIVEN_$rdc_word=\${rdc_given_$rdc_word-}; export RDC_GIVEN_$rdc_word"
  done
  export RDC_GIVEN_SECRETS="${rdc_secrets-}"
  "$@"
  set -- "$?"
  unset RDC_GIVEN_AGENT RDC_GIVEN_AGENT_CALLS RDC_GIVEN_AGENT_MODEL RDC_GIVEN_AGENT_RETRIES RDC_GIVEN_AGENT_TIMEOUT
  unset RDC_GIVEN_AGENTS RDC_GIVEN_JOBS RDC_GIVEN_MOCK RDC_GIVEN_TOOLS RDC_GIVEN_SECRETS
  return "$1"
}

# Refuses a run that was given something wrong. A step of a run that goes on is not asked about if it called nothing.
check_commands() {
  check_breaks
  prepare_helper
  rdc_says=$(informed helper check "${rdc_python_wanted-[]}") || fail "$rdc_says"
  case $rdc_verb:${rdc_kind-} in
    resume:agents | resume:tool) [ -n "$rdc_done" ] || ! at_rest || rdc_kind=waiting; keep_budget ;;
    resume:*) keep_budget ;;
  esac
}

# Whether nothing was called since the step began, or something waits before it is called again.
at_rest() {
  { read -r rdc_value rdc_word < "$rdc_files/process"; } 2> /dev/null || rdc_value=''
  [ "$rdc_value" != "$rdc_count" ] || [ "$(tail -n 1 "$rdc_files/calls/tally" 2> /dev/null)" = rest ]
}

# --- A call -----------------------------------------------------------------------------------------------------------
perform_agents() { perform_call; }
perform_tool() { perform_call; }
perform_call() {
  rdc_outcome=$rdc_none_U rdc_entries=${rdc_entries_U-}
  if tell; then
    ! by_file || return 0
    call_out "$rdc_call_U"
  else said; true > "$rdc_files/$rdc_said"; fi
  if [ "$rdc_outcome" = - ]; then by_hand; else ended 0; fi
}

# A call without an outcome leaves the step to be resumed.
no_call() {
  end_calls
  [ "$rdc_verb" = step ] || say "rdc: when the cause is removed: ${rdc_again}resume RERUN=1"
  fail "step $rdc_id has no outcome: the call ended with exit code $rdc_code"
}

# Writes down what is called, as the JSON $1 says, and the prompts of the step's entries.
prepare_call() {
  keep "$1" call
  said; rdc_prompts=0
  for rdc_entry in $rdc_entries; do
    if [ "$rdc_entry" = - ]; then rdc_value=$rdc_ask_U; else eval "rdc_value=\$rdc_entry${rdc_entry#_}_U"; fi
    filled "$rdc_value"
    keep_prompt
    rdc_prompts=$((rdc_prompts + 1))
  done
}
keep_prompt() { keep "$rdc_value" "prompts/.$rdc_prompts"; }
call_out() {
  prepare_call "$1"
  rm -f "$rdc_files/outcome"
  set -- "$rdc_files" "$(registers)" "$rdc_files/$rdc_said"
  rdc_number=0
  while [ "$rdc_number" -lt "$rdc_prompts" ]; do
    set -- "$@" "$rdc_files/prompts/.$rdc_number"; rdc_number=$((rdc_number + 1))
  done
  informed call_helper call $$ "$rdc_files/left" "$@"
  shift 3; rm -f "$@"
  called_out
}
called_out() { # lets rdc_outcome be what the helper says, `-` where there is no command
  IFS= read -r rdc_outcome 2> /dev/null < "$rdc_files/outcome" || no_call
  case $rdc_outcome in
    '! '*)
      [ "$rdc_verb" != resume ] && [ "$rdc_verb" != run ] || say "rdc: when the cause is removed: ${rdc_again}resume"
      fail "${rdc_outcome#??}"
      ;;
    -) ;;
    *) is_word "$rdc_outcome" || no_call ;;
  esac
}
registers() {
  for rdc_word in $rdc_counters; do eval "printf ' rdc_n_$rdc_word=%s' \"\$rdc_r_$rdc_word\""; done
  for rdc_word in $rdc_slots; do eval "printf ' rdc_s_$rdc_word=%s' \"\$rdc_r_$rdc_word\""; done
}

# --- What agents and tools have said stands in `said`: `answers` has all that they said in attempts that failed too ---
said() {
  case $rdc_kind in
    agents | tool) rdc_said=said/$rdc_node.$rdc_call; return ;;
    bash | sh) rdc_said=answers/$rdc_node.$rdc_call; return ;;
  esac
  rdc_said=$rdc_id
  case $rdc_id in *[!A-Za-z0-9_.{}\ ~-]*) rdc_said=$(RDC_NAME=$rdc_id LC_ALL=C awk 'BEGIN {
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = sprintf("%%%02X", i)
    name = ENVIRON["RDC_NAME"] ""
    for (i = 1; i <= length(name); i++) {
      one = substr(name, i, 1)
      text = text (one ~ /[A-Za-z0-9_.{} ~-]/ ? one : code[one])
    }
    print substr(text, 1, 200)
  }') ;; esac
  rdc_said=answers/$rdc_said.$rdc_call
}
keep_answer() {
  key "$1"; said
  copy "$rdc_said" "values/rdc_s_$rdc_key.$rdc_count"; set_to "$1" "$rdc_count"
}
keep_field() {
  key "$1"; said; rdc_field_of=$rdc_key
  keep "$2" field
  helper extract "$rdc_files/$rdc_said" "$rdc_files/field" "$rdc_files/new" || unkept
  rdc_key=$rdc_field_of
  mv "$rdc_files/new" "$rdc_files/values/rdc_s_$rdc_key.$rdc_count" || unkept
  mask "$rdc_files/values/rdc_s_$rdc_key.$rdc_count"
  set_to "$1" "$rdc_count"
}
no_values() {
  said; true > "$rdc_files/$rdc_said" || unkept
  for rdc_word in ${rdc_gives_U-}; do rm -f "$rdc_files/outputs/$rdc_node.$rdc_call.$rdc_word"; done
}

# Lets the agent decide that was named for this run: the last line of its answer counts, and all but a word is fail.
by_agent() {
  case $rdc_kind:${rdc_given_MOCK-} in pass_fail: | yes_no:) ;; *) return 1 ;; esac
  rdc_entries=-
  tell
  call_out "$rdc_python_question"
  tail -n 1 "$rdc_files/$rdc_said" > "$rdc_files/reply" || unkept
  reads "$rdc_files/reply" || rdc_outcome=fail
  ended 0
}
help_calls() {
  help_helper
  [ -n "${rdc_python_wanted-}" ] || return 0
  help_line "$rdc_begin AGENT=NAME" 'the agents: a name such as llm, or a command; else RDC_AGENTS (a file), RDC_AGENT'
  help_line "$rdc_begin AGENTS=FILE" 'agents by type: lines TYPE=COMMAND'
  help_line "$rdc_begin AGENT_MODEL=MODEL" 'the model of an agent that is called by name'
  help_line "$rdc_begin AGENT_TIMEOUT=TIME" 'how long a call of an agent may take, such as 90s or 10m'
  help_line "$rdc_begin AGENT_RETRIES=NUMBER" 'how often a call that fails is made again'
  help_line "$rdc_begin AGENT_CALLS=NUMBER" 'how many calls of agents the whole run may make'
  help_line "$rdc_begin BREAK=STEP" 'wait when the run leaves this step; resume goes on'
  [ "$rdc_python_wanted" = '[]' ] || help_line "$rdc_begin JOBS=NUMBER" 'how many entries are called at the same time'
  help_steps; help_task
  help_line "$rdc_begin TOOLS=FILE" 'the commands of the tools: lines CONNECTION=COMMAND'
  help_line "$rdc_begin MOCK=FILE" 'a mock run: agents and tools answer from this file'
  [ -z "${rdc_artifact-}" ] || help_line "$rdc_begin OUT=FILE" 'where the last output of a complete run is written'
  help_line "${rdc_again}answer STEP=ID FILE=FILE" 'answer in place of an agent or a tool, or at length'
}
endef
