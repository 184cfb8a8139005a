
# --- Module: files of a run: one has its name once it is whole, and that before the journal refers to it --------------
define RDC_MODULE_FILES
unkept() { fail "the state cannot be read or written: $rdc_files; make room for it, then: ${rdc_again}resume"; }

# Keeps the text $1 as the file $2, and a copy of the file $1 as the file $2.
keep() { { printf '%s' "$1" > "$rdc_files/new" && mv "$rdc_files/new" "$rdc_files/$2"; } 2> /dev/null || unkept; }
copy() { { cp "$rdc_files/$1" "$rdc_files/new" && mv "$rdc_files/new" "$rdc_files/$2"; } 2> /dev/null || unkept; }

# Removes what is written anew each time: a link that stands in its place would lead out of the folder.
tidy() {
  for rdc_word in $rdc_folders; do
    [ ! -h "$rdc_files/$rdc_word" ] ||
      fail "$rdc_files/$rdc_word is a link: what it leads to may belong to others; remove the link"
  done
  for rdc_word in new reply message asks rule field call outcome output helper.py journal.whole delay.new; do
    set -- "$@" "$rdc_files/$rdc_word"
  done
  rm -rf "$@" "$rdc_state/answers.lines" "$rdc_state/incoming.lines" 2> /dev/null || unkept
}
begin_values() { folders; values_at_begin; }
values_at_begin() { :; }
# How many times the step has been done, itself included; files have that in their names.
call_number() { call_again; rdc_call=$((rdc_call + 1)); eval "rdc_calls_$rdc_key=\$rdc_call"; }
call_again() { key "$rdc_node"; eval "rdc_call=\${rdc_calls_$rdc_key-0}"; }
folders() { for rdc_word in $rdc_folders; do mkdir -p "$rdc_files/$rdc_word" 2> /dev/null || unkept; done; }

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

# Lets rdc_lines be a file of lines with what is in the file $1: itself or, if that is JSON, the file $2. The rest says
# what is in it, and the names that may stand there.
as_lines() {
  rdc_lines=$1
  # A step may be called {N}.
  case $(LC_ALL=C tr -d ' \t\r\n\000' < "$1" | LC_ALL=C cut -c 1-2) in
    '{"' | '{}') ;;
    *) return 0 ;;
  esac
  command -v python3 > /dev/null || fail "$1 is JSON, which needs python3; write lines instead"
  rdc_lines=$2
  rdc_says=$(python3 -I -c "$rdc_python_json" "$@") || fail "$1: $rdc_says"
}
endef
