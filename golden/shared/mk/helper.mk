
# --- Module: a program for python3 ------------------------------------------------------------------------------------
define RDC_MODULE_HELPER
# Writes down the program that does what sh cannot do exactly.
prepare_helper() {
  command -v python3 > /dev/null || fail "there is no python3 on PATH, which this needs"
  python3 -I -c 'import sys; sys.exit(sys.version_info < (3, 9))' || fail "python3 is older than 3.9, which this needs"
  mkdir -p "$rdc_files" 2> /dev/null || unkept
  keep "$rdc_python_helper" helper.py
}
helper() {
  [ -e "$rdc_files/helper.py" ] || prepare_helper
  python3 -I -B "$rdc_files/helper.py" "$@"
}
check_commands() { prepare_helper; }
help_helper() { help_line '(needs python3)' '3.9 or newer, on PATH: to call and read what sh cannot exactly'; }
help_calls() { help_helper; }
endef
