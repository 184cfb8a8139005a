
# --- Module: reports: what agents have said is added to files, in a folder that texts may name ------------------------
define RDC_MODULE_REPORTS
rdc_folders="$rdc_folders reports"
folder() { key "$1"; rdc_folder=$rdc_key; eval "rdc_r_$rdc_key=1"; }
folders() {
  for rdc_word in $rdc_folders; do
    case $rdc_word in "${rdc_artifact_name-/}".*) continue ;; esac
    mkdir -p "$rdc_files/$rdc_word" 2> /dev/null || unkept
  done
  [ -n "${rdc_folder-}" ] || return 0
  case $rdc_files in /*) rdc_value=$rdc_files/reports ;; *) rdc_value=$(pwd -P)/$rdc_files/reports ;; esac
  keep "$rdc_value" "values/rdc_s_$rdc_folder.1"
}

# After each outcome, once that is on record; a run that goes on does it again, and nothing is added a second time.
keep_all() {
  for rdc_pair in ${rdc_keeps_U-}; do keep_value "${rdc_pair#*=}" "${rdc_pair%%=*}"; done
  [ "$rdc_kind_U" = agents ] || return 0
  said; keep "$rdc_call_U" call
  rdc_says=$(informed helper report "$rdc_files" "$rdc_files/$rdc_said" "$rdc_run $rdc_node.$rdc_call") && return
  say "rdc: once it can be written: ${rdc_again}resume"
  fail "$rdc_says"
}
endef
