
# --- Module: one step alone, apart from any run: the state is neither read nor changed --------------------------------
define RDC_MODULE_ALONE
step() {
  rdc_journal=/dev/null rdc_files=$rdc_state/alone.$$ rdc_run=alone
  release() { rm -rf "$rdc_files"; rmdir "$rdc_state" "${rdc_state%/*}" 2> /dev/null; }
  record() { rdc_count=1; }
  follow() { rdc_way=''; }
  checked; heed; ready; inputs; begin_values
  take "$1" || fail "there is no step $1"
  go "$1"; do_node
  case $rdc_outcome in fail | failed | no | rejected | none | invalid | ambiguous) exit 1 ;; esac
}
endef
