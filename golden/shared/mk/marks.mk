
# --- Module: numbers of instances in texts ----------------------------------------------------------------------------
define RDC_MODULE_MARKS
mark() { rdc_marks_U="${rdc_marks_U-} $1=$2"; }
filled() {
  rdc_rest=$1
  for rdc_word in ${rdc_marks_U-}; do
    value "${rdc_word##*=}"
    rdc_word=${rdc_word%=*} rdc_text=''
    while :; do
      case $rdc_rest in *"$rdc_word"*) ;; *) break ;; esac
      rdc_text=$rdc_text${rdc_rest%%"$rdc_word"*}$rdc_value rdc_rest=${rdc_rest#*"$rdc_word"}
    done
    rdc_rest=$rdc_text$rdc_rest
  done
  rdc_value=$rdc_rest
}
endef
