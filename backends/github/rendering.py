"""The templates in `templates/` as functions. `make golden` makes them: change a template, not this file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backends.github.scalar import comment, folded, scalar, shell_scalar
from backends.templating import joined


@joined
def assignment_sh() -> Iterator[str]:
    """Fill in `assignment.sh.jinja`."""
    yield "# Prints the variable $1 with the value $2 in the format of $GITHUB_ENV.\n"
    yield "assignment() {\n"
    yield "  local end=rdc\n"
    yield '  while [[ $2 == *"$end"* ]]; do end+=_; done\n'
    yield '  printf \'%s<<%s\\n%s\\n%s\\n\' "$1" "$end" "$2" "$end"\n'
    yield "}\n"


@joined
def event_sh() -> Iterator[str]:
    """Fill in `event.sh.jinja`."""
    yield refuse_sh()
    yield "command -v jq > /dev/null || exit 0\n"
    yield "for field in $FIELDS; do\n"
    yield '  size=$(jq --arg field "$field" \'getpath($field | split(".")) // "" | utf8bytelength\' "$GITHUB_EVENT_PATH") || exit\n'
    yield '  [ "$size" -le "$MOST" ] || refuse \'Event\' \\\n'
    yield '    "event.$field has $size bytes; an input can have at most $MOST. No step ran. Shorten it and start a new run"\n'
    yield "done\n"


@joined
def inputs_sh(*, patterns: Any, rules: Any, typed: Any, types: Any) -> Iterator[str]:
    """Fill in `inputs.sh.jinja`."""
    yield refuse_sh()
    yield assignment_sh()
    yield "LC_ALL=C\n"
    yield "# Prints why $2 is not a valid value of input $1 with type $3. Prints nothing for a valid value.\n"
    yield "wrong() {\n"
    if "choice" in types:
        yield "  local options=RDC_OPTIONS_$1\n"
    if rules:
        yield "  local rule=RDC_RULE_$1\n"
    if patterns:
        yield "  local pattern=RDC_PATTERN_$1\n"
    yield "  [ \"${#2}\" -le 65536 ] || echo 'it is longer than 65,536 bytes'\n"
    if typed:
        yield "  case $3 in\n"
        if "number" in types:
            yield "    number) [[ $2 =~ ^-?[0-9]+(\\.[0-9]+)?$ ]] || echo 'it is not a decimal number' ;;\n"
        if "boolean" in types:
            yield "    boolean) [[ $2 =~ ^(true|false)$ ]] || echo 'it must be true or false' ;;\n"
        if "choice" in types:
            yield '    choice) grep -qxF -e "$2" <<< "${!options}" || echo "it must be one of ${!options//$\'\\n\'/, }" ;;\n'
        if "string" in types:
            yield "    string) [[ $2 != *[$'\\n\\r']* ]] || echo 'it has more than one line' ;;\n"
        yield "  esac\n"
    if rules:
        yield '  [[ -z ${!rule} || $2 =~ ^(${!rule})$ ]] || echo "it does not match ${!rule}"\n'
    if patterns:
        yield '  [ -z "${!pattern+given}" ] || matches "$2" "${!pattern}" || echo "it does not match ${!pattern}"\n'
    yield "}\n"
    if patterns:
        yield "# Checks the value $1 against the pattern $2, which needs Python's regular expressions.\n"
        yield "matches() {\n"
        yield "  VALUE=$1 PATTERN=$2 python3 -I -c 'import os, re, sys\n"
        yield 'value, pattern = (os.environb[name].decode("utf-8", "replace") for name in (b"VALUE", b"PATTERN"))\n'
        yield "sys.exit(not re.fullmatch(pattern, value))'\n"
        yield "}\n"
    if patterns:
        yield "command -v python3 > /dev/null || refuse 'Missing tool' 'This workflow needs python3 on the runner to check an input'\n"
    yield "found=$RUNNER_TEMP/rdc-inputs\n"
    yield "problems=\n"
    yield ": > \"$found\" || refuse 'Disk' 'Cannot save the inputs. The log shows the cause'\n"
    yield "while read -r name type need; do\n"
    yield "  value=RDC_INPUT_$name\n"
    yield "  default=RDC_DEFAULT_$name\n"
    yield "  value=${!value}\n"
    yield '  [ -n "$value" ] || value=${!default}\n'
    if "text" in types:
        yield "  # The empty text of an event is a value; the empty field of a form is missing.\n"
        yield '  [ "$type $need" != \'text required\' ] || [ "$GITHUB_EVENT_NAME" = workflow_dispatch ] || need=default\n'
    yield '  if [ -z "$value" ] && [ "$need" != default ]; then\n'
    yield '    [ "$need" = optional ] || problems+="Input $name: a value is required. "\n'
    yield "    continue\n"
    yield "  fi\n"
    yield '  problem=$(wrong "$name" "$value" "$type" | head -n 1)\n'
    yield '  [ -z "$problem" ] || problems+="Input $name: $problem. "\n'
    yield '  assignment "$name" "$value" >> "$found"\n'
    yield "done <<< \"${RDC_INPUTS%$'\\n'}\"\n"
    yield '[ -z "$problems" ] || refuse \'Inputs\' "${problems}No step ran. Start a new run with valid inputs"\n'
    yield "cat \"$found\" >> \"$GITHUB_ENV\" || refuse 'Disk' 'Cannot pass the inputs to later steps. The log shows the cause'\n"


@joined
def limited_sh() -> Iterator[str]:
    """Fill in `limited.sh.jinja`."""
    yield 'mkdir -p "$RUNNER_TEMP/rdc" && cat > "$RUNNER_TEMP/rdc/limited" <<\'SCRIPT\' && chmod +x "$RUNNER_TEMP/rdc/limited"\n'
    yield "#!/usr/bin/env bash\n"
    yield "# Runs a command for at most $1 seconds, in its own process group. At the limit, the group gets SIGTERM, and SIGKILL ten\n"
    yield "# seconds later. The exit code is then 124, and the step fails.\n"
    yield "set -m\n"
    yield "rdc_seconds=$1\n"
    yield "rdc_late=\n"
    yield "shift\n"
    yield '"$@" < /dev/null &\n'
    yield "group=$!\n"
    yield "exec 2> /dev/null # hides bash's messages about its jobs\n"
    yield 'send() { kill "-$1" -- "-$group"; }\n'
    yield "trap 'send TERM; send CONT' HUP INT TERM\n"
    yield "trap 'rdc_late=yes; send TERM; send CONT' USR1\n"
    yield '(sleep "$rdc_seconds" && kill -USR1 "$$" && sleep 10 && send KILL) > /dev/null &\n'
    yield "clock=$!\n"
    yield "while :; do\n"
    yield '  wait "$group"\n'
    yield "  code=$?\n"
    yield '  kill -0 "$group" || break\n'
    yield "  sleep 0.1\n"
    yield "done\n"
    yield 'kill -KILL -- "-$clock"\n'
    yield '[ -n "$rdc_late" ] || exit "$code"\n'
    yield "send KILL\n"
    yield "printf '\\ntimeout after %s s\\n' \"$rdc_seconds\"\n"
    yield "exit 124\n"
    yield "SCRIPT\n"


@joined
def loop_sh(
    *,
    commands: Any,
    hands_on: Any,
    limits: Any,
    numbers: Any,
    own: Any,
    pauses: Any,
    repeats: Any,
    summary: Any,
    valued: Any,
    withheld: Any,
) -> Iterator[str]:
    """Fill in `loop.sh.jinja`."""
    limit = '${rdc_limit:+"$RUNNER_TEMP/rdc/limited" "$rdc_limit"} '
    yield "# Opens a group for the step $1 in the log.\n"
    yield "begin() {\n"
    yield '  echo "::group::$1'
    if numbers:
        yield "${RDC_STEP_INSTANCE:+, instance $RDC_STEP_INSTANCE}${RDC_SUBSTEP_INSTANCE:+, part $RDC_SUBSTEP_INSTANCE}"
    if repeats:
        yield ", attempt ${RDC_ATTEMPT:-1}"
    yield '"\n'
    if summary:
        yield "  SECONDS=0\n"
    yield "}\n"
    yield "# Closes the group, prints the exit code $1, and sets rdc_outcome to pass or fail.\n"
    yield "note() {\n"
    yield "  rdc_code=$1\n"
    yield "  rdc_outcome=fail\n"
    yield '  [ "$rdc_code" -eq 0 ] && rdc_outcome=pass\n'
    yield "  printf '\\n::endgroup::\\nexit code %s\\n' \"$rdc_code\"\n"
    if summary:
        yield '  echo "$rdc_node ${RDC_ATTEMPT:-1} $rdc_code $SECONDS'
        for name in numbers:
            yield f" ${{{name}-}}"
        yield '" >> "$RUNNER_TEMP/rdc-journal"\n'
    yield "}\n"
    if hands_on:
        yield variables_sh()
        yield "# Passes what a step writes to $GITHUB_ENV and $GITHUB_PATH to all later steps, in this loop and after it.\n"
        yield "# A step cannot set variables of the workflow step, GitHub or rdc.\n"
        yield "rdc_env=()\n"
        yield "rdc_path=\n"
        yield "hand_on() {\n"
        yield "  local index\n"
        yield '  assignment "$1" "$2" >> "$GITHUB_ENV"\n'
        yield "  case $1 in\n"
        yield f"    {' | '.join(own + ('GITHUB_*', 'RUNNER_*', 'RDC_*', 'NODE_OPTIONS'))}) return ;;\n"
        yield "    PATH) PATH=$2 ;;\n"
        yield "  esac\n"
        yield '  for index in "${!rdc_env[@]}"; do\n'
        yield '    [[ ${rdc_env[index]} != "$1="* ]] || unset "rdc_env[index]"\n'
        yield "  done\n"
        yield '  rdc_env+=("$1=$2")\n'
        yield "}\n"
        yield "hand_on_paths() {\n"
        yield "  local line\n"
        yield '  while IFS= read -r line || [ -n "$line" ]; do\n'
        yield '    [ -n "$line" ] || continue\n'
        yield '    echo "$line" >> "$GITHUB_PATH"\n'
        yield "    rdc_path=:$rdc_path\n"
        yield '    rdc_path=$line${rdc_path//":$line:"/:}\n'
        yield '  done < "$1"\n'
        yield "}\n"
        yield "# Runs a command with these variables and paths.\n"
        yield "given() {\n"
        yield f'  env {"$rdc_without " if withheld else ""}-- "${{rdc_env[@]}}" "PATH=$rdc_path$PATH" "$@"\n'
        yield "}\n"
        yield "# Runs the command $3 of the step $1 in the shell $2, as a workflow step would. Further arguments are its variables.\n"
        yield "run() {\n"
        yield '  begin "$1"\n'
        yield '  : > "$RUNNER_TEMP/rdc-env" && : > "$RUNNER_TEMP/rdc-path" || exit # the disk is full: the step has no outcome\n'
        yield '  GITHUB_ENV=$RUNNER_TEMP/rdc-env GITHUB_PATH=$RUNNER_TEMP/rdc-path GITHUB_OUTPUT=/dev/null given "${@:4}" '
        if valued:
            yield '"$RUNNER_TEMP/rdc/valued" '
        yield f'{limit if limits else ""}"$2" -c "${{3%$\'\\n\'}}"\n'
        yield "  rdc_code=$?\n"
        yield '  hand_on_paths "$RUNNER_TEMP/rdc-path"\n'
        yield '  if ! variables "$RUNNER_TEMP/rdc-env" hand_on; then\n'
        yield "    echo '::error title=GITHUB_ENV::The step fails: a line is neither NAME=value nor NAME<<DELIMITER'\n"
        yield "    rdc_code=1\n"
        yield "  fi\n"
        yield '  note "$rdc_code"\n'
        yield "}\n"
    elif commands:
        yield "# Runs the command $3 of the step $1 in the shell $2. Further arguments are its variables.\n"
        yield "run() {\n"
        yield '  begin "$1"\n'
        yield f'  GITHUB_OUTPUT=/dev/null env {"$rdc_without " if withheld else ""}"${{@:4}}" {limit if limits else ""}"$2" -c "${{3%$\'\\n\'}}"\n'
        yield "  note $?\n"
        yield "}\n"
    if pauses:
        yield "# Waits before another attempt, after $1 attempts: $2 seconds, multiplied by $3 each time.\n"
        yield "pause() {\n"
        yield '  [ "$1" -gt 0 ] || return 0\n'
        yield "  rdc_pause=$2\n"
        yield "  for ((rdc_further = 1; rdc_further < $1 && $3 > 1; rdc_further++)); do\n"
        yield "    rdc_pause=$((rdc_pause < 100000000 / $3 ? rdc_pause * $3 : 100000000))\n"
        yield "  done\n"
        yield '  echo "Waiting $rdc_pause s before this attempt"\n'
        yield '  sleep "$rdc_pause"\n'
        yield "}\n"


@joined
def refuse_sh() -> Iterator[str]:
    """Fill in `refuse.sh.jinja`."""
    yield "# Fails the step: shows the title $1 and the reason $2, also in the run summary.\n"
    yield "refuse() {\n"
    yield '  echo "$2" >> "$GITHUB_STEP_SUMMARY"\n'
    yield '  echo "::error title=$1::$2" >&2\n'
    yield "  exit 2\n"
    yield "}\n"


@joined
def secrets_sh() -> Iterator[str]:
    """Fill in `secrets.sh.jinja`."""
    yield refuse_sh()
    yield '[ -n "$MISSING" ] || exit 0\n'
    yield 'if [ "$FORK" = true ]; then\n'
    yield "  refuse 'No secrets' \"This workflow needs ${MISSING% }, but GitHub gives no secrets to a pull request from a fork. No step ran\"\n"
    yield "fi\n"
    yield "refuse 'Missing secrets' \"These secrets are missing or empty: ${MISSING% }. Set them in the settings of the \\\n"
    yield '${PLACE:-repository}, and start a new run"\n'


@joined
def summary_sh(*, flow: Any, yes_no: Any) -> Iterator[str]:
    """Fill in `summary.sh.jinja`."""
    yield '[ -s "$RUNNER_TEMP/rdc-journal" ] || exit 0\n'
    yield "{\n"
    yield "  echo\n"
    yield "  echo '| Step | Attempt | Outcome | Time |'\n"
    yield "  echo '| --- | ---: | --- | ---: |'\n"
    yield "  awk '\n"
    if yes_no:
        yield '    BEGIN { split(ENVIRON["YES_NO"], asked); for (number in asked) yes_no[asked[number]] = 1 }\n'
    yield '    NR == FNR { id = $1; sub(/^[^ ]+ /, ""); title[id] = $0; next }\n'
    yield "    !($1 in title) { next }\n"
    yield '    { instance = $5 $6 == "" ? "" : ", instance " $5 ($5 != "" && $6 != "" ? "." : "") $6\n'
    if yes_no:
        yield '      outcome = $1 in yes_no ? ($3 ? "NO" : "YES") : ($3 ? "FAIL" : "PASS")\n'
    else:
        yield '      outcome = $3 ? "FAIL" : "PASS"\n'
    yield '      print "| " title[$1] instance " | " $2 " | " outcome " | " ($4 == "" ? "" : $4 " s") " |" }\n'
    yield '    FNR == 2000 { print "| and more | | | |"; exit }\n'
    yield '  \' <(printf \'%s\\n\' "$STEPS") "$RUNNER_TEMP/rdc-journal"\n'
    if flow:
        yield "  printf '\\n```mermaid\\n%s\\n' \"$FLOW\"\n"
        yield '  awk \'!/^(COMPLETE|STOP)/ { outcome[$1] = $3 ? "failed" : "passed" } END { for (id in outcome) print "class " id " " outcome[id] }\' \\\n'
        yield '    "$RUNNER_TEMP/rdc-journal"\n'
        yield "  printf '```\\n'\n"
    yield '} >> "$GITHUB_STEP_SUMMARY"\n'


@joined
def valued_sh(*, flags: Any, secrets: Any) -> Iterator[str]:
    """Fill in `valued.sh.jinja`."""
    yield 'mkdir -p "$RUNNER_TEMP/rdc" && echo "$OUTPUTS" > "$RUNNER_TEMP/rdc/outputs" &&\n'
    yield '  cat > "$RUNNER_TEMP/rdc/valued" <<\'SCRIPT\' && chmod +x "$RUNNER_TEMP/rdc/valued"\n'
    yield "#!/usr/bin/env bash\n"
    yield "# Runs a command and turns the outputs in the file $RDC_OUTPUT into variables of later steps. An output is NAME=value, or\n"
    yield "# NAME<<WORD, lines, WORD. If one is invalid, the step fails and no output counts.\n"
    yield 'RDC_OUTPUT=$(mktemp "$RUNNER_TEMP/rdc-output.XXXXXX") || exit\n'
    yield "export RDC_OUTPUT\n"
    yield '"$@"\n'
    yield "code=$?\n"
    yield "export LC_ALL=C\n"
    yield 'names=$(< "$RUNNER_TEMP/rdc/outputs")\n'
    yield "number=0\n"
    yield "found=\n"
    yield assignment_sh()
    if secrets:
        yield "masks=()\n"
        yield "for name in $RDC_SECRETS; do\n"
        yield "  while read -r line; do\n"
        yield '    [ -z "$line" ] || masks+=("$line")\n'
        yield "  done <<< \"${!name//$'\\r'/$'\\n'}\"\n"
        yield "done\n"
        yield "# Replaces secrets in `value` with ***. The longest goes first: one secret may contain another.\n"
        yield "hide() {\n"
        yield "  while IFS= read -r secret; do\n"
        yield '    value=${value//"$secret"/***}\n'
        yield '  done < <(for secret in "${masks[@]}"; do echo "${#secret} $secret"; done | sort -rn | cut -d \' \' -f 2-)\n'
        yield "}\n"
    yield "refused() {\n"
    yield '  echo "::error title=RDC_OUTPUT::The step fails because of its outputs: $1"\n'
    yield '  rm -rf "$RDC_OUTPUT"\n'
    yield '  exit "$((code ? code : 1))"\n'
    yield "}\n"
    yield "# Succeeds if a file is UTF-8 and has no NUL character.\n"
    yield "is_text() {\n"
    yield '  [ "$(tr -d \'\\000\' < "$1" | wc -c)" -eq "$(wc -c < "$1")" ] && awk \'\n'
    yield "    /[\\200-\\377]/ {\n"
    yield '      gsub(/[\\302-\\337][\\200-\\277]/, "")\n'
    yield '      gsub(/\\340[\\240-\\277][\\200-\\277]|[\\341-\\354\\356\\357][\\200-\\277][\\200-\\277]|\\355[\\200-\\237][\\200-\\277]/, "")\n'
    yield '      gsub(/(\\360[\\220-\\277]|[\\361-\\363][\\200-\\277]|\\364[\\200-\\217])[\\200-\\277][\\200-\\277]/, "")\n'
    yield "    }\n"
    yield "    /[\\200-\\377]/ { exit 1 }\n"
    yield '  \' "$1"\n'
    yield "}\n"
    yield "# Reads the lines up to $1 into `value`.\n"
    yield "lines() {\n"
    yield "  value=\n"
    yield '  while IFS= read -r line || [ -n "$line" ]; do\n'
    yield "    number=$((number + 1))\n"
    yield '    if [ "$line" = "$1" ]; then\n'
    yield "      value=${value%$'\\n'}\n"
    yield "      return\n"
    yield "    fi\n"
    yield "    value+=$line$'\\n'\n"
    yield "  done\n"
    yield "  return 1\n"
    yield "}\n"
    yield '[ -e "$RDC_OUTPUT" ] || [ -L "$RDC_OUTPUT" ] || exit "$code"\n'
    yield '[ -f "$RDC_OUTPUT" ] && [ ! -L "$RDC_OUTPUT" ] || refused \'the file is not a regular file\'\n'
    yield '[ "$(wc -c < "$RDC_OUTPUT")" -le 16777216 ] || refused \'the file is larger than 16,777,216 bytes\'\n'
    yield "is_text \"$RDC_OUTPUT\" || refused 'the file is not UTF-8 or has a NUL character'\n"
    yield 'while IFS= read -r line || [ -n "$line" ]; do\n'
    yield "  number=$((number + 1))\n"
    yield "  first=$number\n"
    yield "  name=${line%%=*}\n"
    yield "  word=${line%%<<*}\n"
    yield "  if [[ $line == *'<<'* && ${#word} -lt ${#name} ]]; then\n"
    yield "    name=$word\n"
    yield '    [ -n "${line#*<<}" ] || refused "line $first: no word after <<"\n'
    yield '    lines "${line#*<<}" || refused "line $first: the closing word after << is missing"\n'
    yield "  else\n"
    yield '    [[ $line == *=* ]] || refused "line $first: neither NAME=value nor NAME<<WORD"\n'
    yield "    value=${line#*=}\n"
    yield "  fi\n"
    yield '  [[ $name =~ ^[A-Za-z0-9_]+$ && " $names " == *" $name "* ]] || refused "line $first: the document declares no output of this name"\n'
    yield '  [ "${#value}" -le 65536 ] || refused "line $first: $name is longer than 65,536 bytes"\n'
    if secrets:
        yield '  [ -z "$RDC_SECRETS" ] || hide\n'
    yield '  found+=$(assignment "$name" "$value"; '
    if flags:
        yield 'assignment "rdc_has_$name" yes; '
    yield "echo .)\n"
    yield "  found=${found%.}\n"
    yield 'done < "$RDC_OUTPUT"\n'
    yield 'rm -f "$RDC_OUTPUT"\n'
    yield 'printf %s "$found" >> "$GITHUB_ENV" || exit 1\n'
    yield 'exit "$code"\n'
    yield "SCRIPT\n"


@joined
def variables_sh() -> Iterator[str]:
    """Fill in `variables.sh.jinja`."""
    yield "# Calls $2 with each name and value in a file such as $GITHUB_ENV.\n"
    yield "variables() {\n"
    yield "  local line name value end\n"
    yield '  while IFS= read -r line || [ -n "$line" ]; do\n'
    yield '    [ -n "$line" ] || continue\n'
    yield "    if [[ $line == ?*=* && ${line%%=*} != *'<<'* ]]; then\n"
    yield "      name=${line%%=*}\n"
    yield "      value=${line#*=}\n"
    yield "    elif [[ $line == ?*'<<'?* && ${line%%'<<'*} != *=* ]]; then\n"
    yield "      name=${line%%'<<'*}\n"
    yield "      end=${line#*'<<'}\n"
    yield "      value=\n"
    yield '      while IFS= read -r line || [ -n "$line" ] || return 1; do\n'
    yield '        [ "$line" != "$end" ] || break\n'
    yield "        value+=$line$'\\n'\n"
    yield "      done\n"
    yield "      value=${value%$'\\n'}\n"
    yield "    else\n"
    yield "      return 1\n"
    yield "    fi\n"
    yield '    "$2" "$name" "$value" || return\n'
    yield '  done < "$1"\n'
    yield "}\n"
    yield assignment_sh()


@joined
def _mapping(key: Any, entries: Any, indent: Any) -> Iterator[str]:
    """Fill in the macro `mapping` of `workflow.yml.jinja`."""
    yield f"{key}:\n"
    for name, value in entries.items():
        yield f"{' ' * indent}{name}: {scalar(value, indent + 2, code=name.startswith('COMMAND'))}\n"


@joined
def _write(step: Any, shell: Any) -> Iterator[str]:
    """Fill in the macro `write` of `workflow.yml.jinja`."""
    for line in step.comments:
        yield f"      # {line}\n"
    yield f"      - name: {scalar(step.name)}\n"
    if step.id:
        yield f"        id: {step.id}\n"
    if step.condition:
        yield f"        if: {folded(step.condition, 10)}\n"
    if step.tolerated:
        yield "        continue-on-error: true\n"
    if step.timeout:
        yield f"        timeout-minutes: {step.timeout}\n"
    if step.uses:
        yield f"        uses: {scalar(step.uses)}{' # ' + step.version if step.version else ''}\n"
        if step.inputs:
            yield f"        {_mapping('with', step.inputs, 10)}"
    if step.shell and step.shell != shell:
        yield f"        shell: {shell_scalar(step.shell)}\n"
    if step.env:
        yield f"        {_mapping('env', step.env, 10)}"
    if step.run:
        yield f"        run: {scalar(step.run, 10, code=not step.run.startswith('# '))}\n"


@joined
def workflow_yml(
    *,
    command: Any,
    concurrency: Any,
    guide: Any,
    jobs: Any,
    loader: Any,
    mark: Any,
    name: Any,
    plain_shell: Any,
    program: Any,
    runs_on: Any,
    shell_says: Any,
    timeout: Any,
    triggers: Any,
    version: Any,
) -> Iterator[str]:
    """Fill in `workflow.yml.jinja`."""
    yield f"# {mark} {version} from "
    for source_index, source in enumerate(program.sources):
        yield f"{'# with ' if not source_index == 0 else ''}{comment(source.path)} (sha256 {source.sha256}){'.' if source_index == len(program.sources) - 1 else ','}\n"
    yield "# Do not edit this file: change the document and run the command below. To check the file, run `rdc verify FILE`.\n"
    yield f"#   {command}\n"
    for line in guide.splitlines():
        yield f"# {line}\n"
    yield f"name: {scalar(name)}\n"
    yield "on:\n"
    yield f"{triggers}\n"
    yield "permissions: {}\n"
    yield "concurrency:\n"
    yield f"  group: {scalar(concurrency.group, 4)}\n"
    yield f"  cancel-in-progress: {'true' if concurrency.cancel_in_progress else 'false'}\n"
    if concurrency.queue:
        yield f"  queue: {concurrency.queue}\n"
    if loader:
        yield "defaults:\n"
        yield "  run:\n"
        yield f"    # {shell_says}\n"
        yield f"    shell: {shell_scalar(loader, 6)}\n"
    yield "jobs:\n"
    for job in jobs:
        for line in job.comments:
            yield f"  # {line}\n"
        yield f"  {job.id}:\n"
        yield f"    name: {scalar(job.name)}\n"
        if job.needs:
            yield f"    needs: [{', '.join(job.needs)}]\n"
        if job.condition:
            yield f"    if: {folded(job.condition, 6)}\n"
        yield f"    runs-on:{runs_on}\n"
        if job.environment:
            yield f"    environment: {scalar(job.environment, 6)}\n"
        yield f"    timeout-minutes: {job.timeout or timeout}\n"
        yield f"    permissions:{' {}' if not job.permissions else ''}\n"
        for scope, access, why in job.permissions:
            yield f"      {scope}: {access} # {why}\n"
        if job.outputs:
            yield f"    {_mapping('outputs', job.outputs, 6)}"
        if job.matrix:
            yield "    strategy:\n"
            yield "      fail-fast: false # lets the other agents finish\n"
            yield "      matrix:\n"
            yield "        include:\n"
            for agent_index, agent in enumerate(job.matrix):
                yield f"          - entry: {agent_index}\n"
                yield f"            agent: {scalar(agent, 14)}\n"
        if job.env:
            yield f"    {_mapping('env', job.env, 6)}"
        if job.shell and job.shell != loader:
            yield "    defaults:\n"
            yield "      run:\n"
            if (shell_says and job.shell != plain_shell) and (not loader):
                yield f"        # {shell_says}\n"
            yield f"        shell: {shell_scalar(job.shell, 10)}"
            if job.shell == plain_shell:
                yield " # without -e and pipefail: the exit code is the command's own"
            yield "\n"
        yield "    steps:\n"
        for step in job.steps:
            yield f"{_write(step, job.shell or loader)}"
