"""Read scenarios of documents with calls: inputs, the answers of agents, tools and people, and outputs.

The stages of a step also end by these answers, with `pass` as the default. Scenarios are in the document or in a
companion file `NAME.scenarios.yaml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import InvalidError, OptionSource, diagnostics, duplicate_options
from compiler.diagnostics.model import Diagnostic, Issue, has_error
from compiler.frontends.common.interface import Job, Result
from compiler.frontends.common.limits import with_limits
from compiler.frontends.common.names import ENDING, LABELS, NO_STEPS, RULES, STEPS, Nodes, TimeLimit
from compiler.ir.edges import Keep
from compiler.ir.program import Node, Program, Settings
from compiler.ir.tasks import IDLE, Agent, Ask, Gate, Parallel, Stage, Task, Tool
from compiler.project.options import Known, Level, Option, Options, read_options, with_texts
from compiler.reading.yaml import UnreadableError, read_mapping
from compiler.scenarios.model import (
    Event,
    InvalidEvent,
    Keys,
    Locate,
    Reply,
    Scenario,
    ScenarioAnswer,
    Script,
    read_scenarios,
)
from compiler.text.files import FileIssue
from compiler.text.source import KeyPath, Source, Span, Spans, below, nearest
from compiler.text.suggestions import did_you_mean
from runtime_shim.values.fitting import unfit

if TYPE_CHECKING:
    from compiler.reading.data import Data
    from compiler.reading.yaml import Reading

KEY = "scenarios"
NAMES = frozenset({"inputs", "answers", "agents", "tools", "outputs"})
FAIL = "fail"
"""The key of an answer that fails: `{fail: "why"}`."""

_REMEDY = "a scenario has `result` and optionally `inputs`, `answers`, `agents`, `tools` and `outputs`"


class Found(NamedTuple):
    """The scenarios of a document, their diagnostics, and the companion file if there is one."""

    scenarios: tuple[Scenario, ...]
    diagnostics: list[Diagnostic]
    file: Source | None = None


def beside(job: Job, stem: str, own: Iterable[Scenario], read: Callable[[Source, Reading], Found]) -> Found:
    """Read the companion file of a document, if there is one. `own` are the scenarios in the document."""
    source, name = job.source, f"{stem}{ENDING}"
    located = job.project.find_below(source, name) if stem and "\\" not in stem else None
    if located is None:
        return Found((), [])
    file = located if isinstance(located, FileIssue) else located.read()
    if isinstance(file, FileIssue):
        problem = f"cannot read the scenarios in `{name}`: {file.message}"
        return Found((), [Diagnostic("RD743", source.path, None, problem, file.help)])
    found = read_beside(file, read)
    twice = {scenario.name for scenario in own}.intersection(scenario.name for scenario in found.scenarios)
    remedy = "rename or remove one of the two"
    repeated = [
        Diagnostic("RD013", file.path, _place(file, each), f"scenario `{each}` is also in `{source.path}`", remedy)
        for each in sorted(twice)
    ]
    return found._replace(diagnostics=[*found.diagnostics, *repeated])


def _place(file: Source, name: str) -> Span | None:
    return read_mapping(file.text).spans.get((name,))


def read_file(file: Source, program: Program) -> Found:
    """Read the scenarios of a document with calls in a companion file."""
    return read_beside(file, partial(_read_below, program))


def _read_below(program: Program, file: Source, reading: Reading) -> Found:
    return _read(file, reading.as_written, around(file, reading), program)


def around(file: Source, reading: Reading) -> Spans:
    """Return the places in a companion file; the whole file is at its first line."""
    return {(): file.line_span(1), **reading.spans}


def read_beside(file: Source, read: Callable[[Source, Reading], Found]) -> Found:
    """Read the scenarios in a companion file, with the form of a document's format."""
    try:
        reading = read_mapping(file.text)
    except UnreadableError as error:
        problem = f"the scenarios are not valid YAML: {error}"
        return Found((), [Diagnostic("RD743", file.path, file.line_span(error.line), problem, error.help)], file)
    found = read(file, reading)
    return Found(found.scenarios, [*duplicate_options(file, reading.repeated), *found.diagnostics], file)


def _read(source: Source, content: object, spans: Spans, program: Program) -> Found:
    scenarios, issues = read_scenarios(content, spans, Keys(NAMES, partial(_script, program)))
    found = diagnostics(issues, OptionSource("RD013", source.path, None).around(spans), remedy=_REMEDY)
    for scenario in scenarios:
        for event in scenario.replies:
            if isinstance(event, InvalidEvent):
                text = f"scenario `{scenario.name}` cannot be tested: {event.message}"
                found.append(Diagnostic("RD014", source.path, event.span, text, event.help))
    return Found(scenarios, found)


class _Item(Struct, frozen=True):
    name: str
    value: object
    path: KeyPath


def _script(program: Program, content: Mapping[str, object], locate: Locate) -> Script:
    issues: list[Issue] = []
    inputs, outputs = (_texts(content, key, issues) for key in ("inputs", "outputs"))
    output = [*_said(content, "agents", issues), *_said(content, "tools", issues)]
    replies = list(_replies(content, program, issues))
    if issues:
        raise InvalidError(*issues)
    unclear = (*_unfit_inputs(program, inputs, locate), *_unknown(program, output, replies, outputs, locate))
    events: list[Event] = [*unclear]
    events += [
        ScenarioAnswer(item.name, item.value if isinstance(item.value, str) else None, locate(item.path))
        for item in output
    ]
    events += [Reply(item.name or None, str(item.value), (), locate(item.path)) for item in replies]
    return Script(tuple(events), inputs=_plain(inputs), outputs=_plain(outputs))


def _plain(items: list[_Item]) -> dict[str, str]:
    return {item.name: str(item.value) for item in items}


def _items(content: Mapping[str, object], key: str, what: str, issues: list[Issue]) -> Iterator[_Item]:
    value = content.get(key)
    if value is None:
        return
    if not isinstance(value, Mapping):
        issues.append(Issue((key,), f"`{key}` must be a mapping of {what}"))
        return
    yield from (_Item(str(name), inner, (key, str(name))) for name, inner in value.items())


def _listed_in(item: _Item) -> list[_Item]:
    if not isinstance(item.value, list):
        return [item]
    return [_Item(item.name, one, (*item.path, str(number))) for number, one in enumerate(item.value)]


def _texts(content: Mapping[str, object], key: str, issues: list[Issue]) -> list[_Item]:
    found = list(_items(content, key, "names to strings", issues))
    issues += [Issue(item.path, f"`{item.name}` must be a string") for item in found if not isinstance(item.value, str)]
    return found


def _said(content: Mapping[str, object], key: str, issues: list[Issue]) -> Iterator[_Item]:
    """Yield answers of agents or tools: a string, `{fail: "why"}`, or a list of these for each step."""
    for item in _items(content, key, "steps to answers", issues):
        for one in _listed_in(item):
            if isinstance(one.value, str) or (isinstance(one.value, Mapping) and set(one.value) == {FAIL}):
                yield one
            else:
                issues.append(Issue(one.path, f'an answer of `{item.name}` must be a string or `{{fail: "why"}}`'))


def _replies(content: Mapping[str, object], program: Program, issues: list[Issue]) -> Iterator[_Item]:
    """Yield people's replies from a mapping of steps, or from a list of lines `STEP REPLY` and `REPLY`."""
    value = content.get("answers")
    if isinstance(value, list):
        asking = _asking(program)
        for number, line in enumerate(value):
            path: KeyPath = ("answers", str(number))
            if not isinstance(line, str):
                issues.append(Issue(path, "each reply must be a string"))
                continue
            node, blank, reply = line.partition(" ")
            yield _Item(node, reply, path) if blank and node in asking else _Item("", line, path)
        return
    for item in _items(content, "answers", "steps to replies", issues):
        for one in _listed_in(item):
            if isinstance(one.value, str):
                yield one
            else:
                issues.append(Issue(one.path, f"a reply to `{item.name}` must be a string"))


def _unfit_inputs(program: Program, given: list[_Item], locate: Locate) -> Iterator[InvalidEvent]:
    declared = {item.name: item for item in program.inputs}
    for item in given:
        known = declared.get(item.name)
        if known is None:
            yield InvalidEvent(f"there is no input `{item.name}`", locate(item.path), _listed("inputs", list(declared)))
        elif problem := unfit(str(item.value), known.type, known.options, known.pattern):
            output = f"the value of input `{item.name}` is not valid: {problem}"
            yield InvalidEvent(output, locate(item.path), "change the value")
    names = {item.name for item in given}
    for missing in (one for one in program.inputs if one.required and one.default is None and one.name not in names):
        remedy = f"add it under `inputs`: `{missing.name}: …`"
        yield InvalidEvent(f"input `{missing.name}` is required", locate(("inputs",)), remedy)


def _unknown(
    program: Program, said: list[_Item], replies: list[_Item], outputs: list[_Item], locate: Locate
) -> Iterator[InvalidEvent]:
    callers = {
        "agents": [name for node in program.nodes for name in _agents(node.id, node.task)],
        "tools": [node.id for node in program.nodes if isinstance(node.task, Tool)],
    }
    for item in said:
        known = callers[item.path[0]]
        if item.name not in known:
            verb = "calls an agent" if item.path[0] == "agents" else "calls a tool"
            yield InvalidEvent(f"no step `{item.name}` {verb}", locate(item.path), _listed("steps that do", known))
    asking = _asking(program)
    for item in replies:
        if item.name and item.name not in asking:
            yield InvalidEvent(
                f"no step `{item.name}` takes a reply", locate(item.path), _listed("steps that do", asking)
            )
    known = list(output_names(program))
    for item in outputs:
        if item.name not in known:
            yield InvalidEvent(f"there is no output `{item.name}`", locate(item.path), _listed("outputs", known))


def _agents(node: str, task: Task) -> list[str]:
    """Return the names of a step's agents: the step's name, or with an index for a parallel step."""
    if isinstance(task, Parallel):
        return [f"{node}_{index}" for index in range(len(task.entries))]
    return [node] if isinstance(task, Agent) else []


def _asking(program: Program) -> list[str]:
    return [node.id for node in program.nodes if isinstance(node.task, Ask | Gate | Stage)]


def output_names(program: Program) -> Iterator[str]:
    """Yield the names of a run's outputs: the names they are kept under, and the steps that produce them."""
    for node in program.nodes:
        if isinstance(node.task, Agent | Ask | Parallel | Tool) and not node.id.endswith(("/elicit", "/prompt")):
            yield node.id
    effects = (effect for node in program.nodes for edge in node.edges for effect in edge.effects)
    yield from dict.fromkeys(item.slot for item in effects if isinstance(item, Keep) and " " not in item.slot)


def _listed(what: str, names: list[str]) -> str:
    return f"the {what} are {', '.join(f'`{name}`' for name in names)}" if names else f"there are no {what}"


def options_of(
    source: Source, read: Reading | Data | None, known: Sequence[Option[Any]], *, has_model: bool = True
) -> tuple[Options, list[Diagnostic]]:
    """Return the options under `rdc`, and the problems with them; a model reports it if it isn't a mapping."""
    if read is None or "rdc" not in read.values or (has_model and not isinstance(read.values["rdc"], dict)):
        return Options(), []
    place = OptionSource("RD013", source.path, read.spans["rdc",])
    plain = with_texts(read.values["rdc"], read.as_written["rdc"])
    return read_options(plain, place, below(read.spans, "rdc"), Known(known, Level.DOCUMENT))


def completed(job: Job, result: Result, program: Program, stem: str, content: object, spans: Spans) -> Result:
    """Return an error-free result with the program, the time limits of its steps, and its scenarios.

    `stem` is the document's file name without extensions; a companion file with scenarios starts with it. `content` are
    the document's `scenarios` as written, or None. `spans` has the places of its keys and items.
    """
    nodes = STEPS.first(result.options.values) or NO_STEPS
    limited, problems = with_time_limits(program, nodes.limits)
    limited, useless = with_limits(limited, nodes.others)
    own = _read(job.source, content, spans, limited)
    other = beside(job, stem, own.scenarios, partial(_read_below, limited))
    found = [*problems, *useless, *_unknown_labels(program, nodes), *own.diagnostics, *other.diagnostics]
    options, for_targets = result.options, nodes.for_targets
    if for_targets.values:
        options = replace(options, targets={**options.targets, STEPS.name: for_targets})
    return replace(
        result,
        program=None if has_error(found) else limited,
        diagnostics=(*result.diagnostics, *found),
        sources={**result.sources, **({other.file.name: other.file} if other.file else {})},
        options=options,
        scenarios=(*own.scenarios, *other.scenarios),
        scenario_file=f"{stem}{ENDING}" if stem else "",
        rules=RULES.first(result.options.values) or (),
        labels=nodes.labels,
    )


def _unknown_labels(program: Program, nodes: Nodes) -> Iterator[Diagnostic]:
    known = {node.id: None for node in program.nodes if type(node.task) not in IDLE} if nodes.labels else {}
    known |= {group.id: None for group in program.groups}
    for step in nodes.labels:
        if step not in known and (place := nearest(nodes.places, (step, LABELS))):
            yield place.finding(f"unknown step `{step}`{did_you_mean(step, known)}", "use the id of a step")


def with_time_limits(program: Program, said: Iterable[TimeLimit]) -> tuple[Program, list[Diagnostic]]:
    """Return the program with these time limits, and the diagnostics for limits of other steps."""
    seconds = {limit.step: limit.seconds for limit in said}
    if not seconds:
        return program, []
    calling = [node.id for node in program.nodes if isinstance(node.task, Agent | Parallel | Tool)]
    found = [
        limit.place.finding(
            f"no step `{limit.step}` calls an agent or a tool{did_you_mean(limit.step, calling)}",
            f"set it for one of these steps: {', '.join(calling)}" if calling else "remove it: no step calls one",
        )
        for limit in said
        if limit.step not in calling and limit.place
    ]

    def limited(node: Node) -> Node:
        return replace(node, settings=Settings(seconds[node.id])) if node.id in seconds else node

    return (program if found else replace(program, nodes=tuple(map(limited, program.nodes)))), found
