"""The calls of a specification: one for each step with its facts, which imply gates, stages and edges (I32)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from backends.python.calls import Calls, call_lines, settings_of
from backends.python.literals import framed, literal
from backends.python.table import Table
from runtime_shim.contract.step_builder import CALL, STEP_FACTS, StepBuilder, part_of, paths_needed

_FIELDS = {
    *("id", "name", "description", "phase", "inputs", "outputs", "templates", "tools"),
    *("validation", "evidence", "human_gate", "retries"),
}


class _Call(NamedTuple):
    """A call: its word, its first arguments, other settings on that line, and settings on separate lines."""

    word: str
    first: list[str]
    beside: Table
    settings: Table

    @property
    def lines(self) -> list[str]:
        beside = [f"{key}={literal(value)}" for key, value in self.beside.items()]
        return call_lines(self.word, [*map(literal, self.first), *beside], settings_of(self.settings))


def step_calls(table: Table) -> Calls | None:
    """Return the calls from which `StepBuilder` builds this table, or None if it would build another."""
    if not _is_whole(table):
        return None
    said = list(_calls(table))
    builder = StepBuilder()
    for word, first, beside, settings in said:
        getattr(builder, word)(*first, **beside, **{key: framed(value) for key, value in settings.items()})
    if not _is_same(builder.table, table):
        return None
    lines = [line for call in said for line in ["", *call.lines]]
    return Calls(lines[1:], {"about", "end", "step"}, table, StepBuilder.__name__)


def _is_whole(table: Table) -> bool:
    """Return whether a program has all parts of a specification, as a front end makes them."""
    contract = table.get("contract", {"steps": {}, "workflow": {}})
    specs = contract["steps"].items()
    has_fields = all(spec.keys() == _FIELDS and name in table["nodes"] for name, spec in specs)
    return bool(specs) and has_fields and {"module", "workflow"} <= contract["workflow"].keys()


def _is_same(one: Table, other: Table) -> bool:
    """Return whether two tables are equal, and give equal JSON to executors (keys in the same order)."""
    contracts = [json.dumps(each["contract"]["steps"]) for each in (one, other)]
    one, other = ({key: value for key, value in each.items() if value} for each in (one, other))
    return one == other and contracts[0] == contracts[1] and list(one["nodes"]) == list(other["nodes"])


def _calls(table: Table) -> Iterator[_Call]:
    contract, nodes = table["contract"], table["nodes"]
    facts = {
        "name": table["name"],
        "source": table["source"],
        **({"project": table["project"]} if "project" in table else {}),
        "workflow": contract["workflow"],
        "variables": {item["name"]: item.get("default") for item in table.get("inputs", [])},
        "secrets": table.get("secrets"),
        **contract.get("config", {}),
    }
    yield _Call("about", [table["title"]], {}, _given(facts))
    for name, spec in contract["steps"].items():
        parts = {key: node for key, node in nodes.items() if node.get("step") == name}
        yield _step(name, spec, parts, contract["workflow"])
    end = list(nodes)[-1]
    yield _Call("end", [end, nodes[end].get("result", "")], {}, {})


def _step(name: str, spec: Table, parts: Table, workflow: Table) -> _Call:
    """Return the call for a step. `parts` are its gates and stages."""
    title, line, retries = parts[name]["title"], _line(parts[name]), spec["retries"]
    gate = f"{workflow['module']}:{workflow['workflow']}:{name}:hitl"
    facts = {
        "description": spec["description"],
        "phase": "" if spec["phase"] == workflow.get("phase") else spec["phase"],
        **_inputs(spec, parts.get(f"{name}/inputs", {})),
        "makes": spec["outputs"],
        "templates": spec["templates"],
        "tools": list(_tools(name, spec["tools"], parts)),
        **{key: spec[key] for key in ("validation", "evidence", "human_gate") if spec[key] != STEP_FACTS[key]},
        "gate": parts.get(gate, {}).get("reason", ""),
        "retries": retries["max"],
        "pause": retries["backoff_seconds"],
    }
    first = [name, *([title] if title else [])]
    settings = {key: value for key, value in facts.items() if value or key in ("inputs", "needs")}
    return _Call("step", first, _given({"at": line, "lines": _lines(parts, line)}), settings)


def _tools(name: str, calls: list[Table], parts: Table) -> Iterator[Table]:
    """Yield the calls of tools without defaults. `as` is the name of a stage that differs from its tool's."""
    stages = {part["place"]: id_.removeprefix(f"{name}/") for id_, part in parts.items() if part.get("stage") == "tool"}
    for place, call in enumerate(calls):
        own = stages.get(place, call["name"])
        said = {key: value for key, value in call.items() if value != CALL.get(key)}
        yield said if own == call["name"] else {**said, "as": own}


def _inputs(spec: Table, stage: Table) -> Table:
    """Return the settings for a step's inputs: `needs` if they are only artifacts."""
    inputs, paths = spec["inputs"], stage.get("paths", [])
    if paths_needed(inputs, spec["templates"]) != paths:
        return {"inputs": inputs, "needs": paths}
    if inputs == {"artifacts": inputs.get("artifacts")} and isinstance(inputs["artifacts"], list):
        return {"needs": inputs["artifacts"]}
    return _given({"inputs": inputs})


def _lines(parts: Table, own: int) -> Table:
    """Return the lines of a step's parts, if they differ from the step's line."""
    found: Table = {}
    for part in parts.values():
        if part.get("stage") == "tool":
            found.setdefault("tools", []).append(_line(part))
        else:
            found[part_of(part)] = _line(part)
    return {key: line for key, line in found.items() if key != "execute" and line != own and line != [own] * len(parts)}


def _line(node: Table) -> int:
    return int(node["at"].rpartition(":")[2])


def _given(facts: Table) -> Table:
    return {key: value for key, value in facts.items() if value}
