
# --- Module: inputs ---------------------------------------------------------------------------------------------------
define RDC_MODULE_INPUTS
# Name, slot, what make gives it as, type, whether one has to be given, and what help says of it.
input() {
  rdc_inputs="$rdc_inputs $3" rdc_input=$3 rdc_input_names="$rdc_input_names${rdc_input_names:+
}$1"
  key "$2"
  eval "rdc_name_$3=\$1 rdc_into_$3=\$rdc_key rdc_type_$3=\$4 rdc_needed_$3=\$5 rdc_about_$3=\$6 rdc_options_$3=0"
}
rdc_inputs='' rdc_input_names=''
default() { eval "rdc_default_$rdc_input=\$1"; }
option() {
  eval "rdc_value=\$((rdc_options_$rdc_input + 1))"
  eval "rdc_options_$rdc_input=$rdc_value rdc_choice_${rdc_input}_$rdc_value=\$1"
}
pattern() { eval "rdc_pattern_$rdc_input=\$1"; }

# Takes the value of the input $1: what make was given, what the file INPUTS has, or its default.
take_input() {
  eval "rdc_name=\$rdc_name_$1 rdc_type=\$rdc_type_$1 rdc_value=\$rdc_needed_$1"
  rdc_path=$rdc_state/incoming/$rdc_name
  if eval "[ -n \"\${rdc_given_$1+yes}\" ]"; then
    eval "printf '%s' \"\$rdc_given_$1\"" 2> /dev/null > "$rdc_path" || unkept
  elif [ -e "$rdc_path" ]; then :
  elif eval "[ -n \"\${rdc_default_$1+yes}\" ]"; then
    eval "printf '%s' \"\$rdc_default_$1\"" 2> /dev/null > "$rdc_path" || unkept
  elif [ "$rdc_value" = required ]; then
    { [ -t 0 ] && [ -t 2 ]; } || fail "the input $rdc_name is missing: $rdc_begin $rdc_name=VALUE"
    eval "rdc_says=\$rdc_about_$1"
    printf '%s%s: ' "$rdc_name" "${rdc_says:+ ($rdc_says)}" >&2
    IFS= read -r rdc_value || fail "the input $rdc_name is missing: $rdc_begin $rdc_name=VALUE"
    printf '%s' "$rdc_value" 2> /dev/null > "$rdc_path" || unkept
  else return 0; fi
  [ "$(wc -c < "$rdc_path")" -le 1048576 ] || fail "the input $rdc_name is longer than 1,048,576 bytes"
  is_text "$rdc_path" || fail "the input $rdc_name is not UTF-8, or holds a NUL character"
  case $rdc_type in
    string)
      [ "$(LC_ALL=C tr -cd '\r\n' < "$rdc_path" | wc -c)" -eq 0 ] || fail "the input $rdc_name has more than one line"
      ;;
    number) is_decimal "$(cat "$rdc_path" && echo .)" || fail "the input $rdc_name is not a decimal number" ;;
    boolean)
      rdc_value=$(cat "$rdc_path" && echo .)
      case $rdc_value in true. | false.) ;; *) fail "the input $rdc_name is neither true nor false" ;; esac
      ;;
  esac
  one_of "$1"
  eval "rdc_value=\${rdc_pattern_$1-}"
  [ -n "$rdc_value" ] || return 0
  printf '%s' "$rdc_value" > "$rdc_state/rule" || unkept
  rdc_says=$(helper fits "$rdc_state/rule" "$rdc_path") || fail "the input $rdc_name is unfit: $rdc_says"
}

# Whether $1 is a decimal number and a dot.
is_decimal() {
  rdc_number=${1%.}
  case ${rdc_number#-} in '' | .* | *. | *[!0123456789.]* | *.*.*) return 1 ;; esac
}
one_of() {
  eval "rdc_number=\$rdc_options_$1"
  [ "$rdc_number" -gt 0 ] || return 0
  while [ "$rdc_number" -gt 0 ]; do
    eval "rdc_value=\$rdc_choice_${1}_$rdc_number"
    ! printf '%s' "$rdc_value" | cmp -s - "$rdc_path" || return 0
    rdc_number=$((rdc_number - 1))
  done
  fail "the input $rdc_name is none of its options: ${rdc_again}help lists them"
}

# Lets rdc_lines be lines NAME=VALUE if the file $1 is YAML, whose first line that says anything is `NAME: value`.
from_yaml() {
  rdc_says=$(RDC_NAMES=$rdc_input_names LC_ALL=C awk -v lines="$rdc_state/incoming.lines" '
    function wrong(says) { print "line " NR ": " says; failed = 1; exit 1 }
    function unquoted(text,    value, at, c) { # of a text in double quotes
      for (at = 2; at <= length(text); at++) {
        c = substr(text, at, 1)
        if (c == "\"") { rest = substr(text, at + 1); return value }
        if (c == "\\") {
          c = substr(text, ++at, 1)
          if (c == "n") c = "\n"; else if (c == "t") c = "\t"
          else if (c != "\"" && c != "\\" && c != "/") wrong("unknown escape: " c)
        }
        value = value c
      }
      wrong("the closing quote is missing")
    }
    function single(text,    value, at) {
      for (text = substr(text, 2); at = index(text, "\047"); text = substr(text, at + 2)) {
        value = value substr(text, 1, at - 1)
        if (substr(text, at + 1, 1) != "\047") { rest = substr(text, at + 1); return value }
        value = value "\047"
      }
      wrong("the closing quote is missing")
    }
    BEGIN {
      printf "" > lines
      for (count = split(ENVIRON["RDC_NAMES"], list, "\n"); count; count--) is_known[list[count]]
    }
    NR == 1 { sub(/^\357\273\277/, "") }
    { sub(/\r$/, "") }
    /^[ \t]*(#|$)/ || (!is_yaml && /^---[ \t]*$/) { next }
    /^[A-Za-z_][A-Za-z0-9_-]*:([ \t]|$)/ { is_yaml = 1 }
    !is_yaml { exit }
    !/^[A-Za-z_][A-Za-z0-9_-]*:[ \t]/ { wrong("expected NAME: value") }
    {
      name = $0; sub(/:.*/, "", name); text = substr($0, length(name) + 2); sub(/^[ \t]+/, "", text); rest = ""
      c = substr(text, 1, 1)
      if (!(name in is_known)) wrong("this name is not declared")
      if (name in given) wrong(name " is given twice")
      given[name]
      if (c == "\"") text = unquoted(text)
      else if (c == "\047") text = single(text)
      else {
        sub(/[ \t]+#.*/, "", text); sub(/[ \t]+$/, "", text)
        if (text ~ /^([]#[{}&*!|>%@`,?-]|~$|null$)/ && text !~ /^-[0-9]/ || text ~ /:([ \t]|$)/ || text == "")
          wrong("put the value in quotes")
      }
      if (rest !~ /^[ \t]*$/ && rest !~ /^[ \t]+#/) wrong("expected nothing behind the closing quote")
      for (word = "END"; index("\n" text "\n", "\n" word "\n"); ) word = word "_"
      print name "<<" word "\n" text "\n" word > lines
    }
    END { if (!failed) print is_yaml + 0 }
  ' "$1") || fail "$rdc_given_INPUTS: $rdc_says"
  [ "$rdc_says" = 0 ] || rdc_lines=$rdc_state/incoming.lines
}

# Takes all inputs, and refuses the run if one is missing or unfit, before anything of the last run is moved.
inputs() {
  [ -z "${rdc_others-}" ] || misspelled
  mkdir -p "$rdc_state" 2> /dev/null || unkept
  rm -rf "$rdc_state/incoming" 2> /dev/null
  mkdir -p "$rdc_state/incoming" 2> /dev/null || unkept
  if [ -n "${rdc_given_INPUTS-}" ]; then
    [ -f "$rdc_given_INPUTS" ] && [ -r "$rdc_given_INPUTS" ] || fail "the inputs cannot be read: $rdc_given_INPUTS"
    as_lines "$rdc_given_INPUTS" "$rdc_state/incoming.lines" inputs "$rdc_input_names"
    [ "$rdc_lines" = "$rdc_state/incoming.lines" ] || from_yaml "$rdc_lines"
    rdc_says=$(assignments "$rdc_lines" "$rdc_state/incoming/" "$rdc_input_names" 1048576) ||
      fail "$rdc_given_INPUTS: $rdc_says"
  fi
  for rdc_input in $rdc_inputs; do take_input "$rdc_input"; mask "$rdc_path"; done
}
keep_inputs() {
  for rdc_input in $rdc_inputs; do
    eval "rdc_name=\$rdc_name_$rdc_input rdc_key=\$rdc_into_$rdc_input"
    [ -e "$rdc_state/incoming/$rdc_name" ] || continue
    mv "$rdc_state/incoming/$rdc_name" "$rdc_files/values/rdc_s_$rdc_key.1" 2> /dev/null || unkept
  done
  rm -rf "$rdc_state/incoming"
  resume_values
}
# An input that was given has its value since the first line of the journal.
resume_values() {
  for rdc_input in $rdc_inputs; do
    eval "rdc_key=\$rdc_into_$rdc_input"
    [ ! -e "$rdc_files/values/rdc_s_$rdc_key.1" ] || eval "rdc_r_$rdc_key=1"
  done
}
help_inputs() {
  for rdc_input in $rdc_inputs; do
    eval "help_line \"\$rdc_begin \$rdc_name_$rdc_input=VALUE\" \"\$rdc_about_$rdc_input\""
  done
  help_line "$rdc_begin INPUTS=FILE" 'take inputs from a file: lines NAME=VALUE or NAME: VALUE, or JSON'
}
endef
