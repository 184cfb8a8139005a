
# --- Module: the file that a run leaves when it is complete -----------------------------------------------------------
define RDC_MODULE_ARTIFACT
# Its slot, and its name, under which it is archived; then the parts of its type: texts, and what slots hold.
artifact() {
  rdc_artifact=$1 rdc_artifact_name=$2 rdc_kinds=0
  for rdc_word in md json mmd html js ts txt; do rdc_folders="$rdc_folders $2.$rdc_word"; done
}
folders() {
  for rdc_word in $rdc_folders; do
    case $rdc_word in "$rdc_artifact_name".*) continue ;; esac
    mkdir -p "$rdc_files/$rdc_word" 2> /dev/null || unkept
  done
}
kind_text() { rdc_kinds=$((rdc_kinds + 1)); eval "rdc_kind_$rdc_kinds=\$1 rdc_kind_of_$rdc_kinds=''"; }
kind_of() {
  rdc_kinds=$((rdc_kinds + 1))
  eval "rdc_kind_$rdc_kinds=\$2 rdc_kind_of_$rdc_kinds=\$1 rdc_before_$rdc_kinds=\$3 rdc_after_$rdc_kinds=\$4"
}
kind_of_artifact() { # lets rdc_type be the type, filled in
  rdc_type='' rdc_i=0
  while [ "$rdc_i" -lt "$rdc_kinds" ]; do
    rdc_i=$((rdc_i + 1))
    eval "rdc_word=\$rdc_kind_$rdc_i rdc_name=\$rdc_kind_of_$rdc_i"
    if [ -n "$rdc_name" ]; then
      key "$rdc_name"; held
      case $rdc_held in
        unset) ;;
        '') eval "rdc_word=\$rdc_before_$rdc_i\$rdc_value\$rdc_after_$rdc_i" ;;
        *)
          rdc_value=$(cat "$rdc_held" && echo .) || fail "the state cannot be read: $rdc_held"
          rdc_value=${rdc_value%.}
          eval "rdc_word=\$rdc_before_$rdc_i\$rdc_value\$rdc_after_$rdc_i"
          ;;
      esac
    fi
    rdc_type=$rdc_type$rdc_word
  done
}
leave_artifact() { # $1 says whether the run was over before: then a file that is there stays as it is
  key "$rdc_artifact"; held
  [ "$rdc_held" != unset ] || return 0
  rdc_left=$rdc_held
  [ -r "$rdc_left" ] || fail "the state cannot be read: $rdc_left"
  kind_of_artifact
  case $rdc_type in
    markdown) rdc_word=md ;;
    json | chartjs) rdc_word=json ;;
    mermaid) rdc_word=mmd ;;
    html_css) rdc_word=html ;;
    javascript) rdc_word=js ;;
    typescript) rdc_word=ts ;;
    *) rdc_word=txt ;;
  esac
  rdc_path=${rdc_given_OUT:-$rdc_state/$rdc_artifact_name.$rdc_word}
  case $rdc_path in -*) rdc_path=./$rdc_path ;; esac
  [ "$1" = new ] || [ ! -e "$rdc_path" ] || return 0
  if [ -e "$rdc_path" ] && [ ! -f "$rdc_path" ]; then cat "$rdc_left" > "$rdc_path" && return 0 # a pipe, say
  else
    rdc_new=$rdc_path${rdc_given_OUT:+.$$}.new # one in the folder of the run is replaced by who goes on after a kill
    cp "$rdc_left" "$rdc_new" && mask "$rdc_new" && mv "$rdc_new" "$rdc_path" && return 0
    rm -f "$rdc_new"
  fi 2> /dev/null
  say "rdc: to write it: ${rdc_again}resume OUT=FILE"
  fail "the run is complete, but its last output cannot be written: $rdc_path"
}
walk() {
  while choose; [ -z "$rdc_over" ]; do
    take "$rdc_next" || fail "there is no step $rdc_next"
    do_node
  done
  if is_over; then rdc_word=old; else record "over $rdc_code $rdc_over"; rdc_word=new; fi
  rdc_path=''
  [ "$rdc_over" != COMPLETE ] || leave_artifact "$rdc_word"
  [ -z "$rdc_path" ] || { rdc_value=$rdc_path; shown; say "    $rdc_value"; } # who runs it asks where the file is
  filled "$rdc_message"; shown; end "$rdc_code" "$rdc_over${rdc_value:+ $rdc_value}"
}
endef
