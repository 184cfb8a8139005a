
# --- Module: time limits, and what is left of a call whose helper was killed ------------------------------------------
define RDC_MODULE_LIMITS
timeout() { rdc_timeout_U=$1; }
code_in_words() { # the helper ends with 124 where time was up, and with 1 where the command failed
  rdc_coded="exit code $1, "
  case $1:${rdc_timeout_U:+limited} in 0:*) rdc_coded='' ;; 124:limited) rdc_coded='timeout, ' ;; esac
}

# Whether nothing of what was called runs on although the helper was killed; else it is ended with its group.
calls_ended() {
  rdc_since=''
  [ -e "$rdc_files/left" ] && [ -e "$rdc_files/helper.py" ] || return 0
  rdc_left=$(helper living "$rdc_files/left") || [ -z "$rdc_left" ]
}
end_left() {
  [ -z "$rdc_since" ] || end_process "$rdc_left" "$rdc_since" TERM 100
  end_calls
}
end_calls() { [ ! -e "$rdc_files/left" ] || helper end "$rdc_files/left"; }

call_helper() {
  call python3 -I -B "$rdc_files/helper.py" "$@"
  [ "$rdc_code" -ne 130 ] || interrupt TERM
}

# A command with a time limit is called by the helper.
call_command() {
  if [ -z "${rdc_timeout_U-}" ]; then call "$@"; return; fi
  call_helper limited $$ "$rdc_files/left" "$rdc_timeout_U" "$@"
  case $rdc_code in 137 | 143) end_calls ;; esac
}
endef
