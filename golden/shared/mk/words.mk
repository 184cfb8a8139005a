
# --- Module: words of outcomes: one that somebody wrote has a name in the journal, and a text of its own --------------
define RDC_MODULE_WORDS
node_words() {
  case $rdc_kind in
    confirm) rdc_words='yes no' ;;
    gate) rdc_words='approved rejected' ;;
    input) rdc_words=pass ;;
    bash | sh | pass_fail | yes_no) rdc_words='pass fail' ;;
    *) rdc_words=${rdc_words_U-} ;;
  esac
}
may_say() { rdc_words_U=$*; }
word() { key "$1"; eval "rdc_word_$rdc_key=\$2"; }

# The outcome as people read it, and as `status` has it; a word that somebody wrote has a text of its own.
in_words() {
  key "$1"
  eval "rdc_says=\${rdc_word_$rdc_key-}"
  if [ -n "$rdc_says" ]; then
    case $rdc_says in *[!\ -~]*) rdc_says=$(printf '%s\n' "$rdc_says" | line) ;; esac
    rdc_low=$rdc_says
    return
  fi
  rdc_low=$1
  case $rdc_kind:$1 in yes_no:pass) rdc_low=yes ;; yes_no:fail) rdc_low=no ;; esac
  case $rdc_low in
    pass) rdc_says=PASS ;; fail) rdc_says=FAIL ;; yes) rdc_says=YES ;; no) rdc_says=NO ;;
    approved) rdc_says=APPROVED ;; rejected) rdc_says=REJECTED ;; none) rdc_says=NONE ;; invalid) rdc_says=INVALID ;;
    ambiguous) rdc_says=AMBIGUOUS ;; *) rdc_says=FAILED ;;
  esac
}
is_word() { node_words; case " $rdc_words " in *" $1 "*) ;; *) return 1 ;; esac; }
words() {
  node_words; rdc_list=''
  for rdc_word in $rdc_words; do in_words "$rdc_word"; rdc_list="$rdc_list${rdc_list:+$1}$rdc_low"; done
  printf '%s' "$rdc_list"
}
# Reads the word $1 that a person has given the outcome.
outcome() {
  node_words
  for rdc_outcome in $rdc_words; do
    key "$rdc_outcome"
    eval "rdc_value=\${rdc_word_$rdc_key-}"
    if [ -n "$rdc_value" ]; then [ "$rdc_value" != "$1" ] || return 0
    else [ "$(printf '%s' "$1" | LC_ALL=C tr '[:upper:]' '[:lower:]')" != "$rdc_outcome" ] || return 0; fi
  done
  return 1
}
endef
