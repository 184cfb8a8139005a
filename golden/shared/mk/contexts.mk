
# --- Module: what stands above prompts: outputs of earlier steps under headings, and other texts ----------------------
define RDC_MODULE_CONTEXTS
# A context stands below another one, if it names one. Its parts are texts, and what slots hold with texts around it.
context() { key "$1"; rdc_in=$rdc_key; eval "rdc_above_$rdc_in=\${2-} rdc_parts_$rdc_in=''"; }
part() {
  rdc_count_parts=$((${rdc_count_parts-0} + 1))
  eval "rdc_parts_$rdc_in=\"\$rdc_parts_$rdc_in $rdc_count_parts\" rdc_part_$rdc_count_parts=\$1"
  eval "rdc_of_$rdc_count_parts=\${2-} rdc_after_$rdc_count_parts=\${3-} rdc_missing_$rdc_count_parts=\${4-}"
}
under() { part "$1$rdc_paragraph" "$2" "$rdc_paragraph"; }
rdc_paragraph='

'
below() { rdc_below_U=$*; }

keep_prompt() {
  rdc_i=0 rdc_name=-
  case $rdc_kind in agents) for rdc_word in $rdc_below_U; do
    [ "$rdc_i" -ne "$rdc_prompts" ] || rdc_name=$rdc_word
    rdc_i=$((rdc_i + 1))
  done ;; esac
  if [ "$rdc_name" = - ]; then keep "$rdc_value" "prompts/.$rdc_prompts"; return; fi
  rdc_text=$rdc_value
  { above "$rdc_name" && printf '%s' "$rdc_text"; } > "$rdc_files/new" || unkept
  mv "$rdc_files/new" "$rdc_files/prompts/.$rdc_prompts" || unkept
}

# Writes the context $1, the one that stands above all first.
above() {
  rdc_chain='' rdc_word=$1
  while [ -n "$rdc_word" ]; do
    key "$rdc_word"; rdc_chain="$rdc_key $rdc_chain"
    eval "rdc_word=\$rdc_above_$rdc_key"
  done
  for rdc_in in $rdc_chain; do
    eval "rdc_word=\$rdc_parts_$rdc_in"
    for rdc_i in $rdc_word; do put_part || return 1; done
  done
}
put_part() {
  eval "rdc_before=\$rdc_part_$rdc_i rdc_key=\$rdc_of_$rdc_i rdc_after=\$rdc_after_$rdc_i"
  if [ -z "$rdc_key" ]; then printf '%s' "$rdc_before"; return; fi
  key "$rdc_key"; held
  case $rdc_held in
    unset) eval "printf '%s' \"\$rdc_missing_$rdc_i\"" ;;
    '') printf '%s' "$rdc_before$rdc_value$rdc_after" ;;
    *) printf '%s' "$rdc_before" && cat "$rdc_held" && printf '%s' "$rdc_after" ;;
  esac
}
endef
