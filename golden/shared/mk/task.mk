
# --- Module: the task: TASK and TASK_FILE give the input of that name -------------------------------------------------
define RDC_MODULE_TASK
task() { # the variable that has what make was given for the input
  eval "rdc_value=\${rdc_given_$1+given}"
  case ${rdc_given_TASK+given}:${rdc_given_TASK_FILE+given}:$rdc_value in
    :: | ::given) ;;
    given::) eval "rdc_given_$1=\$rdc_given_TASK" ;;
    :given:)
      [ -f "$rdc_given_TASK_FILE" ] && [ -r "$rdc_given_TASK_FILE" ] || fail "it cannot be read: $rdc_given_TASK_FILE"
      is_text "$rdc_given_TASK_FILE" || fail "$rdc_given_TASK_FILE is not UTF-8, or holds a NUL character"
      rdc_value=$(cat < "$rdc_given_TASK_FILE" && echo .)
      eval "rdc_given_$1=\${rdc_value%.}"
      ;;
    *) fail "the task is given twice: TASK, TASK_FILE and task are one" ;;
  esac
}
help_task() {
  help_line "$rdc_begin TASK=TEXT" 'what is to be done'
  help_line "$rdc_begin TASK_FILE=FILE" 'the same, from a file'
}
endef
