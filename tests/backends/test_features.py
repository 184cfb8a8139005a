"""What a target does not carry is refused with the unit and the feature, never dropped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.registry import BACKENDS, load
from compiler.ir.edges import Edge, KeywordTest, SlotTest
from compiler.ir.features import Feature, uses
from compiler.ir.program import Input, Program, Slot
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Task, Tool
from tests.mermaid.programs import node, program, to

REVIEWER = Agent("reviewer", "", "Look", keywords=("GOOD",))

TASKS: dict[Feature, Task] = {
    Feature.COMMANDS: Shell("sh", "true"),
    Feature.QUESTIONS: Ask("yes_no", "Ready?"),
    Feature.REPLIES: Ask("input", "Which version?"),
    Feature.AGENTS: REVIEWER,
    Feature.TOOLS: Tool("github", "merge", "{}"),
    Feature.PARALLEL: Parallel((REVIEWER,), "all"),
    Feature.GATES: Gate("production", "Somebody must look"),
}


def with_unit(task: Task, *edges: Edge) -> Program:
    return program(node("1", task, *edges, to("COMPLETE")), node("COMPLETE", End("complete")))


def examples() -> dict[Feature, Program]:
    """For each feature a program whose first unit uses it."""
    found = {feature: with_unit(task) for feature, task in TASKS.items()}
    kept = with_unit(Ask("pass_fail", "Ready?", slot="x"), to("COMPLETE", SlotTest("x", "==", "y")))
    found[Feature.VALUES] = replace(kept, slots=(Slot("x"),))
    found[Feature.KEYWORDS] = with_unit(REVIEWER, to("COMPLETE", KeywordTest("GOOD")))
    found[Feature.INPUTS] = replace(with_unit(Branch()), inputs=(Input("version", "string"),))
    return found


@pytest.mark.parametrize("feature", Feature)
@pytest.mark.parametrize("target", BACKENDS)
def test_a_feature_is_carried_or_refused_by_name(target: str, feature: Feature) -> None:
    backend = load(target)
    using = examples()[feature]
    assert feature in {use.feature for use in uses(using)}
    emission = backend.emit(using, {})
    if feature in backend.features:
        return
    assert emission.text is None
    named = [item for item in emission.diagnostics if f"`{feature}`" in item.help]
    assert named
    assert all(item.code == "RD502" and target in item.message for item in named)
    assert any("unit 1" in item.message or feature is Feature.INPUTS for item in named)


@pytest.mark.parametrize("target", ["python", "make", "github"])
def test_a_branch_on_a_kept_text_is_refused(target: str) -> None:
    """The Makefile took the wrong arm of such a branch, without a word."""
    asked = Ask("input", "Which version?", slot="version")
    chosen = node("2", Branch(), to("COMPLETE", SlotTest("version", "==", "1")), to("STOP"))
    ends = (node("COMPLETE", End("complete")), node("STOP", End("stop")))
    kept = replace(program(node("1", asked, to("2")), chosen, *ends), slots=(Slot("version"),))
    emission = load(target).emit(kept, {})
    assert emission.text is None
    said = [item.message for item in emission.diagnostics]
    assert f"the target {target} cannot express unit 2, which has a text that is kept, or a test on one" in said
