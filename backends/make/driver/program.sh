# --- The program: its steps, its counters, and where a run goes from a step ---
# Reads the program from the Makefile once, so that later changes of the file have no effect.
load() {
  rdc_text=$({ awk -v prefix="$rdc_prefix" '
    function quoted(text) { gsub(/\047/, "\047\"\047\"\047", text); return "\047" text "\047" }
    function put(name) { # sets a variable to the text of a block
      return name "=" (is_escaped ? "$(printf %b. " quoted(text) ") " name "=${" name "%.}" : quoted(text))
    }
    kind == "" && ($1 != "define" || index($2, prefix) != 1) { next }
    kind == "" {
      name = substr($2, length(prefix) + 1); is_escaped = sub(/^escaped_/, "", name)
      if (name ~ /^RDC_DRIVER/) exit
      kind = name; sub(/_.*/, "", kind); sub(/^[^_]*_/, "", name); key = name; gsub(/[.-]/, "_", key)
      text = ""; lines = 0
      if (kind == "step") { order = order " " name; text = "node " name " " }
      next
    }
    $0 == "endef" {
      if (kind == "after") { print "rdc_step_" key "() { eval " quoted(step text "\nesac; esac") "; }"; said = "" }
      if (kind == "text" || kind == "RDC") print kind == "RDC" ? text : put("rdc_text_" key)
      if (kind == "prompt") said = put("rdc_value"); else shown = kind == "do" || kind == "ask" ? put("rdc_value") : ""
      kind = ""; next
    }
    kind == "step" && /^(pass|fail|[*])( [|] fail)?[)] / {
      step = "case $1 in\ntake) " text " ;;\nshow) " shown " ;;\nprompt) " said " ;;\nturn) case $rdc_outcome in\n"
      kind = "after"; text = ""; lines = 0
    }
    { text = text (lines++ ? "\n" : "") $0 }
    END { print "rdc_order=\047" order "\047" }' < "$rdc_file"; } 2> /dev/null) ||
    fail "cannot read $rdc_file; is there a space in its name, and is awk on PATH?"
  eval "$rdc_text"
  rdc_text='' rdc_entry=${rdc_order# } rdc_entry=${rdc_entry%% *}
}
# The words in the blocks of steps, and in RDC_COUNTERS
set_to() { eval "rdc_n_$1=\$2"; }
scope() { rdc_word=$1; shift; eval "rdc_scope_$rdc_word=\$*"; }
node() { rdc_name=$1 rdc_kind=$2 rdc_title=$3 rdc_id=${4-$1} rdc_attempts='' rdc_variables='' rdc_marks=''; }
attempts() { rdc_attempts=$1; }
variable() { rdc_variables="$rdc_variables $1=$2"; }
mark() { rdc_marks="$rdc_marks $1=$2"; }
take() { replaced "$1" . _; replaced "$rdc_value" - _; rdc_key=$rdc_value; "rdc_step_$rdc_key" take; }
shown_text() { # `show` the step's task, or its `prompt`
  rdc_value=''; "rdc_step_$rdc_key" "$1"; filled "$rdc_value"
}
filled() { # sets rdc_value to the text $1 with numbers instead of its marks
  rdc_value=$1
  for rdc_mark in $rdc_marks; do eval "replaced \"\$rdc_value\" \"\${rdc_mark%=*}\" \$rdc_n_${rdc_mark##*=}"; done
}
reset() { eval "set -- \$rdc_scope_$1"; for rdc_word; do set_to "${rdc_word%:*}" "${rdc_word#*:}"; done; }
value() { eval "rdc_value=\$rdc_n_$1"; }
add() { value "$1"; set_to "$1" $((rdc_value + $2)); }
add_counter() { value "$2"; add "$1" "$rdc_value"; }
raise() { at_least "$1" "$2" || set_to "$1" "$2"; }
below() { value "$1"; [ "$rdc_value" -lt "$2" ]; }
at_least() { value "$1"; [ "$rdc_value" -ge "$2" ]; }
equals() { value "$1"; [ "$rdc_value" -eq "$2" ]; }
retry() { [ "$rdc_attempt" -le "$1" ] && as "${2-RETRY $1}" && rdc_next=$rdc_name rdc_nth=$((rdc_attempt + 1)); }
as() { rdc_way="$rdc_way${rdc_way:+, }$1"; }
go() { [ $# -lt 2 ] || as "$2"; rdc_next=$1 rdc_nth=1; }
CONTINUE() { go "$1" CONTINUE; }
GOTO() { go "$1" "GOTO $1"; }
finish() { rdc_over=COMPLETE rdc_code=0 rdc_message=${1-}; }
COMPLETE() { as "${2-COMPLETE}"; finish "$@"; }
stop() { rdc_over=STOP rdc_code=1 rdc_message=${1-}; }
STOP() { as "${2-STOP}"; stop "$@"; }
follow() { rdc_way='' rdc_passed=''; "rdc_step_$rdc_key" turn; arrive; } # continues after an outcome
arrive() { # goes to the next step, past choices and the results of nested runbooks
  while [ -z "$rdc_over" ]; do
    take "$rdc_next"
    case $rdc_kind in choice | result) ;; *) rdc_attempt=$rdc_nth; break ;; esac
    filled "$rdc_title"
    [ "$rdc_kind" = choice ] || rdc_passed="$rdc_passed$rdc_eol    $rdc_id${rdc_value:+ $rdc_value}"
    "rdc_step_$rdc_key" turn
  done
  [ -z "$rdc_attempts" ] || { value "$rdc_attempts"; rdc_attempt=$((rdc_value + 1)); }
}
