
# --- Module: what steps have in common --------------------------------------------------------------------------------
define RDC_MODULE_SHARED
# `all` says what holds for each command, and marks for each step; one with `only` has nothing but what stands below it.
all() {
  "$@"
  rdc_all_variables=${rdc_variables_U-} rdc_all_gives=${rdc_gives_U-} rdc_all_keeps=${rdc_keeps_U-}
  rdc_all_marks=${rdc_marks_U-}
}
rdc_all_variables='' rdc_all_gives='' rdc_all_keeps='' rdc_all_marks=''
unset rdc_variables_U rdc_gives_U rdc_keeps_U rdc_marks_U
shared() {
  rdc_marks_U=$rdc_all_marks rdc_others_U=0
  case $rdc_kind_U in
    bash | sh) rdc_variables_U=$rdc_all_variables rdc_gives_U=$rdc_all_gives rdc_keeps_U=$rdc_all_keeps ;;
  esac
}
only() { rdc_others_U=${#rdc_all_marks}; unset rdc_variables_U rdc_gives_U rdc_keeps_U; }
endef
