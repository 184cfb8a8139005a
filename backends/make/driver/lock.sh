# --- The lock: a symbolic link to the number and start of a process, its machine, and its namespace of processes ---
rdc_place=$(printf %s "$(uname -n) $(readlink /proc/self/ns/pid 2> /dev/null)" | tr -c 'A-Za-z0-9.-' _)
holder() { # who made the lock, or took it over from a process that is gone, and so on; rdc_free is the next
  rdc_holder='' rdc_links='' rdc_free=lock
  while rdc_value=$(readlink "$rdc_state/$rdc_free" 2> /dev/null); do
    rdc_holder=$rdc_value rdc_links="$rdc_links $rdc_free" rdc_free=lock.after.${rdc_value%% *}
  done
}
is_held() { # a process on another machine cannot be seen, and may live
  rdc_word=${rdc_holder%% *}
  [ -n "$rdc_holder" ] && { [ "${rdc_holder#* }" != "$rdc_place" ] || alive "${rdc_word%-*}" "${rdc_word#*-}"; }
}
# A repository or a command may have made links, which would lead what is written elsewhere.
refuse_links() {
  case $rdc_state in /*) set -- "$rdc_state" ;; *) set -- "${rdc_state%/*}" "$rdc_state" ;; esac
  for rdc_word in "$@" "$rdc_state"/* "$rdc_state"/.[!.]* "$rdc_state"/*/* "$rdc_state"/*/.[!.]*; do
    case $rdc_word in "$rdc_state"/lock | "$rdc_state"/lock.after.*) continue ;; esac # these lead nowhere
    [ ! -h "$rdc_word" ] || fail "$rdc_word is a link: remove it"
  done
  [ ! -d "$rdc_state" ] || [ -z "$(find "$rdc_state" -prune -perm -002 2> /dev/null)" ] ||
    fail "everybody may write to $rdc_state, and so change the run; to forbid it: chmod o-w $rdc_state"
}
lock() {
  refuse_links; (umask 077; mkdir -p "$rdc_state") 2> /dev/null
  began $$; rdc_me="$$-$rdc_began $rdc_place" rdc_tries=0
  until holder; [ "$rdc_holder" = "$rdc_me" ]; do
    ! is_held || under_way
    [ -n "$rdc_holder" ] || [ ! -e "$rdc_state/lock" ] ||
      fail "this is no lock: $rdc_state/lock; if no run is under way, remove it"
    ln -s "$rdc_me" "$rdc_state/$rdc_free" 2> /dev/null || rdc_tries=$((rdc_tries + 1))
    [ "$rdc_tries" -lt 99 ] ||
      fail "the state directory cannot be written: $rdc_state; is it read-only, full or no folder, and is ln on PATH?"
  done
  [ -e "$rdc_state/.gitignore" ] || { printf '*\n' > "$rdc_state/.gitignore"; } 2> /dev/null || :
  heed
}
under_way() {
  rdc_says="another run is under way, process ${rdc_holder%%-*}"
  [ "${rdc_holder#* }" != "$rdc_place" ] || fail "$rdc_says"
  fail "$rdc_says of ${rdc_holder#* }, which cannot be seen from here; if it is no more: ${rdc_again}unlock"
}
release() { holder; for rdc_word in $rdc_links; do rm -f "$rdc_state/$rdc_word"; done; }
