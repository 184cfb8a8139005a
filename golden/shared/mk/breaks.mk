
# --- Module: breakpoints: a run waits where it leaves a step, with all that is in it ----------------------------------
define RDC_MODULE_BREAKS
# `2/elicit` and `2a` stand in `2`; a step whose name says something else says where it stands.
within() { rdc_within_of=$rdc_name_U rdc_within_U=" $* "; }
is_in() { # whether the step that was looked at is $1 or stands in it
  case $rdc_id_U in "$1" | "$1"/*) return 0 ;; esac
  if [ "${rdc_within_of-}" = "$rdc_name_U" ]; then case $rdc_within_U in *" $1 "*) return 0 ;; *) return 1 ;; esac; fi
  case $rdc_id_U in "$1"[a-z] | "$1"[a-z]/* | "$1".[0-9]*) ;; *) return 1 ;; esac
}
leaves() { # whether the run goes on outside of the place $2, in which the step $1 stands
  (look_at "$1" && is_in "$2" && look_at "$rdc_node" && ! is_in "$2")
}

check_breaks() {
  [ -z "${rdc_given_EXPIRE-}" ] ||
    fail "EXPIRE is not for Makefiles: their runs wait until somebody answers; Python files have --expire"
  [ -z "${rdc_given_EXECUTOR-}" ] || fail "EXECUTOR is for documents that call executors, which this one does not"
  set -f
  for rdc_place in ${rdc_given_BREAK-}; do
    (for rdc_word in $rdc_order; do
      look_at "$rdc_word"
      [ "$rdc_kind_U" = choice ] || ! is_in "$rdc_place" || exit 0
    done; exit 1) || fail "BREAK: there is no step $(printf '%s' "$rdc_place" | line); make help lists them"
  done
  set +f
}
keep_breaks() { # all that were named since the run began
  [ -n "${rdc_given_BREAK-}" ] || return 0
  set -f
  # shellcheck disable=SC2086 # these are several names
  rdc_value=$(cat "$rdc_files/calls/breaks" 2> /dev/null; printf '%s\n' $rdc_given_BREAK)
  mkdir -p "$rdc_files/calls" 2> /dev/null || unkept
  keep "$rdc_value
" calls/breaks
  set +f
}

# Waits before a step is begun, if the last one that has ended was behind a breakpoint and this one is not; once.
break_here() {
  case $rdc_verb:$rdc_last in run:end\ * | resume:end\ *) ;; *) return 0 ;; esac
  [ -s "$rdc_files/calls/breaks" ] && ! is_passed || return 0
  rdc_word=${rdc_last#end }
  rdc_found=''
  while IFS= read -r rdc_place; do
    ! leaves "${rdc_word%% *}" "$rdc_place" || rdc_found=yes
  done < "$rdc_files/calls/breaks"
  [ -n "$rdc_found" ] || return 0
  pass_break
  say "rdc: to go on:  ${rdc_again}resume"
  end 75 "WAITING $rdc_id"
}
is_passed() { [ "$(cat "$rdc_files/calls/passed" 2> /dev/null)" = "$rdc_run $rdc_count" ]; }
pass_break() { [ ! -s "$rdc_files/calls/breaks" ] || keep "$rdc_run $rdc_count" calls/passed; }
endef
