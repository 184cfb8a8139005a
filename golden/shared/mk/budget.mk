
# --- Module: how many agents a run may call: as it was told when it began, or when it went on -------------------------
define RDC_MODULE_BUDGET
begin_values() { folders; values_at_begin; keep_budget; }
keep_budget() {
  keep_breaks; keep_names; keep_steps
  [ -n "${rdc_given_AGENT_CALLS-}" ] || return 0
  mkdir -p "$rdc_files/calls" && keep "$rdc_given_AGENT_CALLS" calls/budget
}
keep_names() { # of what a later make has to be given again; the values may be secret
  rdc_says=''
  for rdc_word in AGENT AGENTS AGENT_MODEL AGENT_RETRIES AGENT_TIMEOUT MOCK OUT TOOLS; do
    eval "rdc_value=\${rdc_given_$rdc_word-}"
    [ -z "$rdc_value" ] || rdc_says="$rdc_says${rdc_says:+, }$rdc_word"
  done
  [ -z "$rdc_says" ] || { mkdir -p "$rdc_files/calls" && keep "$rdc_says" calls/given; }
}
call_number() {
  break_here
  # Of a step that goes on, entries that have answered are not called again; those of another one make room before.
  case $rdc_last in "begin $rdc_node "*) ;; *) remake entries ;; esac
  [ "$rdc_kind" != agents ] || within_budget || {
    record "over 1 STOP BUDGET $rdc_node"
    rdc_says="the budget of $rdc_budget calls of agents is spent; ${rdc_again}resume AGENT_CALLS=NUMBER goes on"
    end 1 "STOP $rdc_id: $rdc_says"
  }
  call_again; rdc_call=$((rdc_call + 1)); eval "rdc_calls_$rdc_key=\$rdc_call"
}
remake() { { rm -rf "${rdc_files:?}/$1" && mkdir "$rdc_files/$1"; } 2> /dev/null || unkept; }
keep_steps() { :; }
within_budget() {
  [ -e "$rdc_files/calls/budget" ] || return 0
  rdc_budget=$(cat "$rdc_files/calls/budget")
  is_digits "$rdc_budget" || unkept
  rdc_number=$(grep -c '^"agent ' "$rdc_files/calls/tally" 2> /dev/null)
  for rdc_word in $rdc_entries_U; do
    [ -e "$rdc_files/entries/${rdc_word#_}" ] || rdc_number=$((rdc_number + 1))
  done
  [ "$rdc_number" -le "$rdc_budget" ]
}
is_digits() { case $1 in '' | 0* | *[!0123456789]* | ??????????*) return 1 ;; esac; }
endef
