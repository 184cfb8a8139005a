
# --- Module: notices: a command is told when the run waits or ends; nothing of it changes anything for the run --------
define RDC_MODULE_NOTICE
rdc_called=${rdc_state##*/} rdc_called=${rdc_called%.make} rdc_called=${rdc_called%"${rdc_given_AS:+@$rdc_given_AS}"}
rdc_document=$(sed -n '1s/^# //p; 1q' < "$rdc_file")
end() {
  case $rdc_verb:${rdc_run:+$2} in
    step:*) ;;
    *:COMPLETE* | *:STOP* | *:WAITING* | *:INTERRUPTED*) notice "${2%% *}" "${2#"${2%% *}"}" ;;
  esac
  printf 'rdc: %s\n' "$2" 2> /dev/null || say "rdc: $2"
  exit "$1"
}
event() { # the event $1 about the text on standard input, with the names that the Python target has
  RDC_EVENT=$1 RDC_RUN_ID=$rdc_run RDC_NAME=$rdc_called RDC_TITLE=$rdc_document LC_ALL=C awk '
    function json(text,    at, one) {
      for (at = 1; at <= length(text); at++) {
        one = substr(text, at, 1)
        if (one ~ /[\001-\037]/) one = sprintf("\\u%04x", index(control, one))
        printf "%s", (one == "\"" || one == "\\" ? "\\" : "") one
      }
    }
    function field(name, text) { printf "%s\"%s\": \"", (count++ ? ", " : "{"), name; json(text); printf "\"" }
    BEGIN {
      for (number = 1; number < 32; number++) control = control sprintf("%c", number)
      event = tolower(ENVIRON["RDC_EVENT"]); is_over = event ~ /^(complete|stop)$/
      field("event", "run_" (is_over ? "finished" : event))
      "date -u +%Y-%m-%dT%H:%M:%SZ" | getline time
      field("time", time); field("run", ENVIRON["RDC_RUN_ID"])
      if (is_over) field("result", event)
      printf ", \"%s\": \"", is_over ? "message" : "step"
    }
    { if (NR > 1) printf "\\n"; json($0) }
    END { printf "\""; field("name", ENVIRON["RDC_NAME"]); field("title", ENVIRON["RDC_TITLE"]); print "}" }'
}
notice() {
  rdc_number=0
  trap 'rdc_number=1000' INT TERM HUP
  rm -f "$rdc_state/event" # a command may have put a link there
  { printf '%s\n' "${2# }" | if [ -n "${rdc_secrets-}" ]; then masked; else cat; fi | event "$1"; } \
    > "$rdc_state/event" 2> /dev/null
  # It is a process group of its own where that is possible, and what it says is not for the output of this run.
  rdc_word=''
  ! command -v setsid > /dev/null || rdc_word='setsid'
  $rdc_word sh -c "$rdc_given_NOTIFY" < "$rdc_state/event" > /dev/null 2>&1 &
  rdc_child=$!; began "$rdc_child"
  while alive "$rdc_child" "$rdc_began" && [ "$rdc_number" -lt 600 ]; do rdc_number=$((rdc_number + 1)); pause; done
  if alive "$rdc_child" "$rdc_began"; then
    signal KILL "$rdc_child"
    say "    NOTIFY: the command was ended: by you, or after 30 seconds"
  else
    wait "$rdc_child"; rdc_code=$?
    [ "$rdc_code" -eq 0 ] || say "    NOTIFY: the command ended with exit code $rdc_code"
  fi
  rm -f "$rdc_state/event"
}
endef
