"""The verifier's rules about single tasks, inputs, reports, contracts and rules (docs/reference/program-rules.md)."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, TypeVar

from compiler.diagnostics.model import DataPath, Issue
from compiler.ir.edges import Clear, Effect, Keep, SlotTest, Test
from compiler.ir.patterns import pattern_issue
from compiler.ir.program import Input, Node, Program, StepSpecs
from compiler.ir.tasks import (
    IDLE,
    PASS_OR_FAIL,
    UNREAD,
    Agent,
    Ask,
    Branch,
    End,
    Gate,
    Parallel,
    Reading,
    Shell,
    Stage,
    Tool,
    Value,
    alphabet,
)
from compiler.ir.texts import Text, text
from compiler.text.regex import Regex
from runtime_shim.io.reading import SPACES
from runtime_shim.values.fitting import outcome_of, unfit

_INSIDE = "\ue000"
"""Replaces a reference while arguments are parsed. In the author's own text it is replaced by a space first."""

Kind = TypeVar("Kind", Agent, Ask, Parallel, Stage, Tool)


def _tasks(program: Program, kind: type[Kind]) -> Iterator[tuple[DataPath, Kind]]:
    for place, node in enumerate(program.nodes):
        if isinstance(node.task, kind):
            yield ("nodes", place, "task"), node.task


def agents_at(program: Program) -> Iterator[tuple[DataPath, Agent]]:
    """Yield the agents of all tasks, each with its path."""
    yield from _tasks(program, Agent)
    for path, task in _tasks(program, Parallel):
        yield from (((*path, "entries", place), entry) for place, entry in enumerate(task.entries))


def ask_issues(program: Program) -> Iterator[Issue]:
    """Check the options and items of questions (I10)."""
    for path, task in _tasks(program, Ask):
        written = [str(option) for option in task.options]
        if (task.question == "select") != bool(written) or len(written) != len(set(written)) or not all(written):
            yield Issue(path, f"the options are not valid for a question of the kind {task.question}")
        if (task.question == "value") != (task.value is not None):
            yield Issue(path, "a question has a `value` if it is of the kind value, and only then")
        yield from (Issue(path, problem) for _, problem in (value_issues(task.value) if task.value else ()))
        items = [str(item) for item in task.items]
        if (items and task.question not in ("pass_fail", "yes_no")) or not all(item.strip() for item in items):
            yield Issue(path, f"the items are not valid for a question of the kind {task.question}")
        elif any("\n" in item for item in items):
            yield Issue(path, "an item of a checklist has several lines")


def reading_issues(program: Program) -> Iterator[Issue]:
    """Check how keywords are read from answers (I12)."""
    for path, agent in agents_at(program):
        yield from (Issue((*path, "reading"), problem) for problem in _reading(agent.reading))


def _reading(reading: Reading) -> Iterator[str]:
    for keyword in reading.keywords:
        if not keyword or keyword != keyword.strip(SPACES) or "\n" in keyword:
            yield f"the keyword {keyword!r} is empty, has white space at either end, or has more than one line"
        if keyword in UNREAD:
            yield f"the keyword {keyword} is reserved for answers without a keyword"
    if len(reading.keywords) != len({keyword.casefold() for keyword in reading.keywords}):
        yield "two keywords differ only in case"
    if not {*reading.excused, *reading.failing} <= set(reading.keywords):
        yield "an excused or failing word is not a keyword"
    if reading.validation is None:
        return
    if not reading.keywords:
        yield "a validation needs keywords"
    if problem := pattern_issue(reading.validation):
        yield f"the validation pattern {problem}"


def argument_issues(program: Program) -> Iterator[Issue]:
    """Check that the arguments of tools are JSON objects (I13)."""
    for path, task in _tasks(program, Tool):
        yield from (Issue(path, problem) for problem in object_issues(task.arguments, "the arguments"))


def parallel_issues(program: Program) -> Iterator[Issue]:
    """Check that the entries of parallel steps can be combined (I14)."""
    for path, task in _tasks(program, Parallel):
        if not task.entries:
            yield Issue(path, "it has no entries")
        if len({bool(entry.reading.keywords) for entry in task.entries}) > 1:
            yield Issue(path, "only some of its entries have keywords")
        unanimous = set(task.unanimous)
        if not unanimous.union(task.failing) <= set(task.keywords):
            yield Issue(path, "a failing or unanimous word is not a keyword")
        elif not all(unanimous <= set(entry.reading.keywords) for entry in task.entries):
            yield Issue(path, "a unanimous word is not a keyword of every entry")


def setting_issues(program: Program) -> Iterator[Issue]:
    """Check timeouts, delays, backoffs and expiries (I21)."""
    for place, node in enumerate(program.nodes):
        settings, path = node.settings, ("nodes", place)
        if settings.delay < 0 or settings.backoff < 1 or (settings.timeout is not None and settings.timeout < 1):
            yield Issue(path, "a timeout or backoff is below 1, or a delay is below 0")
        if settings.timeout is not None and not isinstance(node.task, Shell | Agent | Tool | Parallel | Stage):
            yield Issue(path, f"a node of the kind {node.task.kind} cannot have a timeout, because it runs no process")
        if settings.expire < 0 or (settings.expire and not isinstance(node.task, Ask | Gate)):
            yield Issue(path, "`expire` is below 0, or no person answers the node")


LONGEST_REPORT = 200  # in characters; a name with its additions must be a valid file name

_REPORT = Regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def reports_of(node: Node) -> tuple[str, ...]:
    """Return the names of a node's reports. Those of a parallel step's entries come first."""
    if not isinstance(node.task, Agent | Parallel) or not node.task.report:
        return ()
    entries = range(len(node.task.entries)) if isinstance(node.task, Parallel) else ()
    return (*(f"{node.id}_{index}" for index in entries), node.task.report)


def report_issues(program: Program) -> Iterator[Issue]:
    """Check that reports have names that become different files (I29)."""
    first: dict[str, str] = {}
    for place, node in enumerate(program.nodes):
        if isinstance(node.task, Agent | Parallel):
            yield from (Issue(("nodes", place, "task"), problem) for problem in _report_issues(node, first))


def _report_issues(node: Node, first: dict[str, str]) -> Iterator[str]:
    """Yield the problems of a node's reports. `first` has the node of each name above, and gets its names."""
    names = reports_of(node)
    if isinstance(node.task, Parallel) and any(entry.report for entry in node.task.entries):
        yield "an entry names a report; only the whole step can"
    for name in names:
        if not _REPORT.fullmatch(name) or len(name) > LONGEST_REPORT:  # it becomes a file name
            yield f"{name} is not a valid report name"
        elif first.setdefault(name.casefold(), node.id) != node.id:
            yield f"its report {name} would share a file with a report of {first[name.casefold()]}"
    if len({name.casefold() for name in names}) < len(names):
        yield "the reports of the step and of an entry would share a file"


def folder_issues(program: Program) -> Iterator[Issue]:
    """Check that only the state directory decides where reports are, and that no transition depends on it (I30)."""
    folder = program.folder
    if not folder:
        return
    initial = {slot.name: slot.initial for slot in program.slots}
    if folder not in initial or initial[folder] is not None:
        yield Issue(("folder",), f"the folder {folder} must be a slot without an initial string")
    if folder in {declared.name for declared in program.inputs}:
        yield Issue(("folder",), f"the folder {folder} is also an input")
    if program.artifact is not None and program.artifact.slot == folder:
        yield Issue(("folder",), f"the folder {folder} is also the artifact")
    for place, jump in enumerate(program.jumps):
        if folder in _slots_of(jump.all_effects):
            yield Issue(("jumps", place), f"the jump to {jump.id} changes the folder {folder}")
    for place, node in enumerate(program.nodes):
        for number, edge in enumerate(node.edges):
            if folder in _slots_of((*edge.guard, *edge.effects)):
                yield Issue(("nodes", place, "edges", number), f"an edge tests or changes the folder {folder}")


def _slots_of(parts: Iterable[Test | Effect]) -> set[str]:
    return {part.slot for part in parts if isinstance(part, SlotTest | Keep | Clear)}


def stepspec_issues(program: Program) -> Iterator[Issue]:
    """Check that a contract is well-formed, that its stages fit, and that no edge leads to an earlier step (I32)."""
    for path, task in _tasks(program, Stage):
        if program.stepspec is None:
            yield Issue(path, "the program has no contract, which a stage needs")
        yield from (Issue(path, problem) for problem in _stage(task))
    if program.stepspec is not None:
        yield from (Issue(("stepspec",), problem) for problem in _stepspec(program, program.stepspec))
        yield from _flow(program, program.stepspec)


def _stage(task: Stage) -> Iterator[str]:
    if bool(task.checks) != (task.stage == "validation"):
        yield "a validation needs checks, and other stages cannot have any"
    if task.stage == "tool" and not task.subject:
        yield "a tool has no name"
    if task.subject and task.stage not in {"tool", "outputs"}:
        yield f"a stage of the kind {task.stage} cannot have a subject"
    if task.place and task.stage != "tool":
        yield "only a tool can have a place"


def _stepspec(program: Program, stepspec: StepSpecs) -> Iterator[str]:
    ids = [step.id for step in stepspec.steps]
    if not all(ids) or len(ids) != len(set(ids)):
        yield "the contract has a step without an id, or two steps with the same id"
    known = {*(counter.name for counter in program.counters), *(slot.name for slot in program.slots)}
    for name, written in (("workflow", stepspec.workflow), ("config", stepspec.config)):
        yield from object_issues(text(written), f"the contract: the parts of {name}")
    for step in stepspec.steps:
        yield from object_issues(step.spec, f"the contract: the parts of step {step.id}")
        for item in step.spec.references:
            if item.register not in known:
                yield f"the contract: the register {item.register} is not declared"


def _flow(program: Program, stepspec: StepSpecs) -> Iterator[Issue]:
    places = {step.id: place for place, step in enumerate(stepspec.steps)}
    groups = {node.id: node.group for node in program.nodes}
    for number, node in enumerate(program.nodes):
        path = ("nodes", number)
        if isinstance(node.task, Branch | End):
            continue
        if not isinstance(node.task, Stage | Gate):
            yield Issue(path, "a program with a contract can only have stages and gates")
        if node.group not in places or (isinstance(node.task, Stage) and node.task.step != node.group):
            yield Issue(path, "it is not in the group of its step in the contract")
            continue
        targets = (groups.get(edge.target, "") for edge in node.edges)
        if any(places.get(group, len(places)) < places[node.group] for group in targets):
            yield Issue(path, "an edge leads back to an earlier step")


def object_issues(written: Text, about: str) -> Iterator[str]:
    """Yield the problems of a text that must be a JSON object with references only inside strings (I13)."""
    parts = written.parts
    references = sum(not isinstance(part, str) for part in parts)
    marked = "".join(part.replace(_INSIDE, " ") if isinstance(part, str) else _INSIDE for part in parts)
    try:
        found = json.loads(marked, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        yield f"{about} are not valid JSON"
        return
    if not isinstance(found, dict):
        yield f"{about} are not a JSON object"
    if any(item.before or item.after for item in written.references) or _marks(found) != references:
        yield f"a reference in {about} is outside a string, or has `before` or `after`"


def _no_constant(name: str) -> None:
    """Reject NaN and infinity, which Python reads but JSON doesn't have."""
    raise ValueError(name)


def _marks(value: object) -> int:
    """Return the number of references in the strings of a JSON value, without its keys."""
    if isinstance(value, str):
        return value.count(_INSIDE)
    if isinstance(value, list):
        return sum(map(_marks, value))
    return sum(map(_marks, value.values())) if isinstance(value, dict) else 0


Field = Literal["options", "pattern", "default"]


def input_issues(declared: Input) -> Iterator[tuple[Field, str]]:
    """Yield the problems of an input, each with its field."""
    if (declared.type == "choice") != bool(declared.options):
        yield "options", f"the options are not valid for the type {declared.type}"
    if not all(declared.options) or len(declared.options) != len(set(declared.options)):
        yield "options", "an option is empty or duplicated"
    if declared.pattern is not None and (problem := pattern_issue(declared.pattern)):
        yield "pattern", f"the pattern {problem}"
        return
    if declared.default is not None:
        problem = unfit(declared.default, declared.type, declared.options, declared.pattern)
        if problem:
            yield "default", f"the default is not valid: {problem}"


def value_issues(value: Value) -> Iterator[tuple[Field, str]]:
    """Yield the problems of the value that a question asks for, each with its field."""
    yield from input_issues(Input(value.name, value.type, options=value.options, pattern=value.pattern))
    for option in value.options:
        if option == "-" or option.startswith("--"):  # `-5` is a reply
            yield "options", f"the option {option!r} isn't a valid reply: `answer` reads it as its own option"
        if outcome_of(option, "string")[0] != "pass" or option != option.strip(SPACES):
            yield (
                "options",
                f"the option {option!r} is empty, an outcome, or not on one line without white space at either end",
            )


def rule_issues(program: Program) -> Iterator[Issue]:
    """Check the outcomes that edges settle, and the names and words in rules (I33)."""
    parents: dict[str, str] = {}
    for group in program.groups:  # a group that comes before its parent is an issue of another rule (I4)
        parents.setdefault(group.id, group.parent if group.parent in parents else "")
    for place, node in enumerate(program.nodes):
        for number, edge in enumerate(node.edges):
            path, around = ("nodes", place, "edges", number, "settles"), _around(node.group, parents)
            for settled in edge.settles:
                if settled.word not in PASS_OR_FAIL:
                    yield Issue(path, f"the edge settles the outcome {settled.word}, which isn't `pass` or `fail`")
                if settled.step not in around:  # continues behind the group before
                    problem = f"the edge settles {settled.step}, which isn't a group around its node, or not in order"
                    yield Issue(path, problem)
    if program.rules:
        yield from _rules(program, parents)


def _around(group: str, parents: Mapping[str, str]) -> Iterator[str]:
    """Yield a group and the groups around it, also in a broken program."""
    while group:
        yield group
        group = parents.get(group, "")


def _rules(program: Program, groups: Collection[str]) -> Iterator[Issue]:
    words: dict[str, set[str]] = {"": {"complete", "stop"}} | {group: set(PASS_OR_FAIL) for group in groups}
    for node in program.nodes:
        words.setdefault(node.id, set()).update(alphabet(node.task), () if type(node.task) in IDLE else ("",))
    asked = {node.id for node in program.nodes if isinstance(node.task, Ask | Gate)}
    names: set[str] = set()
    for place, rule in enumerate(program.rules):
        events = (*rule.guards, *rule.opens, *rule.closes)
        unknown = (event for event in events if event.word not in words.get(event.step, ()))
        problems = {f"names {f'{event.step} {event.word}'.strip()}, which can't happen": True for event in unknown} | {
            "has the name of another one": rule.name in names,
            "belongs to an unknown group": rule.scope and rule.scope not in groups,
            "needs a person at a step that asks no one": not asked.issuperset(rule.persons),
            "has a count below 0": rule.most is not None and rule.most < 0,
        }
        names.add(rule.name)
        yield from (Issue(("rules", place), f"the rule {rule.name} {one}") for one, holds in problems.items() if holds)
