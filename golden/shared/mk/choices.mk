
# --- Module: what is decided by itself: passed through on the way to a step or an end ---------------------------------
define RDC_MODULE_CHOICES
choose() {
  while [ -z "$rdc_over" ]; do
    look_at "$rdc_next" || fail "there is no step $rdc_next"
    [ "$rdc_kind_U" = choice ] || return 0
    rdc_after_U
  done
}
endef
