# --- Input from make, progress on standard error, the result on standard output ---
set -u
# Replaces closed streams, because the next opened file would take their number.
command : 3>&2 || exec 2> /dev/null
command : 2> /dev/null 3>&1 || exec > /dev/null
command : 2> /dev/null 3<&0 || exec < /dev/null
# A failed write must be noticed by its status, which a signal would prevent.
command trap : PIPE XFSZ 2> /dev/null
say() { printf '%s\n' "$*" >&2 2> /dev/null || :; }
end() { printf 'rdc: %s\n' "$2" 2> /dev/null || say "rdc: $2"; exit "$1"; }
fail() { say "rdc: $1"; end 2 "error: $1"; }
replaced() { # sets rdc_value to the text $1 with $3 instead of each $2
  rdc_value='' rdc_rest=$1
  while case $rdc_rest in *"$2"*) ;; *) false ;; esac; do
    rdc_value=$rdc_value${rdc_rest%%"$2"*}$3 rdc_rest=${rdc_rest#*"$2"}
  done
  rdc_value=$rdc_value$rdc_rest
}
quoted() { replaced "$1" "'" "'\\''"; case $1 in '' | *[!A-Za-z0-9_./-]*) rdc_value="'$rdc_value'" ;; esac; }
shown() { printf %s "$1" | tr -c ' -~' '?'; } # without control characters
# Variables start with `rdc_`, so they hide no variables of commands.
rdc_verb=$1 rdc_state=$2 rdc_program=$3 rdc_prefix=${4-} rdc_file=$RDC_FILE rdc_journal=$2/journal
rdc_ANSWERS='' rdc_ASSUME='' rdc_REPLY='' rdc_RERUN='' rdc_STEP='' rdc_count=0 rdc_over='' rdc_begun='' rdc_closed=''
rdc_id='' rdc_outcome='' rdc_child='' rdc_ended='' rdc_assume='' rdc_again=make rdc_eol=$(printf '\n.')
rdc_eol=${rdc_eol%.} rdc_monitor=''
[ -z "$RDC_FOLDER" ] || { quoted "$RDC_FOLDER"; rdc_again="$rdc_again -C $rdc_value"; }
[ -z "$RDC_TOP" ] || { quoted "$RDC_TOP"; rdc_again="$rdc_again -f $rdc_value"; }
rdc_start="$rdc_again${rdc_prefix:+ ${rdc_prefix}run}" rdc_again="$rdc_again $rdc_prefix"
for rdc_word in $RDC_GIVEN; do
  case $rdc_word in
    ANSWERS | ASSUME | REPLY | RERUN | STEP) eval "rdc_$rdc_word=\$$rdc_word"; unset "$rdc_word" ;;
    *) fail "this Makefile does not take $rdc_word; leave it out, or set it in make's environment" ;;
  esac
done
rdc_locale=${LC_ALL-} rdc_unset='-u LC_ALL'; [ -z "${LC_ALL+set}" ] || rdc_unset=''
export LC_ALL=C # only for this script
unset RDC_DRIVER RDC_FILE RDC_FOLDER RDC_TOP RDC_GIVEN RDC_STEP_INSTANCE RDC_SUBSTEP_INSTANCE
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES MAKE_TERMOUT MAKE_TERMERR
