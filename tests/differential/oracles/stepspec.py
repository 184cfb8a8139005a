"""The path of a step specification by its page (docs/formats/stepspec-runs.md): its gates, stages and attempts.

It reads only the document. The outcomes of gates and stages come from a seed.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from compiler.ir.serialize import to_json
from tests.differential.case import Case, Json, Trace, Visit, compiled
from tests.differential.stepspec import Drawn, document

REJECTED, FAILED = 0.05, 0.1
"""How often a person rejects a gate, and a stage fails."""


class StoppedError(Exception):
    """The run has ended, with this message."""


@dataclass
class _Run:
    document: Json
    chance: Random
    visits: list[Visit] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)

    def step(self, step: Json) -> None:
        """Ask for approvals, then try until the stages pass or no retries are left."""
        for gate in self.gates(step):
            if gate not in self.asked:
                self.asked.add(gate)
                rejected = self.chance.random() < REJECTED
                self.visits.append(_visit(gate, "rejected" if rejected else "approved"))
                if rejected:
                    raise StoppedError(f"step {step['id']} was rejected")
        for attempt in range(1, step["retries"]["max"] + 2):
            failed = self.attempt(step, attempt)
            self.settle(step["id"], "fail" if failed else "pass")
            if not failed:
                return
            if failed == f"{step['id']}/inputs":  # the step fails at once
                break
        raise StoppedError(f"step {step['id']} failed")

    def attempt(self, step: Json, attempt: int) -> str:
        """Run the stages of an attempt in order, and return the one that fails it, or "" if it passes."""
        for stage, is_needed in self.stages(step):
            failed = self.chance.random() < FAILED
            self.visits.append(_visit(stage, "fail" if failed else "pass", attempt))
            if failed and is_needed:
                return stage
        return ""

    def settle(self, step: str, word: str) -> None:
        """A step passes with its last stage, and fails with its first failing stage (P-7)."""
        self.visits[-1] = replace(self.visits[-1], settles=((step, word),))

    def gates(self, step: Json) -> Iterator[str]:
        """Yield the names of the gates in front of a step, some of which may have been asked before."""
        about = self.document["workflow"]
        if step["human_gate"] == "required":
            yield f"{about['module']}:{about['workflow']}:{step['id']}:hitl"
        for tool in step["tools"]:
            if "gate" in tool or tool["risk"] == "high":
                yield tool.get("gate", f"tool:{tool['name']}:{step['id']}")

    def stages(self, step: Json) -> Iterator[tuple[str, bool]]:
        """Yield the stages of a step that have something to do, and whether their failure fails the attempt."""
        name, config = step["id"], self.document["config"]
        guarded = config.get("guardrails", {})
        if "path" in step.get("inputs", {}) or "input" in guarded:
            yield f"{name}/inputs", True
        if "context" in config:
            yield f"{name}/context", True
        calls: Counter[str] = Counter()
        for tool in step["tools"]:
            calls[tool["name"]] += 1
            again = f"~{calls[tool['name']]}" if calls[tool["name"]] > 1 else ""
            yield f"{name}/{tool['name']}{again}", tool["required"]
        yield name, True
        if "output" in guarded:
            yield f"{name}/guardrails", True
        if step["outputs"] or "validation" in step:
            yield f"{name}/validation", True
        if step["outputs"] or step["evidence"] != "none":
            yield f"{name}/outputs", True


def _visit(node: str, word: str, attempt: int = 1) -> Visit:
    return Visit(node, attempt, (), None, word, settles=())


def random_specification(seed: int) -> Drawn:
    """A document with more kinds of stages than runs with kills have."""
    chance = Random(seed)
    drawn = document(chance)
    for step in drawn["step_specs"]:
        if chance.random() < 0.3:
            step["inputs"] = {"path": "brief.md"}
        if chance.random() < 0.3:
            step["validation"] = "format"
        if step["evidence"] != "none" and not step["outputs"]:
            step["evidence"] = "none"  # evidence needs an output
        for tool in step["tools"]:
            if chance.random() < 0.2:
                tool["gate"] = chance.choice(("shared", f"own {step['id']}"))
    if chance.random() < 0.3:
        drawn["config"]["context"] = "cat"
    return Drawn(drawn, seed)


def walk(drawn: Drawn) -> Trace:
    """The path of a specification, with outcomes from the seed."""
    run = _Run(drawn.document, Random(drawn.seed))
    try:
        for step in drawn.document["step_specs"]:
            run.step(step)
    except StoppedError as stopped:
        return Trace(tuple(run.visits), ("STOP", str(stopped)))
    return Trace(tuple(run.visits), ("COMPLETE", ""))


def case_of(drawn: Drawn) -> Case:
    """The program that rdc makes of a specification, and the path by the rules."""
    documents = {"program.stepspec.json": json.dumps(drawn.document)}
    trace = walk(drawn)
    replies: dict[str, list[Json]] = {visit.step: [{}] for visit in trace.visits}
    return Case(json.loads(to_json(compiled(documents))), {}, replies, trace, documents=documents)
