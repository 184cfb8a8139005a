"""The sentences above the author's part of programs and workers, each with a check of its facts."""

from __future__ import annotations

import re

from backends.common.remarks import shells
from compiler.ir.tasks import Ask, Gate, Parallel, Tool, agents_of
from runtime_shim.stepspec.tool_schemas import BUILT_IN
from runtime_shim.tasks.verdicts import LISTED
from tests.support.comments.header import (
    Check,
    _calls,
    _completions,
    _decides,
    _gates_of,
    _hashes,
    _needed,
    _packages,
    _prompted,
    _validations,
    _where,
    agents,
    both,
    config,
    has,
    has_task,
    is_stepspec,
    is_worker,
    named,
    own,
    proved,
    sets,
    specs,
    tools_of,
    used,
    words,
    worker,
)

NAMES_OF = r"(?P<names>(?:`[^`]+`(?:, | and )?)+)"


def sentence(pattern: str, check: Check) -> tuple[str, Check]:
    """Return the kind of a comment with a long sentence."""
    return pattern, check


PYTHON: list[tuple[str, Check]] = [
    (r"rdc proved rule [^\n]+", proved),
    sentence(
        r"Read only the lines that are not between BEGIN and END\. Those between them are the runtime, the same text "
        r"in every (?:program|worker) with the same hash\.(?: `-O runtime=shared` puts them into a separate file\.)? "
        r"To check them without rdc \(with `shasum -a 256` on macOS\):",
        both(_where, has(r"^# BEGIN RUNTIME$")),
    ),
    (r"sed -n '/\^# BEGIN (\w+)\$/,/\^# END \1\$/p' FILE \| sha256sum ([0-9a-f]{64}) -", _hashes),
    (
        r"Read all of this file\. The runtime is in the files? beside it: `sha256sum` prints .* in RUNTIME\.",
        has(r"^RUNTIME = \{$"),
    ),
    (r"Needs ((?:[^.]|\.(?=\d|py\b))+)\.", _needed),
    (
        r"Uses ([\w ]+) if (?:it is|they are) installed\.",
        lambda compiled, _, found: found[1].split(" and ") == [u for u in used(compiled) if u != "git"],
    ),
    sentence(
        r"`uv run FILE` installs the packages from a package index\. To lock .* run `uv lock --script FILE`, and "
        r"commit FILE\.lock\.",
        worker("^# dependencies = "),
    ),
    (
        r"`worker` runs one run at a time, until it ends or waits; `worker --jobs NUMBER` runs more\.",
        worker(r'options\.jobs or "1"'),
    ),
    sentence(
        r"`start` starts a run, `list` lists the runs, `status RUN` shows a run and what to do next, and `--help` "
        r"lists the other commands\.",
        worker(r'^    "list": \('),
    ),
    sentence(
        r"Steps run in the folder of the worker that takes the run, and any worker can take it, so start all workers "
        r"in the same folder\.",
        worker(),
    ),
    sentence(
        r"Several workers, or `--jobs`, run different runs at the same time in this folder, where they can disturb "
        r"each other\. While a run waits for a person, other runs continue there, too\.",
        worker('"--jobs"'),
    ),
    (
        r"`worker --workspace run` gives each run its own folder on each machine\.",
        worker(r'os\.path\.join\(store\.folder, "workspace"\)'),
    ),
    sentence(
        r"Runs are kept in the SQLite file (\S+)\.sqlite in the current folder \(SQLite adds NAME\.sqlite-wal and "
        r"NAME\.sqlite-shm, and workers add NAME\.sqlite\.workers\), or in a PostgreSQL database: set RDC_DATABASE to "
        r"postgresql://USER:PASSWORD@HOST/NAME\. The output of commands is in \.rdc/(\S+), or in the folder of "
        r"`worker --logs`\.",
        both(worker(r"_database\.path}\.workers"), lambda compiled, _, found: {found[1], found[2]} == {compiled.name}),
    ),
    sentence(
        r"`project` is the `name` under `\[project\]` in rdc\.toml\. Workers of another project do not see these "
        r"runs\.",
        sets("project"),
    ),
    sentence(
        r"A document with the path (\S+) of another project has the same runs in a shared database\. To separate "
        r"them, add `name` under `\[project\]` to rdc\.toml, and compile this file again\.",
        lambda compiled, _, found: not compiled.project and found[1] == compiled.sources[0].path,
    ),
    sentence(
        r"Network: the worker connects to the PostgreSQL server in RDC_DATABASE\. `worker --metrics PORT` serves "
        r"metrics on 127\.0\.0\.1, and `worker --metrics ADDRESS:PORT` on that address, without a password\. "
        r"If OTEL_EXPORTER_OTLP_ENDPOINT is set, each run sends its trace there\. "
        r"Commands(?P<agents> and agents)? can use more\.",
        both(
            worker(r'address or "127\.0\.0\.1"'),
            worker(r"traced\(execute_call, "),
            lambda compiled, _, found: not found["agents"] or agents(compiled),
        ),
    ),
    sentence(
        r"Exit codes of `status` and `start --wait`: 0 COMPLETE, 1 STOP or canceled, 2 error, 3 queued or running, 75 "
        r"needs a person\.",
        worker(),
    ),
    sentence(
        r"Exit codes: 0 COMPLETE, 1 STOP, 2 refused(?:, or a question without a reply)?,(?: 75 waits for a person,)? "
        r"130 interrupted\.",
        lambda _, text, found: ("75" in found[0]) == ("edition script " not in text),
    ),
    (r"/// script # requires-python = .* # dependencies = \[.*\] # ///".replace("# ", ""), _packages),
    sentence(
        r"It runs once, from the first step to COMPLETE or STOP\. It keeps no state, so you cannot resume it\. For a "
        r"program that you can resume, compile without `-O runtime=script`\.",
        has("edition script "),
    ),
    (r"`--answers FILE` answers its questions; each line is REPLY or STEP REPLY\.", has_task(Ask)),
    (
        r"The runtime opens no network connection\. The programs that it starts can\.",
        lambda _, text, __: not re.search(r"urllib\.request|http\.client|create_connection|AF_INET|\.connect\(", text),
    ),
    sentence(
        r"If OTEL_EXPORTER_OTLP_ENDPOINT is set, a run sends its trace there: the steps with outcomes and times, "
        r"without values and output\. The runtime opens no other network connection\. The programs that it "
        r"starts can\.",
        both(
            has(r"traced\((?:rdc_runtime\.)?execute, "),
            lambda _, text, __: not re.search(r"urllib\.request|create_connection|AF_INET|\.connect\(", text),
        ),
    ),
    sentence(
        r"`run` starts a run, `resume` continues one that waits or was interrupted, `status` shows where it is and "
        r"what you can do, and `--help` lists the rest\.",
        lambda _, text, __: not is_worker(text),
    ),
    (
        r"The state directory is \.rdc/(\S+) in the current folder\. It can hold one unfinished run\.",
        lambda compiled, _, found: found[1] == compiled.name,
    ),
    (r"A person decides: ((?:.|\n)+?)\.(?=\s)", _decides),
    (r"Calls ((?:.|\n)+?\))\.(?=\s)", _calls),
    # --- Steps ---
    sentence(
        r"First comes the (\w+)\. Each step has its line in the document \(`at`\), its task, and a transition for "
        r"each outcome: `go\(\"2\"\)` continues at step 2, `complete` and `stop` end the run(, as does an `end` that "
        r"`go` names)?\. A second string is the text that a run shows for it\.",
        lambda compiled, text, found: (
            found[1] == compiled.kind and bool(found[2]) == ("\n    end(" in own(compiled, text))
        ),
    ),
    (r"`retry\(2\)` makes up to 2 more attempts\. After that, the transition in `then` applies\.", sets("retry")),
    sentence(
        r"`keeps` stores the answer in these values\. A list has the value, the field of the answer, and the words "
        r"that it can be\.",
        sets("keeps"),
    ),
    (r"`(clears)` empties these values before each transition of the step\.", sets("clears")),
    (r"`do` lists changes of a transition: the value or counter, and how it changes\.", sets("do")),
    (
        r"`when` lists conditions of a transition\. The first transition whose conditions all hold applies\.",
        sets("when"),
    ),
    (r"`otherwise` is the transition for all other outcomes\.", sets("otherwise")),
    sentence(
        r"A `(?P<shell>\w+)` string runs as `(?P=shell) -c STRING`, without `-e` and `pipefail`, in the folder .*?\. "
        r"It gets .*? environment.*?, and variables such as RDC_STEP\. Exit code 0 is PASS, everything else is FAIL\.",
        both(_where, lambda compiled, _, found: found["shell"] in shells(compiled)),
    ),
    (r"A `block` is shown with the question\. It never runs\.", sets("block")),
    (
        NAMES_OF + r" are environment variables of each command\. In a title, prompt or "
        r"message, `\{\{NAME\}\}` shows the value\. It is never put into a command\.",
        lambda compiled, text, found: all(
            f" {name}=" in own(compiled, text) for name in re.findall(r"`(\w+)`", found["names"])
        ),
    ),
    (
        r"Each command can set all `outputs` in the file \$RDC_OUTPUT\. Other content in this file is FAIL\.",
        sets("outputs"),
    ),
    (
        r"(?:`\{[^`]+\}`(?:, | and )?)+ (?:is the number|are the numbers) of the instances?\.",
        lambda compiled, *_: any(r.role == "instance" for r in compiled.counters),
    ),
    (
        NAMES_OF + r" (?:is|are) in seconds\.",
        lambda compiled, text, found: all(
            f"{name}=" in own(compiled, text) for name in re.findall(r"`(\w+)`", found["names"])
        ),
    ),
    (r"A step that exceeds its `timeout` is ended and fails\.", sets("timeout")),
    (r"The `delay` before another attempt is multiplied by `backoff` each time\.", sets("backoff")),
    (r"In a command, `\$RDC_ATTEMPT` is the number of the attempt, starting at 1\.", has(r"\$\{?RDC_ATTEMPT")),
    (
        r"Set the secrets? "
        + NAMES_OF
        + r" in the environment \(at least four characters\)\. Commands get (?:it|them)\. "
        r"rdc shows \*\*\* instead in its own files and messages, but not in the commands' output and files\.",
        named(lambda compiled: compiled.secrets),
    ),
    sentence(
        r"`(?:worker )?--agent COMMAND` sets the command that gets each prompt on standard input\. So do `--agent-for "
        r"TYPE=COMMAND`, the file that RDC_AGENTS names, and RDC_AGENT\. It runs by `sh -c` with .*? rights and "
        r"environment, apart from .*?the variables of GitHub's runner\. rdc does not confine it\. Without one, each "
        r"prompt waits for a person's reply by `answer`\.",
        both(_where, lambda compiled, *_: agents(compiled)),
    ),
    (
        r"The inputs? " + NAMES_OF + r" (?:goes|go) into prompts unchanged, also if a stranger wrote (?:it|them)\.",
        named(_prompted),
    ),
    (
        r"A prompt starts with the outputs of earlier steps that its `context` lists: see `contexts`\.",
        lambda compiled, *_: bool(compiled.contexts),
    ),
    (
        r"Its `parts` follow those of the context in `after`\.",
        lambda compiled, *_: any(each.after for each in compiled.contexts),
    ),
    (
        r"A run stops after `limit` steps, not counting gates\. `resume --max-steps NUMBER` continues it\.",
        both(sets("limit"), lambda compiled, *_: compiled.limit is not None),
    ),
    (r"A `gate` waits until a person approves or rejects it, by `approve` or `answer`\.", has_task(Gate)),
    sentence(
        r"A `tool` step sends `tool` and `arguments` as JSON to the command that `(?:worker )?--tool "
        r"CONNECTION=COMMAND` sets for its `connection`\. The command runs by `sh -c`, as agents do\. Values in "
        r"`arguments` are escaped for JSON\. Without a command, .*? waits for a person's reply\.",
        both(_where, has_task(Tool)),
    ),
    (
        r"A keyword counts if a line of the answer has nothing else, apart from Markdown marks and a short label\.",
        lambda compiled, *_: any(a.reading.keywords for a in agents(compiled)),
    ),
    (
        r"In front of a colon or dash, (?P<said>.+?) counts?, too\.",
        lambda compiled, _, found: (
            ("`failing`" in found["said"])
            == any(
                a.reading.failing for n in compiled.nodes if not isinstance(n.task, Parallel) for a in agents_of(n.task)
            )
            and {*re.findall(r"`([^`]+)`", found["said"])} - {"failing"}
            == {w for a in agents(compiled) for w in a.reading.keywords if w.casefold() in LISTED}
        ),
    ),
    (r"`(failed)` means that the agent did not answer\.", lambda compiled, _, found: found[1] in words(compiled)),
    (
        r"`(invalid)` means that the answer does not match `validation`\.",
        lambda compiled, _, found: found[1] in words(compiled),
    ),
    (r"`(none)` means that it has no keyword\.", lambda compiled, _, found: found[1] in words(compiled)),
    sentence(
        r"`(ambiguous)` means that it has two keywords, or one only within a sentence(?:, or that the agents of "
        r"`parallel` disagree)?\.",
        lambda compiled, _, found: found[1] in words(compiled),
    ),
    (r"The agents of `parallel` are called at the same time\.", has_task(Parallel)),
    sentence(
        r"With `check=\"all\"`, a keyword in `failing` decides, and otherwise all agents must answer with the same "
        r"keyword\.",
        has_task(Parallel, check="all"),
    ),
    (r"With `check=\"any\"`, one keyword that is not in `failing` is enough\.", has_task(Parallel, check="any")),
    sentence(
        r"An answer with (\w+) at any step ends the run as COMPLETE: this is a rule of the format\. As `excused`, it "
        r"needs no match of a `validation`, and it skips all later steps( and gates)?\.",
        lambda compiled, _, found: all([found[1]] == list(a.reading.excused) for a in agents(compiled)),
    ),
    (
        r"A keyword in `excused` needs no match of a `validation`\.",
        lambda compiled, *_: any(a.reading.excused for a in agents(compiled)),
    ),
    (
        r"In `parallel`, all agents must answer with it \(`unanimous`\)\. Otherwise it does not count\.",
        sets("unanimous"),
    ),
    (r"Exit code 0 means COMPLETE, which follows after .+?\.(?= [A-Z`])", _completions),
    sentence(
        r"The answer of a step with `report` is also kept in the folder reports .*?(?:state directory|worker "
        r"--logs`)\.",
        both(_where, sets("report")),
    ),
    (
        r"After COMPLETE, the output in `artifact` is in a file in .*?names\.",
        lambda compiled, text, _: compiled.artifact is not None and not is_worker(text),
    ),
    sentence(
        r"After COMPLETE, the output in `artifact` is in a file in \.rdc/(\S+)/RUN, or in RUN in the folder of "
        r"`worker --logs`\.",
        both(worker(), lambda compiled, _, found: compiled.artifact and found[1] == compiled.name),
    ),
    (
        r"`jumps` is for `goto STEP`: the step where the run continues, and the values that this changes\.",
        sets("jumps"),
    ),
    (
        r"A placeholder lists its value, the strings before and after it, and the string to show if it has no value\.",
        has(r"placeholders=|contexts="),
    ),
    (r"One in `about` applies to every string that contains it\.", has(r"^        placeholders=")),
    # --- Specifications ---
    sentence(
        r"First comes the specification\. Each step has its line in the document \(`at`\), the `lines` of its parts, "
        r"and its facts\.",
        is_stepspec,
    ),
    sentence(
        r"Of (\S+), settings that the document does not have apply, and its approvals, guardrails and risks are "
        r"added\.",
        lambda compiled, _, found: [found[1]] == [each.path for each in compiled.sources[1:]],
    ),
    (r"A step first waits for its approvals: .+?\. A rejected one stops the run at once\.", _gates_of),
    (r"`human_gate=\"optional\"` waits for nothing\.", has(r'^        human_gate="optional",$')),
    sentence(
        r"A step looks at its inputs, calls its tools, does its work, and checks the files that it `makes`\. A "
        r"missing input stops the run at once\.",
        is_stepspec,
    ),
    sentence(
        r"`guardrails` search the inputs and the files that a step `makes`\. A word in `blocklist`, or a match of one "
        r"of the `patterns`, is a failure\. In the inputs, it stops the run at once\.",
        sets("guardrails"),
    ),
    (
        r"If (?:a required tool, )?the work or a check fails, the run stops\.",
        lambda compiled, *_: not any(s["retries"]["max"] for s in specs(compiled)),
    ),
    sentence(
        r"If (?:a required tool, )?the work or a check fails, the step is tried again up to `retries` times\. After "
        r"that, the run stops\.",
        sets("retries"),
    ),
    (r"A tool without `required` may fail: the run shows that and continues\.", sets("tools")),
    sentence(
        r"The work of every step is the `executor` command\. `(?:worker )?--executor COMMAND` and RDC_EXECUTOR "
        r"replace it\.",
        both(_where, lambda compiled, *_: "executor" in config(compiled)),
    ),
    sentence(
        r"The work of every step is the command of `(?:worker )?--executor COMMAND` or RDC_EXECUTOR\. Without one, a "
        r"person reports whether it passed\.",
        both(_where, lambda compiled, *_: "executor" not in config(compiled)),
    ),
    sentence(
        r"It runs by `sh -c` once per attempt, in the folder .*?, with .*? rights and environment, apart from .*?the "
        r"variables of GitHub's runner\. It gets the step as JSON on standard input\.",
        both(_where, is_stepspec),
    ),
    (
        r"The `context` command runs in the same way before the work, and its answer goes to the `executor`\.",
        lambda compiled, *_: "context" in config(compiled),
    ),
    (
        r"The tools? " + NAMES_OF + r" runs? in the same way, with the arguments as JSON on standard input\.",
        named(lambda compiled: tools_of(compiled, is_own=True)),
    ),
    (
        r"`(?:worker )?--tool NAME=COMMAND` sets another command\.",
        both(_where, lambda compiled, *_: tools_of(compiled, is_own=True)),
    ),
    (
        NAMES_OF
        + r" (?:is|are) part of the runtime, and can only reach files in this folder(?: and its Git repository)?\.",
        named(lambda compiled: [name for name in tools_of(compiled, is_own=False) if name in BUILT_IN]),
    ),
    (r"\"(?P<policy>[^\"]+)\" means these checks: (?P<checks>[\w, ]+?)\.", _validations),
    sentence(
        r"`types` runs (mypy) on Python files, without a configuration\. Without mypy, this check is skipped: the run "
        r"says so, and the step can pass\.",
        lambda compiled, _, found: found[1] in used(compiled),
    ),
    sentence(
        r"`lint` runs (ruff) on Python files, with the project's rules\. Without ruff, this check is skipped: the run "
        r"says so, and the step can pass\.",
        lambda compiled, _, found: found[1] in used(compiled),
    ),
    sentence(
        r"YAML is parsed with PyYAML\. Without PyYAML, YAML files are not checked: the run says so, and the step can "
        r"pass\.",
        has(r"\.ya?ml"),
    ),
    (r"Outputs of an earlier run are not deleted, so a check may find an old file\.", is_stepspec),
    (r"`evidence` is the lowest level of the recorded evidence\.", sets("evidence")),
    (r"`as` tells calls of the same tool in a step apart\.", has(r'"as": "')),
    (r"`pause` is in seconds\.", sets("pause")),
]
