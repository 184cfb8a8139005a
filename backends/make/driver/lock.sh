# --- The lock: a symbolic link to a process number, its start time, its machine, and its process namespace ---
rdc_place=$(printf %s "$(uname -n) $(readlink /proc/self/ns/pid 2> /dev/null)" | tr -c 'A-Za-z0-9.-' _)
holder() { # sets rdc_holder to the process with the lock, and rdc_free to the name of the next lock
  rdc_holder='' rdc_links='' rdc_free=lock
  while rdc_value=$(readlink "$rdc_state/$rdc_free" 2> /dev/null); do
    rdc_holder=$rdc_value rdc_links="$rdc_links $rdc_free" rdc_free=lock.after.${rdc_value%% *}
  done
}
is_held() { # a process on another machine may still run
  rdc_word=${rdc_holder%% *}
  [ -n "$rdc_holder" ] && { [ "${rdc_holder#* }" != "$rdc_place" ] || alive "${rdc_word%-*}" "${rdc_word#*-}"; }
}
refuse_links() { # a repository or a command could have made a link, through which rdc would write to other places
  case $rdc_state in /*) set -- "$rdc_state" ;; *) set -- "${rdc_state%/*}" "$rdc_state" ;; esac
  for rdc_word in "$@" "$rdc_state"/* "$rdc_state"/.[!.]* "$rdc_state"/*/* "$rdc_state"/*/.[!.]*; do
    case $rdc_word in "$rdc_state"/lock | "$rdc_state"/lock.after.*) continue ;; esac # these are links on purpose
    [ ! -h "$rdc_word" ] || fail "$rdc_word is a link: remove it"
  done
  [ ! -d "$rdc_state" ] || [ -z "$(find "$rdc_state" -prune -perm -002 2> /dev/null)" ] ||
    fail "all users may write to $rdc_state and change the run; to prevent this: chmod o-w $rdc_state"
  [ ! -d "$rdc_state" ] || is_ours "$rdc_state" ||
    fail "$rdc_state belongs to another user, who can change the run; choose another with the option state-dir"
  case $rdc_state in /*) rdc_word=$rdc_state ;; *) rdc_word=$(pwd -P)/$rdc_state ;; esac
  set --; while rdc_word=${rdc_word%/*}; set -- "$@" "${rdc_word:-/}"; [ -n "$rdc_word" ]; do :; done
  rdc_word=$(find -H "$@" -prune -perm -002 ! -perm -1000 2> /dev/null)
  [ -z "$rdc_word" ] ||
    fail "all users may write to $rdc_word and replace $rdc_state; to prevent this: chmod o-w $rdc_word"
  rdc_value=$rdc_state
  for rdc_word in "$@"; do # all users may create files in a sticky folder
    [ -z "$(find -H "$rdc_word" -prune -perm -1002 2> /dev/null)" ] || [ ! -d "$rdc_value" ] || is_ours "$rdc_value" ||
      fail "another user made $rdc_value, and can change the run"
    rdc_value=$rdc_word
  done
}
is_ours() { # whether this user or root owns a folder, or a group of this user may write there
  rdc_says=$(id -G | sed 's/[0-9][0-9]*/-o -perm -020 -group &/g')
  [ -n "$(find "$1" -prune \( -user 0 -o -user "$(id -u)" $rdc_says \) 2> /dev/null)" ]
}
lock() {
  refuse_links; (umask 077; mkdir -p "$rdc_state") 2> /dev/null
  began $$; rdc_me="$$-$rdc_began $rdc_place" rdc_tries=0
  until holder; [ "$rdc_holder" = "$rdc_me" ]; do
    ! is_held || under_way
    [ -n "$rdc_holder" ] || [ ! -e "$rdc_state/lock" ] ||
      fail "this is not a lock: $rdc_state/lock; if no run is in progress, remove it"
    ln -s "$rdc_me" "$rdc_state/$rdc_free" 2> /dev/null || rdc_tries=$((rdc_tries + 1))
    [ "$rdc_tries" -lt 99 ] ||
      fail "cannot write the state directory: $rdc_state; is it read-only, full or not a folder, and is ln on PATH?"
  done
  [ -e "$rdc_state/.gitignore" ] || { printf '*\n' > "$rdc_state/.gitignore"; } 2> /dev/null || :
  heed
}
under_way() {
  rdc_says="another process is using $rdc_state (pid ${rdc_holder%%-*}"
  [ "${rdc_holder#* }" != "$rdc_place" ] || fail "$rdc_says); wait until it ends"
  fail "$rdc_says on another machine, ${rdc_holder#* }); if it no longer runs: ${rdc_again}unlock"
}
release() { holder; for rdc_word in $rdc_links; do rm -f "$rdc_state/$rdc_word"; done; }
