"""Who is asked before a step starts: each row of the order of B8, and the gates of tools (B9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.ir.program import Program
from compiler.ir.tasks import Gate
from tests.support.stepspec_documents import compiled, program_of, steps

HOLDS = "conditional_required: true"

# What the policy, the phase and the gate of a step are, and the beginning of the reason for which somebody is asked.
ROWS = [
    # The phase decides first.
    ("required_phases: [Plan]", "Plan", "optional", "phase Plan is in required_phases"),
    ("required_phases: [Plan]", "Plan", "required", "phase Plan is in required_phases"),
    ("required_phases: [Plan], high_risk_keywords: [deploy]", "Plan", "optional", "phase Plan"),
    ("required_phases: [Plan]", "plan", "optional", ""),
    ("required_phases: [Plan]", "Plan B", "optional", ""),
    # Then words in the id of the workflow.
    ("high_risk_keywords: [deploy]", "Plan", "optional", "workflow big-deploy contains the word deploy"),
    ("high_risk_keywords: [none, plo]", "Plan", "required", "workflow big-deploy contains the word plo"),
    ("high_risk_keywords: [Deploy]", "Plan", "optional", ""),
    ("high_risk_keywords: ['']", "Plan", "optional", ""),
    ("high_risk_keywords: ['', deploy]", "Plan", "optional", "workflow big-deploy contains the word deploy"),
    # Then what the step says.
    ("", "Plan", "required", "human_gate: required"),
    ("conditional_required: false, recommended_required: false", "Plan", "required", "human_gate: required"),
    (f"{HOLDS}, conditional_phases: [Plan]", "Plan", "conditional", "human_gate: conditional, and phase Plan"),
    (f"{HOLDS}, conditional_keywords: [big]", "Plan", "conditional", "human_gate: conditional, and workflow"),
    ("conditional_required: false, conditional_phases: [Plan]", "Plan", "conditional", ""),
    ("conditional_phases: [Plan]", "Plan", "conditional", ""),
    (f"{HOLDS}, conditional_phases: [Build]", "Plan", "conditional", ""),
    (f"{HOLDS}, conditional_phases: [Plan]", "Plan", "optional", ""),
    (f"{HOLDS}, conditional_phases: [Plan]", "Plan", "recommended", ""),
    ("recommended_required: true", "Plan", "recommended", "human_gate: recommended"),
    ("recommended_required: false", "Plan", "recommended", ""),
    ("", "Plan", "recommended", ""),
    ("recommended_required: true", "Plan", "conditional", ""),
    ("recommended_required: true", "Plan", "optional", ""),
    ("", "Plan", "optional", ""),
]


def gates(program: Program) -> dict[str, str]:
    """The gates of a program with their reasons, in their order."""
    return {node.id: str(node.task.reason) for node in program.nodes if isinstance(node.task, Gate)}


@pytest.mark.parametrize(("policy", "phase", "gate", "reason"), ROWS)
def test_the_first_rule_that_applies_decides(tmp_path: Path, policy: str, phase: str, gate: str, reason: str) -> None:
    text = f"""
        workflow: {{module: m, workflow: big-deploy}}
        config: {{hitl: {{policy: {{{policy}}}}}}}
        step_specs: [{{id: a, phase: "{phase}", human_gate: {gate or "optional"}}}]
    """
    found = gates(program_of(compiled(tmp_path, text)))
    assert list(found) == (["m:big-deploy:a:hitl"] if reason else [])
    assert all(output.startswith(reason) for output in found.values())


def test_a_step_without_a_phase_has_that_of_the_workflow(tmp_path: Path) -> None:
    text = """
        workflow: {module: m, workflow: w, phase: Plan}
        config: {hitl: {policy: {required_phases: [Plan]}}}
        step_specs: [{id: a}, {id: b, phase: Build}]
    """
    assert list(gates(program_of(compiled(tmp_path, text)))) == ["m:w:a:hitl"]


def test_tools_have_gates_by_their_risk_or_by_name(tmp_path: Path) -> None:
    text = """
        - id: a
          human_gate: required
          tools:
            - {name: own, risk: low}
            - {name: gitStatus, risk: medium}
            - {name: gitDiff, risk: low, gate: look}
            - {name: gitDiff, risk: high}
            - {name: gitDiff, risk: high}
            - {name: gitStatus, risk: high, gate: look}
    """
    made = steps(tmp_path, text, "{tools: {own: {command: x, risk: high}}}")
    assert list(gates(program_of(made))) == ["m:w:a:hitl", "tool:own:a", "look", "tool:gitDiff:a"]


def test_a_gate_is_asked_once(tmp_path: Path) -> None:
    text = """
        - {id: a, tools: [{name: gitStatus, gate: look}]}
        - {id: b, tools: [{name: gitStatus, gate: look}, {name: gitDiff, gate: more}]}
        - {id: c, tools: [{name: gitStatus, gate: more}, {name: gitDiff, gate: "m:w:c:hitl"}], human_gate: required}
    """
    program = program_of(steps(tmp_path, text))
    assert list(gates(program)) == ["look", "more", "m:w:c:hitl"]
    nodes = program.index()
    assert [nodes[name].group for name in gates(program)] == ["a", "b", "c"]


def test_gates_stand_before_all_attempts(tmp_path: Path) -> None:
    text = "- {id: a, human_gate: required, tools: [{name: gitDiff, risk: high, required: true}], retries: {max: 2}}"
    program = program_of(steps(tmp_path, text))
    assert program.entry == "m:w:a:hitl"
    again = {edge.target for node in program.nodes for edge in node.edges if edge.effects and node.group == "a"}
    assert "a/gitDiff" in again
    assert not again & set(gates(program))
