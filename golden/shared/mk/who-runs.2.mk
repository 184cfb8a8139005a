# --- The driver: who runs, and the state of a run, read again -----------------------------------------------------------

define RDC_DRIVER_STATE
# --- The lock: a symbolic link is made by one process only, at once and with what it says: number, start, and place ---------
holder() {
  rdc_holder='' rdc_links='' rdc_free=lock
  if [ -f "$rdc_state/lock" ]; then # of an older rdc: the number alone
    { read -r rdc_word < "$rdc_state/lock"; } 2> /dev/null || rdc_word=''
    case $rdc_word in '' | *[!0123456789]*) rdc_word='none' ;; esac
    rdc_holder="$rdc_word-0 $rdc_place" rdc_links=' lock' rdc_free=lock.after.$rdc_word-0
  fi
  while rdc_value=$(readlink "$rdc_state/$rdc_free" 2> /dev/null); do
    rdc_holder=$rdc_value rdc_links="$rdc_links $rdc_free" rdc_free=lock.after.${rdc_value%% *}
  done
}
here() {
  rdc_place=$(printf '%s %s' "$(uname -n)" "$(readlink /proc/self/ns/pid 2> /dev/null)" | LC_ALL=C tr -c 'A-Za-z0-9.-' _)
}

# Whether who holds the lock lives; of another machine or container nobody can tell here, so it is not judged dead.
is_held() {
  rdc_word=${rdc_holder%% *}
  [ "${rdc_holder#* }" = "$rdc_place" ] || return 0
  alive "${rdc_word%-*}" "${rdc_word#*-}"
}
lock() {
  mkdir -p "$rdc_state" 2> /dev/null ||
    fail "the state folder cannot be made: $rdc_state; is something else there, or is this place read-only or full?"
  [ ! -e "$rdc_state/lock" ] || [ -f "$rdc_state/lock" ] || fail "this is no lock, remove it: $rdc_state/lock"
  here; began $$; rdc_me="$$-${rdc_began:-0} $rdc_place" rdc_tries=0
  until holder; [ "$rdc_holder" = "$rdc_me" ]; do
    [ -z "$rdc_holder" ] || ! is_held || refuse_lock
    rdc_tries=$((rdc_tries + 1))
    [ "$rdc_tries" -lt 99 ] || fail "the state folder cannot be written: $rdc_state; is it read-only or full, and are ln and readlink on PATH?"
    ln -s "$rdc_me" "$rdc_state/$rdc_free" 2> /dev/null || :
  done
  [ -e "$rdc_state/.gitignore" ] || { printf '*\n' > "$rdc_state/.gitignore"; } 2> /dev/null || : # Git takes nothing of it
  trap release EXIT
  trap 'interrupt INT' INT; trap 'interrupt TERM' TERM; trap 'interrupt HUP' HUP
}
refuse_lock() {
  rdc_word=${rdc_holder%%-*} rdc_says=${rdc_holder#* }
  [ "$rdc_says" != "$rdc_place" ] || fail "another run is under way, process $rdc_word"
  say "rdc: it cannot be seen from here whether it still runs; if it does not: ${rdc_again}unlock"
  fail "another run is under way elsewhere: process $rdc_word of $rdc_says"
}
release() { holder; for rdc_word in $rdc_links; do rm -f "$rdc_state/$rdc_word"; done; }

# --- Runs -----------------------------------------------------------------------------------------------------------------
# Begins a run; an unfinished one is not thrown away.
begin() {
  if [ "$rdc_count" -gt 0 ] && ! is_over; then
    is_own || fail "an unfinished run of a different version of the Makefile is there: ${rdc_again}clean archives it"
    fail "an unfinished run is there: ${rdc_again}resume continues it, ${rdc_again}clean archives it"
  fi
  inputs
  mend_journal; archive
  rdc_count=0 rdc_run=$(date +%Y%m%d-%H%M%S | tr -cd '0-9-')-$$
  begin_values
  note "run $rdc_program $rdc_run 2"
  rdc_next=${rdc_entry-}
}
archive() {
  rdc_history=''
  for rdc_word in journal $rdc_folders; do
    [ -e "$rdc_state/$rdc_word" ] || [ -h "$rdc_state/$rdc_word" ] || continue
    if [ -z "$rdc_history" ]; then
      rdc_number=1; while [ -e "$rdc_state/history/$rdc_number" ]; do rdc_number=$((rdc_number + 1)); done
      rdc_history=$rdc_state/history/$rdc_number rdc_number=1
    fi
    { mkdir -p "$rdc_history" && mv "$rdc_state/$rdc_word" "$rdc_history/$rdc_word"; } 2> /dev/null ||
      fail "the run cannot be archived: $rdc_history"
  done
}
run() {
  load ''; lock; ready; read_journal; how_to_call
  begin; walk
}

# --- The state of a run, read again: to go on with it, to tell of it, or to archive it ---------------------------------------

# Reads the journal without changing it. A write that was interrupted leaves the beginning of a line at its end.
read_journal() {
  rdc_tail='' rdc_count=0 rdc_first='' rdc_begun='' rdc_done='' rdc_last='' rdc_facts=''
  [ -e "$rdc_journal" ] || return 0
  [ -f "$rdc_journal" ] && [ -r "$rdc_journal" ] || fail "the state cannot be read: $rdc_journal; ${rdc_again}clean archives it"
  rdc_facts=$({ LC_ALL=C tr -c '\n -~' '?' < "$rdc_journal"; echo .; } 2> /dev/null | LC_ALL=C awk '
    function starts(line) { return index(line, count + 1 " ") == 1 }
    function is_whole(line) {
      half = (length(line) - 3) / 2
      return starts(line) && half == int(half) && substr(line, 1, half) " | " substr(line, 1, half) == line
    }
    function is_torn(line) {
      half = index(line, " | ")
      if (line ~ /[?]/) return 0
      if (!half) return starts(line) || index(count + 1 " ", line) == 1
      return starts(line) && length(line) < 2 * half + 1 && index(line, substr(line, half + 3) "") == 1
    }
    function take(line, words, n, i, at) {
      count++; last = substr(line, length(count) + 2, half - length(count) - 1)
      if (count == 1) first = last
      n = split(last, words, " ")
      if (words[1] == "end") done = last
      if (words[1] != "begin") return
      begun = last; done = ""; fact["calls_" words[2]]++
      for (i = 4; i <= n; i++) { at = index(words[i], "="); fact["r_" substr(words[i], 1, at - 1)] = substr(words[i], at + 1) }
    }
    NR > 1 { if (!is_whole(held)) { damaged = 1; exit } take(held) }
    { held = $0 }
    END {
      held = substr(held, 1, length(held) - 1) # the dot shows whether the last line has an end
      if (damaged) tail = "damaged"
      else if (held == "") tail = "whole"
      else if (is_whole(held)) { tail = "open"; take(held) }
      else tail = is_torn(held) ? "torn" : "damaged"
      print tail "\n" count + 0 "\n" first "\n" begun "\n" done "\n" last
      for (name in fact) print name, fact[name]
    }') && [ -n "$rdc_facts" ] || fail "the state cannot be read: $rdc_journal"
  for rdc_word in tail count first begun 'done' last; do
    eval "rdc_$rdc_word=\${rdc_facts%%
*}"
    case $rdc_facts in *"
"*) rdc_facts=${rdc_facts#*
} ;; *) rdc_facts='' ;; esac
  done
  [ "$rdc_tail" != damaged ] || damaged "$((rdc_count + 1))"
}
damaged() { fail "$rdc_journal${1:+:$1}: the journal is damaged, or of another rdc; ${rdc_again}clean archives it"; }
mend_journal() {
  case $rdc_tail in
    open) printf '\n' 2> /dev/null >> "$rdc_journal" ;;
    torn) { sed '$d' "$rdc_journal" > "$rdc_journal.whole" && mv "$rdc_journal.whole" "$rdc_journal"; } 2> /dev/null ;;
  esac || fail "the state cannot be written: $rdc_journal"
}
is_there() { [ -e "$rdc_journal" ]; }
is_over() { case $rdc_last in over\ *) ;; *) return 1 ;; esac; }
is_own() { rdc_run=${rdc_first#run "$rdc_program" }; rdc_run=${rdc_run% 2}; [ "$rdc_first" = "run $rdc_program $rdc_run 2" ]; }

refuse_version() { fail "this run was started with a different version of the Makefile; ${rdc_again}clean archives it"; }

# Goes to where the run stands. Nothing of a journal is believed: names have to be known, and values numbers.
own_journal() {
  [ "$rdc_count" -gt 0 ] || fail "there is no run to go on with"
  is_own || refuse_version
  load ''
  resume_values
  rdc_next=$rdc_entry
  while read -r rdc_word rdc_value; do
    case $rdc_word:${rdc_value#-} in :) continue ;; *[!A-Za-z0-9_.-]*:* | *: | *:*[!0123456789]*) damaged ;; esac
    key "$rdc_word"
    case $rdc_key in
      r_*) eval "[ -n \"\${rdc_$rdc_key-}\" ]" || damaged ;;
      *) eval "[ -n \"\${rdc_u_${rdc_key#calls_}-}\" ]" || damaged ;;
    esac
    eval "rdc_$rdc_key=\$rdc_value"
  done << facts
$rdc_facts
facts
  # shellcheck disable=SC2086 # these are several words
  set -- $rdc_begun
  [ $# -gt 0 ] || { rdc_attempt=1; take "$rdc_entry" || :; return 0; }
  case ${3-} in '' | *[!0123456789]*) damaged ;; esac
  take "${2-}" && [ "$rdc_kind" != choice ] || damaged
  rdc_next=$2 rdc_nth=$3
  attempt
  key "$2"; eval "rdc_call=\$rdc_calls_$rdc_key"
}

# Whether the command of the unit outlived its driver; its number was on record before it ran.
is_left() {
  { read -r rdc_value rdc_left rdc_since rdc_where < "$rdc_files/process"; } 2> /dev/null || return 1
  case $rdc_value$rdc_left in *[!0123456789]*) return 1 ;; esac
  [ "$rdc_value" = "$rdc_count" ] && [ "$rdc_where" = "$rdc_place" ] && alive "$rdc_left" "$rdc_since"
}

# What to do about a unit that was running when the run was interrupted.
decide() {
  case $rdc_last in run\ *) return ;; over*LIMIT*) limit_reached ;; esac
  if [ -n "$rdc_done" ]; then # what followed its outcome was not recorded, or is the end
    # shellcheck disable=SC2086 # these are several words
    set -- $rdc_done
    rdc_outcome=$3
    is_word "$rdc_outcome" || damaged
    follow
    return
  fi
  case $rdc_kind in bash | sh | agents | tool) ;; *) return 0 ;; esac
  rdc_outcome=''
  if is_left; then
    rdc_says="unit $rdc_id: its command still runs (pid $rdc_left)"
    say "rdc: wait for its end and resume, or end it and run it again: kill -s TERM -- -$rdc_left; ${rdc_again}resume RERUN=1"
    [ -z "$rdc_given_ASSUME$rdc_given_RERUN" ] || fail "$rdc_says; wait for its end, or end it"
    say "rdc: $rdc_says"
    end 75 "WAITING $rdc_id"
  fi
  ! is_yes "$rdc_given_RERUN" || return 0
  if [ -n "$rdc_given_ASSUME" ]; then
    outcome "$rdc_given_ASSUME" || fail "ASSUME is none of the words of unit $rdc_id: $(words ', ')"
  elif [ -t 0 ] && [ -t 2 ]; then
    decide_at_terminal
    [ -n "$rdc_outcome" ] || return 0
  else
    say "rdc: unit $rdc_id was interrupted: ${rdc_again}resume RERUN=1 runs it again, ASSUME=WORD decides ($(words ', '))"
    end 75 "WAITING $rdc_id"
  fi
  no_values; let_go
  now; rdc_start=$rdc_now
  called; say "$rdc_says, as assumed"
  ended 0
}
is_word() { case $1 in pass | fail) ;; *) return 1 ;; esac; }
limit_reached() { damaged; }
decide_at_terminal() {
  while :; do
    printf 'unit %s was interrupted [%s/again] ' "$rdc_id" "$(words /)" >&2
    read -r rdc_word || end 75 "WAITING $rdc_id"
    if [ "$rdc_word" = again ]; then rdc_outcome=''; return; fi
    ! outcome "$rdc_word" || return 0
  done
}
resume() {
  is_there || fail "there is no run to go on with"
  lock; read_journal; own_journal; ready; mend_journal; folders; how_to_call
  decide; walk
}

# A line for each unit that has finished, and where the run stands. It takes no lock, and changes nothing.
status() {
  [ -r "$rdc_file" ] || unreadable
  here; read_journal
  [ "$rdc_count" -gt 0 ] || { echo 'no run'; return; }
  if ! is_own; then
    is_over || own_journal
    # shellcheck disable=SC2086 # these are several words
    set -- $rdc_last
    echo "over: $3, a run of a different version of the Makefile"
    return
  fi
  own_journal
  LC_ALL=C awk -v count="$rdc_count" '
    function tell(way) { if (unit != "") print unit, word, code, attempt, time, way; unit = "" }
    NR > count { exit }
    { sub(/ [|] .*/, "") }
    $2 == "begin" { tell($3 == last && $4 > 1 ? "retry" : "go-" $3); last = $3; attempt = $4 }
    $2 == "end" { unit = $3; word = $4; code = $5; time = $6 }
    $2 == "over" { tell($4) }
    END { tell("") }
  ' "$rdc_journal" | while read -r rdc_unit rdc_outcome rdc_code rdc_number rdc_time rdc_way; do
    { take "$rdc_unit" && is_word "$rdc_outcome"; } || damaged
    case $rdc_code$rdc_number$rdc_time in '' | *[!0123456789]*) damaged ;; esac
    in_words "$rdc_outcome"
    case $rdc_way in go-*) look_at "${rdc_way#go-}" && rdc_way="go $rdc_id_U" && take "$rdc_unit" ;; esac
    rdc_attempt=$rdc_number; called; rdc_title=$rdc_says
    details "$rdc_code" "$rdc_time" "$rdc_way"
    printf '%s %s  (%s)\n' "$rdc_low" "$rdc_title" "$rdc_says" 2> /dev/null
  done
  if is_over; then
    # shellcheck disable=SC2086 # these are several words
    set -- $rdc_last
    echo "over: $3"
  else
    called; rdc_title=$rdc_says
    if is_left; then rdc_says=", its command still runs (pid $rdc_left)"; else rdc_says=''; fi
    echo "at $rdc_title$rdc_says"
  fi 2> /dev/null || fail "standard output cannot be written"
}

# --- What else make is told to do -----------------------------------------------------------------------------------------
# One unit alone, apart from any run: the state is neither read nor changed.
step() {
  load ''; here; how_to_call
  rdc_journal=/dev/null rdc_files=$rdc_state/alone.$$
  trap 'rm -rf "$rdc_files"; rmdir "$rdc_state" "${rdc_state%/*}" 2> /dev/null' EXIT
  trap 'interrupt INT' INT; trap 'interrupt TERM' TERM; trap 'interrupt HUP' HUP
  ready; inputs; begin_values
  take "$1" || fail "there is no unit $1"
  begin_unit; perform
  case $rdc_outcome in fail | failed | no | rejected | none | invalid | ambiguous) exit 1 ;; esac
}
clean() {
  is_there || return 0
  lock
  archive
  say "the run was archived in $rdc_history"
}

# A person says that who holds the lock is no more; of a process that can be seen to live nobody has to.
unlock() {
  here; holder
  [ "${rdc_holder#* }" != "$rdc_place" ] || ! is_held || fail "process ${rdc_holder%%-*} still runs: end it first"
  rm -f "$rdc_state/lock" "$rdc_state"/lock.after.* 2> /dev/null || fail "the lock cannot be removed: $rdc_state/lock"
}
help() {
  help_line "$rdc_begin" 'run the whole'
  help_line "${rdc_again}resume" 'resume a run; RERUN=1 or ASSUME=WORD decide about a unit that was interrupted'
  load ''
  for rdc_step in $rdc_help; do "$rdc_step"; done
  help_line "${rdc_again}status" 'what was done, and where the run stands'
  help_line "${rdc_again}clean" 'archive the run'
  help_line "${rdc_again}unlock" 'remove the lock of a run that is no more'
  for rdc_word; do help_unit "$rdc_word"; done
}
help_line() { printf '%-32s %s\n' "$1" "$2" 2> /dev/null; }
help_unit() {
  take "$1"; attempt; called
  help_line "${rdc_again}step-$1" "$rdc_says"
}
answer() {
  read_journal
  [ "$rdc_count" -eq 0 ] || is_own || refuse_version
  fail "no unit waits for an answer"
}
endef

