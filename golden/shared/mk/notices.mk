
# --- Module: notices: a command is told when the run waits or ends; nothing of it changes anything for the run --------
define RDC_MODULE_NOTICE
end() {
  case $rdc_verb:$2 in step:*) ;; *:COMPLETE* | *:STOP* | *:WAITING*) notice "${2%% *}" "${2#"${2%% *}"}" ;; esac
  printf 'rdc: %s\n' "$2" 2> /dev/null || say "rdc: $2"
  exit "$1"
}
notice() {
  trap '' INT TERM HUP
  rdc_value=${2# }
  [ -z "${rdc_secrets-}" ] || rdc_value=$(printf '%s' "$rdc_value" | masked)
  RDC_EVENT=$1 RDC_TEXT=$rdc_value RDC_RUN_ID=$rdc_run RDC_STATE=$rdc_state LC_ALL=C awk '
    function json(text,    at, one, said) {
      for (at = 1; at <= length(text); at++) {
        one = substr(text, at, 1)
        if (one ~ /[\001-\037]/) one = " "
        said = said (one == "\"" || one == "\\" ? "\\" : "") one
      }
      return "\"" said "\""
    }
    BEGIN {
      event = tolower(ENVIRON["RDC_EVENT"]); told = event == "waiting" ? "unit" : "message"
      printf "{\"event\": %s, \"%s\": %s,", json(event), told, json(ENVIRON["RDC_TEXT"])
      printf " \"run\": %s, \"state\": %s}\n", json(ENVIRON["RDC_RUN_ID"]), json(ENVIRON["RDC_STATE"])
    }' > "$rdc_state/event" 2> /dev/null
  # What it says is not for the output of this run, which waits for ten seconds at most.
  { sh -c "$rdc_given_NOTIFY" < "$rdc_state/event"; rm -f "$rdc_state/event"; } > /dev/null 2>&1 &
  rdc_number=0
  while [ -e "$rdc_state/event" ] && [ "$rdc_number" -lt 200 ]; do rdc_number=$((rdc_number + 1)); pause; done
}
endef
