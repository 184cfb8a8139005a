
# --- Module: texts: what they refer to is filled in, and what a terminal would obey is a `?` --------------------------
define RDC_MODULE_TEXTS
mark() {
  eval "rdc_marks_U=\${rdc_marks_U-}x"
  eval "rdc_mark=rdc_mark_U_\${#rdc_marks_U}"
  key "$2"
  eval "$rdc_mark=\$1 ${rdc_mark}_register=\$rdc_key"
  eval "${rdc_mark}_before=\${3-} ${rdc_mark}_after=\${4-} ${rdc_mark}_missing=\${5-}"
}

# Whether the text $1 has marks of the step in it; lets rdc_present be their numbers. Those of others may come first.
refers() {
  rdc_present='' rdc_i=${rdc_others_U-0} rdc_marks=${rdc_marks_U-}
  while [ "$rdc_i" -lt "${#rdc_marks}" ]; do
    rdc_i=$((rdc_i + 1)); eval "rdc_mark=\$rdc_mark_U_$rdc_i"
    case $1 in *"$rdc_mark"*) rdc_present="$rdc_present $rdc_i" ;; esac
  done
  [ -n "$rdc_present" ]
}

# Writes the text $1 with the values of the registers that the step's texts refer to, in one pass.
fill() {
  if ! refers "$1"; then printf '%s' "$1"; return; fi
  (
    rdc_i=0
    for rdc_word in $rdc_present; do
      rdc_i=$((rdc_i + 1)) rdc_word=rdc_mark_U_$rdc_word
      eval "RDC_MARK_$rdc_i=\$$rdc_word RDC_BEFORE_$rdc_i=\$${rdc_word}_before RDC_AFTER_$rdc_i=\$${rdc_word}_after"
      eval "RDC_MISSING_$rdc_i=\$${rdc_word}_missing rdc_key=\$${rdc_word}_register"
      held
      eval "RDC_VALUE_$rdc_i=\$rdc_value RDC_FILE_$rdc_i=\$rdc_held"
      export "RDC_MARK_$rdc_i" "RDC_BEFORE_$rdc_i" "RDC_AFTER_$rdc_i" "RDC_MISSING_$rdc_i"
      export "RDC_VALUE_$rdc_i" "RDC_FILE_$rdc_i"
    done
    printf '%s\n' "$1" | LC_ALL=C awk -v count="$rdc_i" '
      function put(i) {
        if (ENVIRON["RDC_FILE_" i] == "unset") { printf "%s", ENVIRON["RDC_MISSING_" i]; return }
        printf "%s%s", ENVIRON["RDC_BEFORE_" i], ENVIRON["RDC_VALUE_" i]
        if (ENVIRON["RDC_FILE_" i] != "") {
          fflush()
          if (system("cat \"$RDC_FILE_" i "\"") != 0) { failed = 1; exit }
        }
        printf "%s", ENVIRON["RDC_AFTER_" i]
      }
      NR > 1 { printf "\n" }
      {
        rest = $0
        while (1) {
          best = 0
          for (i = 1; i <= count; i++) {
            at = index(rest, ENVIRON["RDC_MARK_" i])
            if (at && (!best || at < first)) { best = i; first = at }
          }
          if (!best) break
          printf "%s", substr(rest, 1, first - 1)
          put(best)
          rest = substr(rest, first + length(ENVIRON["RDC_MARK_" best]))
        }
        printf "%s", rest
      }
      END { fflush(); exit failed }'
  )
}
filled() {
  case $1 in '') rdc_value=''; return ;; esac
  if ! refers "$1"; then rdc_value=$1; return; fi
  rdc_value=$(fill "$1" && echo .) || unkept
  rdc_value=${rdc_value%.}
}
# Lets rdc_value be the number that the register of rdc_key holds, or rdc_held the file with its text, or `unset`.
held() { eval "rdc_value=\$rdc_r_$rdc_key rdc_held=''"; }

# What of standard input can be shown at a terminal, and the same on one line.
visible() {
  LC_ALL=C tr -c '\n\t -~\200-\377' '?' | LC_ALL=C awk '{
    gsub(/\t/, "    ")
    gsub(/\302[\200-\237]|\330\234|\341\240\216|\342\200[\213-\217\250-\256]|\342\201[\240-\257]|\357\273\277/, "?")
    print
  }'
}
shown() { case $rdc_value in *[!!-~]*) rdc_value=$(printf '%s\n' "$rdc_value" | line) ;; esac; }
line() { visible | LC_ALL=C tr -s ' \n' ' ' | LC_ALL=C sed -e 's/^ //' -e 's/ $//'; }
endef
