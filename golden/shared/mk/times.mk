
# --- Module: delays and limits ----------------------------------------------------------------------------------------
define RDC_MODULE_TIMES
delay() { rdc_delay_U="$1 $2"; }
limit() { rdc_limit=$1; counter rdc.tasks 0; }
rdc_limit=''

before() {
  if [ -n "$rdc_limit" ] && [ "$rdc_kind" != gate ] && [ "$rdc_verb" != step ] && at_least rdc.tasks "$rdc_limit"; then
    record "over 1 STOP LIMIT $rdc_node"
    limited
  fi
  rdc_value=${rdc_delay_U-}
  [ -z "$rdc_value" ] || [ "$rdc_attempt" -eq 1 ] || wait_before
}

# Tasks count towards the limit, gates do not.
counted() { [ -z "$rdc_limit" ] || [ "$rdc_kind" = gate ] || add rdc.tasks 1; }
limited() {
  take "${rdc_last##* }" || damaged
  end 1 "STOP $rdc_id: the limit of $rdc_limit steps was reached"
}

# Of a delay that was begun before this record, a run that goes on waits for the rest only.
rest_of_delay() {
  rdc_now=$(date +%s) rdc_word='' rdc_number='' rdc_since=''
  { read -r rdc_word rdc_number rdc_since < "$rdc_files/delay"; } 2> /dev/null
  case $rdc_word:$rdc_number:$rdc_since in
    "$rdc_run:$rdc_count:" | *:*:*[!0-9]* | *:*:0* | *:*:????????????*) ;;
    "$rdc_run:$rdc_count:"*)
      rdc_number=$((rdc_now - rdc_since)) # a clock may have been set back
      [ "$rdc_number" -lt 0 ] || rdc_seconds=$((rdc_seconds - rdc_number))
      [ "$rdc_seconds" -ge 0 ] || rdc_seconds=0
      return
      ;;
  esac
  # Without this note, all of it is waited for again.
  [ ! -h "$rdc_files/delay.new" ] || rm -f "$rdc_files/delay.new" # a command may have put it there
  { echo "$rdc_run $rdc_count $rdc_now" > "$rdc_files/delay.new" && mv "$rdc_files/delay.new" "$rdc_files/delay"; } \
    2> /dev/null || :
}

# Waits before a further attempt: so many seconds, and each time so many times as long.
wait_before() {
  rdc_seconds=${rdc_value% *} rdc_times=${rdc_value#* } rdc_number=2
  while [ "$rdc_number" -lt "$rdc_attempt" ] && [ "$rdc_times" -gt 1 ] && [ "$rdc_seconds" -lt 1000000000 ]; do
    rdc_seconds=$((rdc_seconds * rdc_times)) rdc_number=$((rdc_number + 1))
  done
  rest_of_delay
  say "    waits $rdc_seconds seconds"
  sleep "$rdc_seconds" &
  rdc_child=$!
  wait "$rdc_child"
  rdc_child=''
}
endef
