# --- A run: one step after another ---
walk() {
  while [ -z "$rdc_over" ]; do record "begin $rdc_name $rdc_attempt"; perform; done
  [ -n "$rdc_closed" ] || record "over $rdc_code $rdc_over"
  filled "$rdc_message"; end "$rdc_code" "$rdc_over${rdc_value:+ $rdc_value}"
}
perform() { announce; case $rdc_kind in bash | sh) run_command ;; *) ask ;; esac; }
announce() { now; rdc_since=$rdc_now; called; say "$rdc_called${1-}"; }
called() { # sets rdc_called to the step's name for people
  filled "$rdc_title"; rdc_label=$rdc_value rdc_called=$rdc_id${rdc_value:+ $rdc_value}
  [ "$rdc_attempt" -eq 1 ] || rdc_called="$rdc_called, attempt $rdc_attempt"
}
ended() { # records the outcome first; $1 is the exit code, $2 its source
  now; rdc_time=$((rdc_now > rdc_since ? rdc_now - rdc_since : 0)) # a clock may go back
  in_words; rdc_ended="step $rdc_id ended with $rdc_went"
  record "end $rdc_name $rdc_outcome $1 $rdc_time${2:+ $2}"
  rdc_ended='' rdc_assume=''; follow; details "$1" "$rdc_time"; say "    $rdc_went  $rdc_says$rdc_passed"
}
in_words() {
  case $rdc_kind$rdc_outcome in
    yes_nopass) rdc_low=yes rdc_went=YES ;; yes_nofail) rdc_low=no rdc_went=NO ;;
    *pass) rdc_low=pass rdc_went=PASS ;; *) rdc_low=fail rdc_went=FAIL ;;
  esac
}
details() { # sets rdc_says to an exit code, a time in hundredths of a second, $3 and the transition
  rdc_says="$(($2 / 100)).$(($2 % 100 / 10)) s${3-}${rdc_way:+, $rdc_way}"
  [ "$1" -eq 0 ] || rdc_says="exit code $1, $rdc_says"
}
now() { # in hundredths of a second
  { read -r rdc_now _ < /proc/uptime; } 2> /dev/null || rdc_now=$(date +%s).00; rdc_now=${rdc_now%.*}${rdc_now#*.}
}
