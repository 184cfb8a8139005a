"""The calls of a specification: one for each step with its facts, which imply gates, stages and edges (I32)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from backends.common.marks import marked
from backends.python.calls import Calls, call_lines, calls, settings_of, stepspec_of
from backends.python.settings import Values, given, literal
from compiler.ir.program import Node, Program
from compiler.ir.tasks import End, Gate, Stage
from runtime_shim.stepspec.step_builder import CALL, KEYS_OF_STAGES, STEP_FACTS, paths_needed

_FIELDS = {
    *("id", "name", "description", "phase", "inputs", "outputs", "templates", "tools"),
    *("validation", "evidence", "human_gate", "retries"),
}


Parts = Mapping[str, Node]
"""The gates and stages of a step, with marks for their references."""


def author_calls(program: Program, *, is_named: bool = False) -> Calls:
    """Return the calls of a document. A specification has its own, if these build the same program as the common ones.

    `is_named` adds the name of its project.
    """
    common = calls(program, is_named=is_named)
    if not _is_whole(program):
        return common
    lines = [line for each in _calls(program, is_named=is_named) for line in ["", *each]]
    own = Calls(lines[1:], {"about", "end", "step"}, is_specification=True)
    return own if _is_same(own.built(), common.built(), program) else common


def _is_whole(program: Program) -> bool:
    """Return whether a program has all parts of a specification, as a front end makes them."""
    stepspec, nodes = program.stepspec, program.index()
    if stepspec is None or not stepspec.steps or not {"module", "workflow"} <= json.loads(stepspec.workflow).keys():
        return False
    specs = ((step.id, json.loads(str(step.spec))) for step in stepspec.steps)
    return isinstance(program.nodes[-1].task, End) and all(
        spec.keys() == _FIELDS and name in nodes for name, spec in specs
    )


def _is_same(one: Values, other: Values, program: Program) -> bool:
    """Return whether two programs are equal, and give equal JSON to executors (keys in the same order)."""
    stepspecs = [json.dumps(each["stepspec"]["steps"]) for each in (one, other)]
    one, other = ({key: value for key, value in each.items() if value} for each in (one, other))
    return one == other and stepspecs[0] == stepspecs[1] and list(one["nodes"]) == [node.id for node in program.nodes]


def _calls(program: Program, *, is_named: bool) -> Iterator[list[str]]:
    stepspec = stepspec_of(program, frozenset(slot.name for slot in program.slots))
    workflow = stepspec["workflow"]
    facts = given(name=program.name, source=program.sources[0].path, project=program.project if is_named else "")
    facts |= {
        "workflow": workflow,
        "variables": {declared.name: declared.default for declared in program.inputs},
        "secrets": list(program.secrets),
        "logs": program.logs,
        "notify": program.notify,
        **stepspec.get("config", {}),
    }
    yield _call("about", [program.title], {}, given(**facts))
    found: dict[str, dict[str, Node]] = {step: {} for step in stepspec["steps"]}
    for node in program.nodes:
        step = node.task.step if isinstance(node.task, Stage) else node.group
        if isinstance(node.task, Stage | Gate) and step in found:
            found[step][node.id] = marked(node)[0]
    for name, spec in stepspec["steps"].items():
        yield _step(name, spec, found[name], workflow)
    end = program.nodes[-1]
    assert isinstance(end.task, End)  # noqa: S101 (for mypy)
    yield _call("end", [end.id, end.task.result], {}, {})


def _call(word: str, first: list[str], beside: Values, settings: Values) -> list[str]:
    """Return a call: its word, its first arguments, other settings on that line, and settings on separate lines."""
    head = [*map(literal, first), *(f"{key}={literal(value)}" for key, value in beside.items())]
    return call_lines(word, head, settings_of(settings))


def _step(name: str, spec: Values, parts: Parts, workflow: Values) -> list[str]:
    title, line, retries = str(parts[name].title), parts[name].origin.span.line, spec["retries"]
    gate = parts.get(f"{workflow['module']}:{workflow['workflow']}:{name}:hitl")
    lines = _lines(parts, line)
    facts = {
        "description": spec["description"],
        "phase": "" if spec["phase"] == workflow.get("phase") else spec["phase"],
        **_inputs(spec, parts.get(f"{name}/inputs")),
        "makes": spec["outputs"],
        "templates": spec["templates"],
        "tools": list(_tools(name, spec["tools"], parts)),
        **{key: spec[key] for key in ("validation", "evidence") if spec[key] != STEP_FACTS[key]},
        "human_gate": spec["human_gate"]
        if spec["human_gate"] != STEP_FACTS["human_gate"] or "human_gate" in lines
        else "",
        "gate": str(gate.task.reason) if gate and isinstance(gate.task, Gate) else "",
        "retries": retries["max"],
        "pause": retries["backoff_seconds"],
    }
    first = [name, *([title] if title else [])]
    settings = {key: value for key, value in facts.items() if value or key in ("inputs", "needs")}
    return _call("step", first, given(at=line, lines=lines), settings)


def _tools(name: str, calls: list[Values], parts: Parts) -> Iterator[Values]:
    """Yield the calls of tools without defaults. `as` is the name of a stage that differs from its tool's."""
    stages: dict[int, str] = {}
    for id_, part in parts.items():
        if isinstance(part.task, Stage) and part.task.stage == "tool":
            stages[part.task.place] = id_.removeprefix(f"{name}/")
    for place, call in enumerate(calls):
        own = stages.get(place, call["name"])
        output = {key: value for key, value in call.items() if value != CALL.get(key)}
        yield output if own == call["name"] else {**output, "as": own}


def _inputs(spec: Values, stage: Node | None) -> Values:
    """Return the settings for a step's inputs: `needs` if they are only artifacts."""
    task = stage.task if stage else None
    inputs, paths = spec["inputs"], list(map(str, task.paths)) if isinstance(task, Stage) else []
    if paths_needed(inputs, spec["templates"]) != paths:
        return {"inputs": inputs, "needs": paths}
    if inputs == {"artifacts": inputs.get("artifacts")} and isinstance(inputs["artifacts"], list):
        return {"needs": inputs["artifacts"]}
    return given(inputs=inputs)


def _lines(parts: Parts, own: int) -> Values:
    found: dict[str, Any] = {}
    for part in parts.values():
        kind = part.task.stage if isinstance(part.task, Stage) else part.task.kind
        key, line = KEYS_OF_STAGES.get(kind, kind), part.origin.span.line
        if key == "tools":
            found.setdefault("tools", []).append(line)
        else:
            found[key] = line
    return {key: line for key, line in found.items() if key != "execute" and line != own and line != [own] * len(parts)}
