"""The sentences above the author's part of programs and workers, each with a check of its facts."""

import hashlib
import re
from collections.abc import Callable, Iterable

from backends.common.remarks import shells
from compiler.analyses.values import most_visits
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import Agent, Ask, End, Gate, Parallel, Stage, Tool, agents_of
from runtime_shim.stepspec.step_builder import checks_of
from runtime_shim.stepspec.tool_schemas import BUILT_IN
from runtime_shim.tasks.verdicts import LISTED
from tests.support.comments.header import Check, config, has, proved, specs, tools_of, used


def _decides(compiled: Program, _: str, found: re.Match[str]) -> bool:
    asking = [node.id for node in compiled.nodes if isinstance(node.task, Ask | Gate)]
    return " ".join(found[1].split()) == ", ".join(asking)


def called(node: Node) -> list[str]:
    if isinstance(node.task, Tool):
        return [f"the tool {node.task.connection}"]
    if isinstance(node.task, Stage):
        return {"execute": ["the executor"], "tool": [f"the tool {node.task.subject}"]}.get(node.task.stage, [])
    return [f"the agent {agent.agent}" if agent.agent else "an agent" for agent in agents_of(node.task)]


def _calls(compiled: Program, _: str, found: re.Match[str]) -> bool:
    """The number is that of the visits of a node with its entries, or less because the run has a limit of steps."""
    visits, wanted = most_visits(compiled), dict[str, float]()
    for node in compiled.nodes:
        for name in called(node):
            most = visits[node.id]
            wanted[name] = wanted.get(name, 0) + (float("inf") if most is None else most)
    numbers = {"no limit": float("inf"), "at most once": 1.0}
    stated = {
        name: numbers[number] if number in numbers else int(number.split()[2])
        for name, number in re.findall(r"(\S.*?) \((no limit|at most .+?)\)(?:, | and |$)", " ".join(found[1].split()))
    }
    return stated.keys() == wanted.keys() and all(
        stated[name] == most or (compiled.limit is not None and stated[name] < most) for name, most in wanted.items()
    )


def is_worker(text: str) -> bool:
    return "\n# /// script\n" in text


def own(compiled: Program, text: str) -> str:
    """Return the author's part."""
    return text[text.index(f"\ndef {compiled.kind}(") : text.index("\n# The runtime of rdc ")]


def sets(*names: str) -> Check:
    """The author's part has all of these settings or calls."""
    return lambda compiled, text, _: all(re.search(rf"\b{name}(?:=|\()", own(compiled, text)) for name in names)


def worker(pattern: str = "") -> Check:
    """The file is a worker, and has a line with this pattern."""
    return lambda _, text, __: is_worker(text) and re.search(pattern, text, re.MULTILINE)


def named(of: Callable[[Program], Iterable[str]]) -> Check:
    """The names in code spans are exactly these."""
    return lambda compiled, _, found: sorted(re.findall(r"`([^`]+)`", found["names"])) == sorted(set(of(compiled)))


def both(*checks: Check) -> Check:
    return lambda *facts: all(check(*facts) for check in checks)


def agents(compiled: Program) -> list[Agent]:
    return [agent for node in compiled.nodes for agent in agents_of(node.task)]


def has_task(kind: type, **facts: object) -> Check:
    """The program has a task of this kind with these facts."""
    return lambda compiled, *_: any(
        isinstance(node.task, kind) and all(getattr(node.task, key) == value for key, value in facts.items())
        for node in compiled.nodes
    )


def words(compiled: Program) -> set[str]:
    return {
        test.word for node in compiled.nodes for edge in node.edges for test in edge.guard if test.kind == "outcome"
    }


def _needed(compiled: Program, text: str, found: re.Match[str]) -> bool:
    named = set(re.split(r",\s+|\s+and\s+", " ".join(found[1].split()).replace(" beside it", "")))
    files = set(re.findall(r'^    "(rdc_\w+\.py)": "[0-9a-f]{64}",$', text, re.MULTILINE))
    python = {"Python 3.10 or newer", "the packages below"} if is_worker(text) else {"Python 3.9 or newer"}
    return named == {
        "Linux or macOS",
        *python,
        *shells(compiled),
        *files,
        *("git" for one in used(compiled) if one == "git"),
    }


def _hashes(_: Program, text: str, found: re.Match[str]) -> bool:
    parts = re.findall(rf"^# BEGIN {found[1]}\n(?:.*\n)*?# END {found[1]}\n", text, re.MULTILINE)
    return hashlib.sha256("".join(parts).encode()).hexdigest() == found[2]


def _packages(compiled: Program, _: str, found: re.Match[str]) -> bool:
    names = [each.partition("==")[0] for each in re.findall(r'"(\S+==\S+)"', found[0])]
    return names == ["dbos", "prometheus-client", *(name for name in used(compiled) if name != "git")]


def _where(_: Program, text: str, found: re.Match[str]) -> bool:
    option = re.search(r"`(worker )?--", found[0])  # the first one shows where it is given
    return ("worker" in found[0]) == is_worker(text) == bool(option[1] if option else is_worker(text))


def _completions(compiled: Program, _: str, found: re.Match[str]) -> bool:
    nodes, stated = compiled.index(), " ".join(found[0].split())
    ends = {name for name, node in nodes.items() if isinstance(node.task, End) and node.task.result == "complete"}
    leading = [node.id for node in compiled.nodes if any(edge.target in ends for edge in node.edges)]
    return set(re.findall(r"`([^`]+)` \(", stated)) == set(leading)


def _prompted(compiled: Program) -> set[str]:
    named = [
        ref.register
        for node in compiled.nodes
        if agents_of(node.task)
        for text in texts_of(node)
        for ref in text.references
    ]
    named += [ref.register for context in compiled.contexts for ref in context.text.references]
    return {declared.name for declared in compiled.inputs} & {*named}


def _validations(compiled: Program, _: str, found: re.Match[str]) -> bool:
    policies = {" ".join(spec["validation"].split()): spec["validation"] for spec in specs(compiled)}
    stated = re.split(r",\s+|\s+and\s+", found["checks"])
    return stated == checks_of(policies[" ".join(found["policy"].split())])


def _gates_of(compiled: Program, _: str, found: re.Match[str]) -> bool:
    gates = [node.id for node in compiled.nodes if isinstance(node.task, Gate)]
    kinds = {"hitl" if name.endswith(":hitl") else "tool" if name.startswith("tool:") else "gate" for name in gates}
    written = {"hitl": "`human_gate` (", "tool": "high `risk` (", "gate": "a `gate` ("}
    stated = " ".join(found[0].split())
    return {kind for kind, words in written.items() if words in stated} == kinds


is_stepspec: Check = lambda compiled, *_: compiled.stepspec is not None  # noqa: E731


NAMES_OF = r"(?P<names>(?:`[^`]+`(?:, | and )?)+)"


def named_in(found: re.Match[str]) -> list[str]:
    return re.findall(r"`(\w+)`", found["names"])


def opens_no_connection(_: Program, text: str, __: re.Match[str]) -> bool:
    return not re.search(r"urllib\.request|create_connection|AF_INET|\.connect\(", text)


def says_words(compiled: Program, _: str, found: re.Match[str]) -> bool:
    return found[1] in words(compiled)


def has_program(compiled: Program, _: str, found: re.Match[str]) -> bool:
    return found[1] in used(compiled)


def counts_before_a_dash(compiled: Program, _: str, found: re.Match[str]) -> bool:
    alone = (agent for node in compiled.nodes if not isinstance(node.task, Parallel) for agent in agents_of(node.task))
    listed = {word for agent in agents(compiled) for word in agent.reading.keywords if word.casefold() in LISTED}
    named = {*re.findall(r"`([^`]+)`", found["said"])}
    return ("failing" in named) == any(one.reading.failing for one in alone) and named - {"failing"} == listed


PYTHON: list[tuple[str, Check]] = [
    (r"rdc proved rule [^\n]+", proved),
    (
        r"Read only the lines that are not between BEGIN and END\. .*? on macOS\):",
        both(_where, has(r"^# BEGIN RUNTIME$")),
    ),
    (r"sed -n '/\^# BEGIN (\w+)\$/,/\^# END \1\$/p' FILE \| sha256sum ([0-9a-f]{64}) -", _hashes),
    (r"Read all of this file\. The runtime is in the files? beside it: .*? in RUNTIME\.", has(r"^RUNTIME = \{$")),
    (r"Needs ((?:[^.]|\.(?=\d|py\b))+)\.", _needed),
    (
        r"Uses ([\w ]+) if (?:it is|they are) installed\.",
        lambda compiled, _, found: found[1].split(" and ") == [u for u in used(compiled) if u != "git"],
    ),
    (r"`uv run FILE` installs the packages .*? and commit FILE\.lock\.", worker("^# dependencies = ")),
    (r"`worker` runs one run at a time, .*? runs more\.", worker(r'options\.jobs or "1"')),
    (r"`start` starts a run, `list` lists the runs, .*? other commands\.", worker(r'^    "list": \(')),
    (r"Steps run in the folder of the worker that takes the run, .*? in the same folder\.", worker()),
    (r"Several workers, or `--jobs`, run different runs .*? there, too\.", worker('"--jobs"')),
    (r"`worker --workspace run` gives each run its own folder .*?\.", worker(r'join\(store\.folder, "workspace"\)')),
    (
        r"Runs are kept in the SQLite file (\S+)\.sqlite .*? commands is in \.rdc/(\S+), or .*? `worker --logs`\.",
        both(worker(r"_database\.path}\.workers"), lambda compiled, _, found: {found[1], found[2]} == {compiled.name}),
    ),
    (r"`project` is the `name` under `\[project\]` .*? do not see these runs\.", sets("project")),
    (
        r"A document with the path (\S+) of another project has the same runs .*? compile this file again\.",
        lambda compiled, _, found: not compiled.project and found[1] == compiled.sources[0].path,
    ),
    (
        r"Network: the worker connects to the PostgreSQL server .*? Commands(?P<agents> and agents)? can use more\.",
        both(
            worker(r'address or "127\.0\.0\.1"'),
            worker(r"traced\(execute_call, "),
            lambda compiled, _, found: not found["agents"] or agents(compiled),
        ),
    ),
    (r"Exit codes of `status` and `start --wait`: 0 COMPLETE, .*? 75 needs a person\.", worker()),
    (
        r"Exit codes: 0 COMPLETE, 1 STOP, 2 refused.*?,(?: 75 waits for a person,)? 130 interrupted\.",
        lambda _, text, found: ("75" in found[0]) == ("edition script " not in text),
    ),
    (r"/// script # requires-python = .* # dependencies = \[.*\] # ///".replace("# ", ""), _packages),
    (r"It runs once, from the first step to COMPLETE or STOP\. .*? `-O runtime=script`\.", has("edition script ")),
    (r"`--answers FILE` answers its questions; .*? STEP REPLY\.", has_task(Ask)),
    (
        r"The runtime opens no network connection\. The programs that it starts can\.",
        both(opens_no_connection, lambda _, text, __: "http.client" not in text),
    ),
    (
        (
            r"If OTEL_EXPORTER_OTLP_ENDPOINT is set, a run sends its trace there: the steps with outcomes and times, "
            r"without values and output\. The runtime opens no other network connection\. The programs that it "
            r"starts can\."
        ),
        both(has(r"traced\((?:rdc_runtime\.)?execute, "), opens_no_connection),
    ),
    (r"`run` starts a run, `resume` continues one .*? lists the rest\.", lambda _, text, __: not is_worker(text)),
    (
        r"The state directory is \.rdc/(\S+) in the current folder\. It can hold one unfinished run\.",
        lambda compiled, _, found: found[1] == compiled.name,
    ),
    (r"A person decides: ((?:.|\n)+?)\.(?=\s)", _decides),
    (r"Calls ((?:.|\n)+?\))\.(?=\s)", _calls),
    # --- Steps ---
    (
        r"First comes the (\w+)\. Each step has its line .*? the run(, as does an `end` that `go` names)?\. A .*? it\.",
        lambda compiled, text, found: (
            found[1] == compiled.kind and bool(found[2]) == ("\n    end(" in own(compiled, text))
        ),
    ),
    (r"`retry\(2\)` makes up to 2 more attempts\. .*? applies\.", sets("retry")),
    (r"`keeps` stores the answer in these values\. .*? can be\.", sets("keeps")),
    (r"`(clears)` empties these values before each transition of the step\.", sets("clears")),
    (r"`do` lists changes of a transition: .*? changes\.", sets("do")),
    (r"`when` lists conditions of a transition\. .*? applies\.", sets("when")),
    (r"`otherwise` is the transition for all other outcomes\.", sets("otherwise")),
    (
        r"A `(?P<shell>\w+)` string runs as `(?P=shell) -c STRING`, .*? Exit code 0 is PASS, everything else is FAIL\.",
        both(_where, lambda compiled, _, found: found["shell"] in shells(compiled)),
    ),
    (r"A `block` is shown with the question\. It never runs\.", sets("block")),
    (
        NAMES_OF + r" are environment variables of each command\. .*? never put into a command\.",
        lambda compiled, text, found: all(f" {name}=" in own(compiled, text) for name in named_in(found)),
    ),
    (r"Each command can set all `outputs` in the file \$RDC_OUTPUT\. .*? is FAIL\.", sets("outputs")),
    (
        r"(?:`\{[^`]+\}`(?:, | and )?)+ (?:is the number|are the numbers) of the instances?\.",
        lambda compiled, *_: any(r.role == "instance" for r in compiled.counters),
    ),
    (
        NAMES_OF + r" (?:is|are) in seconds\.",
        lambda compiled, text, found: all(f"{name}=" in own(compiled, text) for name in named_in(found)),
    ),
    (r"A step that exceeds its `timeout` is ended and fails\.", sets("timeout")),
    (r"The `delay` before another attempt is multiplied by `backoff` each time\.", sets("backoff")),
    (r"In a command, `\$RDC_ATTEMPT` is the number of the attempt, starting at 1\.", has(r"\$\{?RDC_ATTEMPT")),
    (
        r"Set the secrets? " + NAMES_OF + r" in the environment \(at least .*? output and files\.",
        named(lambda compiled: compiled.secrets),
    ),
    (
        r"`(?:worker )?--agent COMMAND` sets the command that gets each prompt .*? reply by `answer`\.",
        both(_where, lambda compiled, *_: agents(compiled)),
    ),
    (r"The inputs? " + NAMES_OF + r" (?:goes|go) into prompts unchanged, .*? wrote (?:it|them)\.", named(_prompted)),
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
    (
        r"A `tool` step sends `tool` and `arguments` as JSON .*? Without a command, .*? waits for a person's reply\.",
        both(_where, has_task(Tool)),
    ),
    (
        r"A keyword counts if a line of the answer has nothing else, apart from Markdown marks and a short label\.",
        lambda compiled, *_: any(a.reading.keywords for a in agents(compiled)),
    ),
    (r"In front of a colon or dash, (?P<said>.+?) counts?, too\.", counts_before_a_dash),
    (r"`(failed)` means that the agent did not answer\.", says_words),
    (r"`(invalid)` means that the answer does not match `validation`\.", says_words),
    (r"`(none)` means that it has no keyword\.", says_words),
    (r"`(ambiguous)` means that it has two keywords, or .*? sentence(?:, or .*? disagree)?\.", says_words),
    (r"The agents of `parallel` are called at the same time\.", has_task(Parallel)),
    (r"With `check=\"all\"`, a keyword in `failing` decides, .*? same keyword\.", has_task(Parallel, check="all")),
    (r"With `check=\"any\"`, one keyword that is not in `failing` is enough\.", has_task(Parallel, check="any")),
    (
        r"An answer with (\w+) at any step ends the run as COMPLETE: .*? later steps( and gates)?\.",
        lambda compiled, _, found: all([found[1]] == list(a.reading.excused) for a in agents(compiled)),
    ),
    (
        r"A keyword in `excused` needs no match of a `validation`\.",
        lambda compiled, *_: any(a.reading.excused for a in agents(compiled)),
    ),
    (r"In `parallel`, all agents must answer with it \(`unanimous`\)\. .*? not count\.", sets("unanimous")),
    (r"Exit code 0 means COMPLETE, which follows after .+?\.(?= [A-Z`])", _completions),
    (r"The answer of a step with `report` is also kept .*? (?:directory|--logs`)\.", both(_where, sets("report"))),
    (
        r"After COMPLETE, the output in `artifact` is in a file in .*?names\.",
        lambda compiled, text, _: compiled.artifact is not None and not is_worker(text),
    ),
    (
        r"After COMPLETE, the output in `artifact` is in a file in \.rdc/(\S+)/RUN, or in RUN .*? --logs`\.",
        both(worker(), lambda compiled, _, found: compiled.artifact and found[1] == compiled.name),
    ),
    (r"`jumps` is for `goto STEP`: the step where the run continues, .*? changes\.", sets("jumps")),
    (r"A placeholder lists its value, the strings .*? no value\.", has(r"placeholders=|contexts=")),
    (r"One in `about` applies to every string that contains it\.", has(r"^        placeholders=")),
    # --- Specifications ---
    (r"First comes the specification\. Each step has its line .*? and its facts\.", is_stepspec),
    (
        r"Of (\S+), settings that the document does not have apply, .*? are added\.",
        lambda compiled, _, found: [found[1]] == [each.path for each in compiled.sources[1:]],
    ),
    (r"A step first waits for its approvals: .+?\. A rejected one stops the run at once\.", _gates_of),
    (r"`human_gate=\"optional\"` waits for nothing\.", has(r'^        human_gate="optional",$')),
    (r"A step looks at its inputs, calls its tools, .*? A missing input stops the run at once\.", is_stepspec),
    (r"`guardrails` search the inputs and the files .*? it stops the run at once\.", sets("guardrails")),
    (
        r"If (?:a required tool, )?the work or a check fails, the run stops\.",
        lambda compiled, *_: not any(s["retries"]["max"] for s in specs(compiled)),
    ),
    (
        r"If (?:a required tool, )?the work or a check fails, the step is tried again .*? the run stops\.",
        sets("retries"),
    ),
    (r"A tool without `required` may fail: the run shows that and continues\.", sets("tools")),
    (
        r"The work of every step is the `executor` command\. .*? replace it\.",
        both(_where, lambda compiled, *_: "executor" in config(compiled)),
    ),
    (
        r"The work of every step is the command of `(?:worker )?--executor COMMAND` .*? whether it passed\.",
        both(_where, lambda compiled, *_: "executor" not in config(compiled)),
    ),
    (r"It runs by `sh -c` once per attempt, .*? as JSON on standard input\.", both(_where, is_stepspec)),
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
        NAMES_OF + r" (?:is|are) part of the runtime, and can only reach files in .*?\.",
        named(lambda compiled: [name for name in tools_of(compiled, is_own=False) if name in BUILT_IN]),
    ),
    (r"\"(?P<policy>[^\"]+)\" means these checks: (?P<checks>[\w, ]+?)\.", _validations),
    (r"`types` runs (mypy) on Python files, .*? the step can pass\.", has_program),
    (r"`lint` runs (ruff) on Python files, .*? the step can pass\.", has_program),
    (r"YAML is parsed with PyYAML\. .*? the step can pass\.", has(r"\.ya?ml")),
    (r"Outputs of an earlier run are not deleted, so a check may find an old file\.", is_stepspec),
    (r"`evidence` is the lowest level of the recorded evidence\.", sets("evidence")),
    (r"`as` tells calls of the same tool in a step apart\.", has(r'"as": "')),
    (r"`pause` is in seconds\.", sets("pause")),
]
"""The beginning and the end of each sentence; golden files have the whole of it."""
