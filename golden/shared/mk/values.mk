
# --- Module: values: `values/SLOT.N` is what a slot holds since line N of the journal; its register is N, or 0 --------
define RDC_MODULE_VALUES
slot() {
  key "$1"
  eval "rdc_r_$rdc_key=0 rdc_slot_$rdc_key=yes"
  rdc_slots="$rdc_slots $rdc_key" rdc_registers="$rdc_registers $1"
  [ $# -lt 2 ] || { eval "rdc_initial_$rdc_key=\$2 rdc_r_$rdc_key=1"; rdc_initials="$rdc_initials $rdc_key"; }
}
rdc_slots='' rdc_initials='' rdc_folders='prompts answers values outputs'

# Names that a command gives; those that it keeps after each outcome, each in its slot: `NAME=SLOT`, or `NAME` for both.
gives() { rdc_gives_U=$*; }
keeps() {
  rdc_keeps_U=$* rdc_gives_U=''
  for rdc_pair; do rdc_gives_U=${rdc_gives_U:+$rdc_gives_U }${rdc_pair%%=*}; done
}
keep_all() { for rdc_pair in ${rdc_keeps_U-}; do keep_value "${rdc_pair#*=}" "${rdc_pair%%=*}"; done; }

held() {
  rdc_held=''
  eval "rdc_value=\$rdc_r_$rdc_key rdc_word=\${rdc_slot_$rdc_key-}"
  [ -n "$rdc_word" ] || return 0
  if [ "$rdc_value" = 0 ]; then rdc_held='unset'; else rdc_held=$rdc_files/values/rdc_s_$rdc_key.$rdc_value; fi
  rdc_value=''
}
values_at_begin() {
  for rdc_key in $rdc_initials; do eval "keep \"\$rdc_initial_$rdc_key\" values/rdc_s_$rdc_key.1"; done
  keep_inputs
}
keep_inputs() { :; }

# Whether the slot $1 holds exactly the text $2; an unset one is the empty text.
holds() {
  key "$1"; held
  [ "$rdc_held" != unset ] || rdc_held=/dev/null
  [ -r "$rdc_held" ] || fail "the state cannot be read: $rdc_held"
  printf '%s' "$2" | cmp -s - "$rdc_held"
}
keep_answer() {
  key "$1"
  copy "answers/$rdc_node.$rdc_call" "values/rdc_s_$rdc_key.$rdc_count"; set_to "$1" "$rdc_count"
}

# Keeps the value $2 that the command has given in the slot $1, if it has given one.
keep_value() {
  key "$1"
  [ -e "$rdc_files/outputs/$rdc_node.$rdc_call.$2" ] || return 0
  copy "outputs/$rdc_node.$rdc_call.$2" "values/rdc_s_$rdc_key.$rdc_count"; set_to "$1" "$rdc_count"
}
keep_field() {
  key "$1"; rdc_field_of=$rdc_key
  keep "$2" field
  helper extract "$rdc_files/answers/$rdc_node.$rdc_call" "$rdc_files/field" "$rdc_files/new" || unkept
  rdc_key=$rdc_field_of
  mv "$rdc_files/new" "$rdc_files/values/rdc_s_$rdc_key.$rdc_count" || unkept
  mask "$rdc_files/values/rdc_s_$rdc_key.$rdc_count"
  set_to "$1" "$rdc_count"
}
clear() { set_to "$1" 0; }

# --- What a called process gets ---------------------------------------------------------------------------------------
tell() {
  RDC_STEP=$rdc_id RDC_RUN_ID=$rdc_run RDC_ATTEMPT=$rdc_attempt RDC_TITLE=$rdc_title
  # A title travels in the environment, which is not for long texts; no letter is cut in half.
  [ "${#rdc_title}" -le 1000 ] || RDC_TITLE=$(printf '%s\n' "$rdc_title" | LC_ALL=C awk '
    NR == 1 { $0 = substr($0, 1, 1000); sub(/[\300-\377][\200-\277]*$/, ""); print $0 "…" }
  ')
  export RDC_STEP RDC_RUN_ID RDC_ATTEMPT RDC_TITLE
  unset RDC_OUTPUT RDC_AGENT_TYPE RDC_ENTRY
  fits || return 1
  rdc_names=${rdc_gives_U-}
  [ -n "$rdc_names" ] || return 0
  case $rdc_files in /*) RDC_OUTPUT=$rdc_files/output ;; *) RDC_OUTPUT=$(pwd -P)/$rdc_files/output ;; esac
  export RDC_OUTPUT
  { rm -rf "$rdc_files/output" && true > "$rdc_files/output"; } 2> /dev/null || unkept
}

# Whether the value of each variable of the step fits into an environment.
fits() {
  for rdc_pair in $rdc_variables; do
    key "${rdc_pair#*=}"; held
    case $rdc_held in '' | unset) continue ;; esac
    rdc_size=$(wc -c < "$rdc_held") || fail "the state cannot be read: $rdc_held"
    [ "$rdc_size" -le 65536 ] && [ "$(LC_ALL=C tr -d '\000' < "$rdc_held" | wc -c)" -eq "$rdc_size" ] && continue
    rdc_says="more than 65,536 bytes, or a NUL character"
    say "rdc: the value of ${rdc_pair%%=*} does not fit into the environment: $rdc_says"
    rdc_names=''
    return 1
  done
}

# The variables come first: the shell itself may have a meaning of its own for one of them, so it is given none.
surround() {
  rdc_number=$#
  for rdc_pair in $rdc_variables; do
    key "${rdc_pair#*=}"; held
    case $rdc_held in
      unset) unset "${rdc_pair%%=*}"; continue ;;
      '') ;;
      *) rdc_value=$(cat "$rdc_held" && echo .); rdc_value=${rdc_value%.} ;;
    esac
    set -- "$@" "${rdc_pair%%=*}=$rdc_value"
  done
  while [ "$rdc_number" -gt 0 ]; do
    set -- "$@" "$1"; shift
    rdc_number=$((rdc_number - 1))
  done
  enter env "$@"
}

# Takes the values that the command has written; a line that is none makes the step fail, and then no value counts.
after_command() {
  true > "$rdc_files/answers/$rdc_node.$rdc_call" || unkept
  [ -n "$rdc_names" ] && [ -e "$rdc_files/output" ] || return 0
  read_values && return
  no_values
  [ -n "$rdc_says" ] || unkept
  say "rdc: RDC_OUTPUT: $(printf '%s' "$rdc_says" | line)"
  rdc_outcome=fail
}
read_values() {
  rdc_word=$rdc_files/outputs/$rdc_node.$rdc_call.
  rdc_says=$(assignments "$rdc_files/output" "$rdc_word" "${rdc_gives_U-}" 65536) || return
  rm -f "$rdc_files/output" # it may hold a secret
  mask_outputs
}
mask_outputs() { :; }
no_values() {
  true > "$rdc_files/answers/$rdc_node.$rdc_call" || unkept
  for rdc_word in ${rdc_gives_U-}; do rm -f "$rdc_files/outputs/$rdc_node.$rdc_call.$rdc_word"; done
}

# Reads lines `NAME=value` and `NAME<<WORD` … `WORD` of the file $1, and keeps the values of the names $3, which
# may have $4 bytes, as files whose names begin with $2. Says what is wrong with a line.
assignments() {
  is_text "$1" || { echo "it is not UTF-8, or holds a NUL character"; return 1; }
  RDC_NAMES=$3 LC_ALL=C awk -v target="$2" -v most="$4" '
    function wrong(says) { print "line " (word == "" ? FNR : first) ": " says; failed = 1; exit 1 }
    function begin() { close(file); file = target name; size = 0; printf "" > file }
    function add(piece) {
      size += length(piece)
      if (size > most + 0) wrong(name " is longer than " most " bytes")
      printf "%s", piece > file
    }
    BEGIN { count = split(ENVIRON["RDC_NAMES"], list, /[ \n]/); for (i = 1; i <= count; i++) is_known[list[i]] = 1 }
    word != "" && $0 == word { word = ""; next }
    word != "" { if (is_begun) add("\n"); add($0); is_begun = 1; next }
    {
      equals = index($0, "=")
      here = index($0, "<<")
      at = equals && (!here || equals < here) ? equals : here
      if (!at) wrong("neither NAME=value nor NAME<<WORD")
      name = substr($0, 1, at - 1)
      if (!(name in is_known)) wrong("this name is not declared")
      begin()
    }
    at == here {
      word = substr($0, here + 2); first = FNR; is_begun = 0
      if (word == "") wrong("no word after <<")
      next
    }
    { add(substr($0, at + 1)) }
    END { if (!failed && word != "") wrong("there is no line " word) }
  ' "$1"
}
endef
