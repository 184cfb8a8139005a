
# --- Module: runs that are no more ------------------------------------------------------------------------------------
define RDC_MODULE_CLEARING
clean() {
  [ -e "$rdc_journal" ] || return 0
  lock; archive
  say "the run was archived in $rdc_history"
}

# A person says that who holds the lock is no more; of a process that can be seen to live nobody has to.
unlock() {
  checked; holder
  [ "${rdc_holder#* }" != "$rdc_place" ] || ! is_held || fail "process ${rdc_holder%%-*} still runs: end it first"
  rm -f "$rdc_state/lock" "$rdc_state"/lock.after.* 2> /dev/null || fail "the lock cannot be removed: $rdc_state/lock"
}
endef
