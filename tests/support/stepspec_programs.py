"""Programs with a contract, made by hand after I32, for tests of the targets."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

from compiler.ir.edges import Add, CounterTest, Edge, Effect, Origin, OutcomeTest, Reset
from compiler.ir.program import (
    Counter,
    Group,
    Input,
    Node,
    Program,
    Settings,
    Slot,
    SourceFile,
    SpecifiedStep,
    StepSpecs,
)
from compiler.ir.tasks import End, Gate, Stage, Task
from compiler.ir.texts import Reference, Text, joined, text
from compiler.ir.verify import issues
from compiler.text.source import Span

Table = dict[str, Any]

PATH = "specs/prd.stepspec.yaml"
BRIEF: Table = {
    "id": "step-01",
    "name": "product-brief",
    "description": "Write the brief from the notes",
    "inputs": {"artifacts": ["notes.md"]},
    "outputs": ["{output_folder}/product-brief.md"],
}
DRAFT: Table = {
    "id": "step-02",
    "name": "draft-prd",
    "description": "Generate the PRD using the BMAD template",
    "phase": "Phase 2 Planning",
    "inputs": {"context": "minimal", "artifacts": ["{output_folder}/product-brief.md"]},
    "outputs": ["{output_folder}/prd.md"],
    "templates": ["templates/prd.template.md"],
    "tools": [
        {"name": "getCurrentTime", "args": {"timezone": "UTC"}, "required": False, "risk": "low"},
        {"name": "publish", "args": {}, "required": True, "risk": "high"},
    ],
    "validation": "Template/schema validation",
    "evidence": "L1",
    "human_gate": "required",
    "retries": {"max": 1, "backoff_seconds": 2},
}
CHECK: Table = {"id": "step-03", "name": "check", "validation": "AST + lint", "outputs": ["{output_folder}/check.py"]}
CONFIG: Table = {
    "step_timeout_seconds": 120,
    "tools": {"publish": {"command": "cat", "arguments": {"type": "object"}, "risk": "high"}},
}
GUARDED: Table = CONFIG | {"guardrails": {"output": {"blocklist": ["TODO"]}}, "context": "./context.sh"}


def specification(*specs: Table, config: Table | None = None, default: str | None = None) -> Program:
    """The program of some StepSpecs, which is valid."""
    made = _Lowering(list(specs), config or {})
    slots = sorted(set(re.findall(r"\{(\w+)\}", json.dumps([spec.get("outputs", []) for spec in specs]))))
    whole = Program(
        "prd",
        "bmm/prd",
        (SourceFile(PATH, "0" * 64), SourceFile("config/runtime.yaml", "1" * 64)),
        made.first(0),
        tuple(made.nodes),
        groups=tuple(
            Group(spec["id"], text(spec.get("name", "")), text(spec.get("description", "")), "step", "", made.at(spec))
            for spec in specs
        ),
        counters=tuple(
            Counter(f"{spec['id']} retries", f"{spec['id']}", 0, "retries", spec["id"])
            for spec in specs
            if spec.get("retries")
        ),
        slots=tuple(map(Slot, slots)),
        inputs=tuple(Input(name, description=f"Placeholder {{{name}}}", default=default) for name in slots),
        kind="specification",
        stepspec=StepSpecs(
            json.dumps({"module": "bmm", "workflow": "prd", "phase": "2"}),
            tuple(SpecifiedStep(spec["id"], filled(json.dumps(spec))) for spec in specs),
            json.dumps(config or {}),
        ),
    )
    assert issues(whole) == []
    return whole


def filled(written: str) -> Text:
    """A text with references for its placeholders."""
    parts = re.split(r"\{(output_folder)\}", written)
    return joined([Reference(part, f"{{{part}}}") if i % 2 else part for i, part in enumerate(parts)])


class _Lowering:
    def __init__(self, specs: list[Table], config: Table) -> None:
        self.specs, self.config = specs, config
        self.nodes: list[Node] = []
        for number, spec in enumerate(specs):
            self._step(number, spec)
        self.nodes.append(Node("COMPLETE", text(""), self.at(specs[0]), End("complete"), ()))

    def at(self, spec: Table) -> Origin:
        line = 8 * (self.specs.index(spec) + 1)
        return Origin(PATH, Span(line, 1, line, 9))

    def first(self, number: int) -> str:
        if number == len(self.specs):
            return "COMPLETE"
        spec = self.specs[number]
        return [*self._gates(spec), *self._stages(spec)][0]

    def _gates(self, spec: Table) -> dict[str, Task]:
        found: dict[str, Task] = {}
        if spec.get("human_gate") == "required":
            found[f"bmm:prd:{spec['id']}:hitl"] = Gate("human", text("human_gate: required"))
        for tool in spec.get("tools", []):
            if tool["risk"] == "high":
                found[f"tool:{tool['name']}:{spec['id']}"] = Gate("tool", text(f"{tool['name']} has a high risk"))
        return found

    def _stages(self, spec: Table) -> dict[str, tuple[str, Stage]]:
        own, guardrails = spec["id"], self.config.get("guardrails", {})
        paths = [*spec.get("inputs", {}).get("artifacts", []), *spec.get("templates", [])]
        outputs = tuple(map(filled, spec.get("outputs", [])))
        found: dict[str, tuple[str, Stage]] = {}
        if paths or guardrails.get("input"):
            found[f"{own}/inputs"] = ("inputs", Stage("inputs", own, paths=tuple(map(filled, paths))))
        if self.config.get("context"):
            found[f"{own}/context"] = ("context", Stage("context", own))
        for place, tool in enumerate(spec.get("tools", [])):
            found[f"{own}/{tool['name']}"] = (tool["name"], Stage("tool", own, tool["name"], place))
        found[own] = (spec.get("name", ""), Stage("execute", own))
        if guardrails.get("output"):
            found[f"{own}/guardrails"] = ("guardrails", Stage("guardrails", own))
        if outputs or spec.get("validation"):
            checks: tuple[Any, ...] = ("exists", "parses") if "schema" in spec.get("validation", "") else ("exists",)
            checks = ("exists", "ast", "lint") if "AST" in spec.get("validation", "") else checks
            found[f"{own}/validation"] = ("validation", Stage("validation", own, paths=outputs, checks=checks))
        if outputs:
            found[f"{own}/outputs"] = ("outputs", Stage("outputs", own, spec.get("evidence", ""), paths=outputs))
        return found

    def _step(self, number: int, spec: Table) -> None:
        own, at = spec["id"], self.at(spec)
        gates, stages = self._gates(spec), self._stages(spec)
        order = [*gates, *stages, self.first(number + 1) if number + 1 < len(self.specs) else "COMPLETE"]
        attempt = order[len(gates)]
        most, delay = (spec.get("retries") or {}).get("max", 0), (spec.get("retries") or {}).get("backoff_seconds", 0)
        counter = f"{own} retries" if spec.get("retries") else None
        reset: tuple[Effect, ...] = (Reset(own),) if counter else ()
        stop = Node(f"{own}/failed", text(""), at, End("stop", text(f"step {own} failed")), (), group=own)
        for name, after in pairwise(order):
            leaves = reset if after == order[-1] else ()
            if name in gates:
                edges: tuple[Edge, ...] = (_when("approved", after), _when("rejected", stop.id))
                title = "human gate" if name.endswith("hitl") else f"gate of {name.split(':')[1]}"
                self.nodes.append(Node(name, text(title), at, gates[name], edges, group=own))
                continue
            title, stage = stages[name]
            edges = (_when("pass", after, *leaves),)
            is_optional = stage.stage == "tool" and not spec["tools"][stage.place]["required"]
            if is_optional:
                edges += (_when("fail", after),)
            elif counter and stage.stage != "inputs":
                again = (OutcomeTest("fail"), CounterTest(counter, "<", most))
                edges += (Edge(again, (Add(counter, 1),), attempt), _when("fail", stop.id))
            else:
                edges += (_when("fail", stop.id),)
            settings = Settings(delay=delay) if name == attempt else Settings()
            self.nodes.append(Node(name, text(title), at, stage, edges, group=own, retries=counter, settings=settings))
        self.nodes.append(stop)


def _when(word: str, target: str, *effects: Effect) -> Edge:
    return Edge((OutcomeTest(word),), effects, target)
