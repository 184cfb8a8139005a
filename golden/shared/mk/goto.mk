
# --- Module: the operator's jump --------------------------------------------------------------------------------------
define RDC_MODULE_GOTO
goto() {
  [ -n "${rdc_given_STEP-}" ] || fail "STEP is missing: ${rdc_again}goto STEP=ID"
  take_up; sign; stand; leave
  jump_to || fail "there is no step '$(printf '%s' "$rdc_given_STEP" | LC_ALL=C tr -c ' -~' '?')'"
  record "jump $rdc_next 1$rdc_changes$rdc_signed"
  take "$rdc_next"; rdc_attempt=1
  called
  say "rdc: the run goes on at $rdc_says: ${rdc_again}resume"
}

# Lets rdc_next be the step at which the run stands, after the last outcome that was recorded.
stand() {
  rdc_changes=''
  case $rdc_last:$rdc_done in
    run\ *: | jump\ *:) choose ;;
    *:) ;;
    *) is_word "$rdc_done" || damaged; rdc_outcome=$rdc_done; follow ;;
  esac
  [ "$rdc_over" != COMPLETE ] || fail "the run is over: it has ended with COMPLETE; $rdc_begin begins a new one"
}

# The step gets no outcome, and its attempts are forgotten. At an end the run stands at no step.
leave() {
  rdc_stands='' rdc_way=''
  [ -z "$rdc_over" ] || { rdc_over=''; return; }
  ! is_left || fail "step $rdc_id: its command still runs (pid $rdc_left); wait for its end, or end it"
  rdc_stands=$rdc_next
  take "$rdc_stands" || damaged
  [ -z "${rdc_attempts_U-}" ] || set_to "$rdc_attempts_U" 0
}

# Goes to the step STEP. RDC_JUMPS has those to which a jump is more than to go there, and groups: `in` what step stands
# in what groups, then `jump`, target and name; below it what it does, some of it only on the way `into` a group.
jump_to() {
  rdc_text=$(RDC_STEP=$rdc_given_STEP LC_ALL=C awk -v name="${rdc_prefix}RDC_JUMPS" -v node="$rdc_stands" '
    !is_in { is_in = $1 == "define" && $2 == name; next }
    $0 == "endef" { exit }
    $1 == "in" { if ($2 == node) for (i = 3; i <= NF; i++) inside[$i]; next }
    $1 == "jump" { is_it = substr($0, length($2) + 7) == "\"" ENVIRON["RDC_STEP"] "\""; if (is_it) print $2; next }
    !is_it { next }
    $1 == "into" && $2 in inside { next }
    $1 == "into" { sub(/^ *into [^ ]+ /, "") }
    { print }
  ' "$rdc_file")
  rdc_target=''
  while read -r rdc_line; do
    # shellcheck disable=SC2086 # it is a function and its words
    if [ -z "$rdc_target" ]; then rdc_target=$rdc_line; else $rdc_line; fi
  done << jump
$rdc_text
jump
  [ -n "$rdc_target" ] || named "$rdc_given_STEP" || return 1
  rdc_noted=$rdc_changes
  go "$rdc_target"; choose
  # What leads straight to an end is decided when the run goes on.
  [ -z "$rdc_over" ] || rdc_next=$rdc_target rdc_changes=$rdc_noted
}
named() { # lets rdc_target be the step whose id is $1
  for rdc_target in $rdc_order; do
    look_at "$rdc_target"
    [ "$rdc_id_U" != "$1" ] || [ "$rdc_kind_U" = choice ] || return 0
  done
  return 1
}
endef
