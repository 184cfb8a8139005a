# --- Module: texts that refer to values, and files of a run -------------------------------------------------------------

define RDC_MODULE_TEXTS
# --- Texts: what they refer to is filled in, and what a terminal would obey is a `?` -------------------------------------------
mark() {
  eval "rdc_marks_U=\${rdc_marks_U-}x"
  eval "rdc_mark=rdc_mark_U_\${#rdc_marks_U}"
  key "$2"
  eval "$rdc_mark=\$1 ${rdc_mark}_register=\$rdc_key"
  eval "${rdc_mark}_before=\${3-} ${rdc_mark}_after=\${4-} ${rdc_mark}_missing=\${5-}"
}

# Writes the text $1 with the values of the registers that the unit's texts refer to, in one pass, and lets it be rdc_value.
fill() {
  eval "rdc_marks=\${rdc_marks_U-}"
  if [ -z "$rdc_marks" ]; then printf '%s' "$1"; return; fi
  (
    rdc_i=0
    while [ "$rdc_i" -lt "${#rdc_marks}" ]; do
      rdc_i=$((rdc_i + 1))
      rdc_word=rdc_mark_U_$rdc_i
      eval "RDC_MARK_$rdc_i=\$$rdc_word RDC_BEFORE_$rdc_i=\$${rdc_word}_before RDC_AFTER_$rdc_i=\$${rdc_word}_after"
      eval "RDC_MISSING_$rdc_i=\$${rdc_word}_missing rdc_key=\$${rdc_word}_register"
      held
      eval "RDC_VALUE_$rdc_i=\$rdc_value RDC_FILE_$rdc_i=\$rdc_held"
      export "RDC_MARK_$rdc_i" "RDC_BEFORE_$rdc_i" "RDC_AFTER_$rdc_i" "RDC_MISSING_$rdc_i" "RDC_VALUE_$rdc_i" "RDC_FILE_$rdc_i"
    done
    printf '%s\n' "$1" | LC_ALL=C awk -v count="$rdc_i" '
      function put(i) {
        if (ENVIRON["RDC_FILE_" i] == "unset") { printf "%s", ENVIRON["RDC_MISSING_" i]; return }
        printf "%s%s", ENVIRON["RDC_BEFORE_" i], ENVIRON["RDC_VALUE_" i]
        if (ENVIRON["RDC_FILE_" i] != "") {
          fflush()
          if (system("cat \047" ENVIRON["RDC_FILE_" i] "\047") != 0) { failed = 1; exit }
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
  eval "rdc_marks=\${rdc_marks_U-}"
  if [ -z "$rdc_marks" ]; then rdc_value=$1; return; fi
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
line() { visible | LC_ALL=C tr -s ' \n' ' ' | LC_ALL=C sed -e 's/^ //' -e 's/ $//'; }

# Whether the file $1 is UTF-8 without NUL: what is none is refused where it would come in, and so is nowhere else.
is_text() {
  rdc_size=$(wc -c < "$1") || return 1
  [ "$(LC_ALL=C tr -d '\000' < "$1" | wc -c)" -eq "$rdc_size" ] && LC_ALL=C awk '
    /[\200-\377]/ {
      gsub(/[\302-\337][\200-\277]/, "")
      gsub(/\340[\240-\277][\200-\277]|[\341-\354\356\357][\200-\277][\200-\277]|\355[\200-\237][\200-\277]/, "")
      gsub(/(\360[\220-\277]|[\361-\363][\200-\277]|\364[\200-\217])[\200-\277][\200-\277]/, "")
    }
    /[\200-\377]/ { exit 1 }
  ' "$1"
}

# --- Files of a run: one has its name only once it is whole, and that before the line of the journal that refers to it ---------
rdc_folders='prompts answers values outputs'
unkept() { fail "the state cannot be read or written: $rdc_files; make room for it, then: ${rdc_again}resume"; }

# Keeps the text $1 as the file $2, and a copy of the file $1 as the file $2.
keep() { { printf '%s' "$1" > "$rdc_files/new" && mv "$rdc_files/new" "$rdc_files/$2"; } 2> /dev/null || unkept; }
copy() { { cp "$rdc_files/$1" "$rdc_files/new" && mv "$rdc_files/new" "$rdc_files/$2"; } 2> /dev/null || unkept; }

# Removes what is written anew each time: a link that stands in its place would lead out of the folder.
tidy() {
  for rdc_word in new reply message asks rule field call outcome output helper.py journal.whole; do
    set -- "$@" "$rdc_files/$rdc_word"
  done
  rm -rf "$@" "$rdc_state/answers.lines" "$rdc_state/incoming.lines" 2> /dev/null || unkept
}
begin_values() { folders; values_at_begin; }
values_at_begin() { :; }
rdc_ready="$rdc_ready tidy"
# How many times the unit has been done, itself included; files have that in their names.
call_number() { key "$rdc_unit"; eval "rdc_calls_$rdc_key=\$((\${rdc_calls_$rdc_key-0} + 1))"; eval "rdc_call=\$rdc_calls_$rdc_key"; }
folders() { for rdc_word in $rdc_folders; do mkdir -p "$rdc_files/$rdc_word" 2> /dev/null || unkept; done; }

# Lets rdc_lines be a file of lines with what is in the file $1: itself or, if that is JSON, the file $2. The rest says
# what is in it, and the names that may stand there.
as_lines() {
  rdc_lines=$1
  # A unit may be called {N}.
  case $(LC_ALL=C tr -d ' \t\r\n\000' < "$1" | LC_ALL=C cut -c 1-2) in
    '{"' | '{}') ;;
    *) return 0 ;;
  esac
  command -v python3 > /dev/null || fail "$1 is JSON, which needs python3; write lines instead"
  rdc_lines=$2
  rdc_says=$(python3 -I -c "$rdc_python_json" "$@") || fail "$1: $rdc_says"
}
endef
