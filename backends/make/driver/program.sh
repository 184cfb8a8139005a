# --- The program: its steps, its counters, and where a run goes from a step ---
# Takes the program out of the Makefile once: what becomes of the file later does no harm.
load() {
  rdc_text=$({ LC_ALL=C awk -v prefix="$rdc_prefix" '
    function quoted(text) {
      gsub(/\047/, "\047\"\047\"\047", text)
      return "\047" text "\047"
    }
    function close_step() { if (is_open) print "}"; is_open = 0 }
    kind == "" {
      if ($1 != "define" || index($2, prefix) != 1) next
      name = substr($2, length(prefix) + 1)
      if (name ~ /^RDC_DRIVER/) exit
      escaped = sub(/^escaped_/, "", name)
      kind = name; sub(/_.*/, "", kind)
      gsub(/[.-]/, "_", name)
      text = ""; lines = 0
      if (kind == "after") print "rdc_" name "() { case $rdc_outcome in"
      next
    }
    $0 == "endef" {
      close_step()
      if (kind == "after") print "esac; }"
      else if (kind != "RDC" && !escaped) print "rdc_" name "=" quoted(text)
      else if (kind != "RDC") {
        print "rdc_" name "=$(printf %b. " quoted(text) ")"
        print "rdc_" name "=${rdc_" name "%.}"
      }
      kind = ""; next
    }
    kind == "RDC" && $1 == "node" {
      close_step(); is_open = 1
      order = order " " $2
      key = $2; gsub(/[.-]/, "_", key)
      print "rdc_node_" key "() {"
    }
    kind == "RDC" || kind == "after" { print; next }
    { text = text (lines++ ? "\n" : "") $0 }
    END { print "rdc_order=\047" order "\047" }' < "$rdc_file"; } 2> /dev/null) ||
    fail "$rdc_file cannot be read: is there a space in its name, and is awk on PATH?"
  eval "$rdc_text"
  rdc_entry=${rdc_order# } rdc_entry=${rdc_entry%% *}
}
# A step, with what stands below its line.
node() {
  rdc_name=$1 rdc_kind=$2 rdc_title=$3 rdc_id=${4-$1}
  rdc_attempts='' rdc_variables='' rdc_marks=''
}
attempts() { rdc_attempts=$1; }
variable() { rdc_variables="$rdc_variables $1=$2"; }
mark() { rdc_marks="$rdc_marks $1=$2"; }

take() { # sets the variables of the step $1
  replaced "$1" . _; replaced "$rdc_value" - _; rdc_key=$rdc_value
  "rdc_node_$rdc_key"
}
filled() { # sets rdc_value to the text $1 with numbers in place of its marks
  rdc_value=$1
  for rdc_mark in $rdc_marks; do
    eval "rdc_number=\$rdc_n_${rdc_mark##*=}"
    replaced "$rdc_value" "${rdc_mark%=*}" "$rdc_number"
  done
}
text_of() { eval "rdc_value=\$rdc_${1}_$rdc_key"; filled "$rdc_value"; } # `do` or `ask`

# Counters
counter() { eval "rdc_n_$1=\$2"; }
scope() { rdc_word=$1; shift; eval "rdc_scope_$rdc_word=\$*"; }
value() { eval "rdc_value=\$rdc_n_$1"; }
set_to() { counter "$@"; }
add() { value "$1"; counter "$1" $((rdc_value + $2)); }
add_counter() { value "$2"; add "$1" "$rdc_value"; }
raise() { at_least "$1" "$2" || counter "$1" "$2"; }
reset() {
  eval "set -- \$rdc_scope_$1"
  for rdc_word; do counter "${rdc_word%:*}" "${rdc_word#*:}"; done
}
below() { value "$1"; [ "$rdc_value" -lt "$2" ]; }
at_least() { value "$1"; [ "$rdc_value" -ge "$2" ]; }
equals() { value "$1"; [ "$rdc_value" -eq "$2" ]; }
retry() {
  [ "$rdc_attempt" -le "$1" ] || return 1
  as "${2-RETRY $1}"; rdc_next=$rdc_name rdc_nth=$((rdc_attempt + 1))
}

# Transitions: words in capitals, and a last word, are those of the document.
as() { rdc_way="$rdc_way${rdc_way:+, }$1"; }
go() { [ $# -lt 2 ] || as "$2"; rdc_next=$1 rdc_nth=1; }
CONTINUE() { go "$1" CONTINUE; }
GOTO() { go "$1" "GOTO $1"; }
to() { go "$1" "to $1"; }
finish() { rdc_over=COMPLETE rdc_code=0 rdc_message=${1-}; }
COMPLETE() { as "${2-COMPLETE}"; finish "$@"; }
stop() { rdc_over=STOP rdc_code=1 rdc_message=${1-}; }
STOP() { as "${2-STOP}"; stop "$@"; }

follow() { # goes on after the outcome of a step
  rdc_way='' rdc_passed=''
  "rdc_after_$rdc_key"; arrive
}
arrive() { # comes to the next step, past results of nested runbooks and what only decides
  while [ -z "$rdc_over" ]; do
    take "$rdc_next"
    case $rdc_kind in
      result) filled "$rdc_title"; rdc_passed="$rdc_passed$rdc_line    $rdc_id${rdc_value:+ $rdc_value}" ;;
      choice) ;;
      *) rdc_attempt=$rdc_nth
         [ -z "$rdc_attempts" ] || { value "$rdc_attempts"; rdc_attempt=$((rdc_value + 1)); }
         return ;;
    esac
    "rdc_after_$rdc_key"
  done
}
