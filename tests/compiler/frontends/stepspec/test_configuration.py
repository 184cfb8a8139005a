"""The configuration of a specification: its file, and who approves a step or a tool before it starts (B8, B9)."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.ir.program import Program
from compiler.ir.tasks import Gate
from tests.support.stepspec_documents import compiled, findings, program_of, steps

ONE = "step_specs: [{id: a}]"
POLICY = "hitl: {policy: {required_phases: ['']}}"


NEAR = {"config/runtime.yaml": "max_retries: 1", "specs/config/runtime.yaml": "max_retries: 2"}
NAMED = {"config/runtime.yaml": "max_retries: 1", "policy.json": '{"runtime": {"max_retries": 3}}'}


@pytest.mark.parametrize(
    ("text", "files", "name", "counting", "retries"),
    [
        (ONE, NEAR, "specs/deep/main.stepspec.yaml", "specs/config/runtime.yaml", 2),
        (f"config: policy.json\n{ONE}", NAMED, "main.stepspec.yaml", "policy.json", 3),
    ],
    ids=["nearest", "named"],
)
def test_the_nearest_or_the_named_file_of_the_configuration_counts(
    tmp_path: Path, text: str, files: dict[str, str], name: str, counting: str, retries: int
) -> None:
    program = program_of(compiled(tmp_path, text, files, name))
    assert [source.path for source in program.sources] == [name, counting]
    assert program.stepspec
    assert json.loads(str(program.stepspec.steps[0].spec))["retries"]["max"] == retries


SITE = """
max_retries: 5
executor: ./site.sh
variables: {output_folder: out, other: unused}
hitl: {policy: {required_phases: [Release], conditional_required: true, conditional_phases: [Plan]}}
guardrails: {output: {blocklist: [TODO]}}
tools: {announce: {command: ./announce.sh, risk: high}, look: {command: ./look.sh}}
"""
LAYERED = """
config: CONFIG
workflow: {module: m, workflow: w}
step_specs:
  - {id: a, phase: Release, outputs: ["{output_folder}/a.md"]}
  - {id: b, phase: Plan, human_gate: conditional, tools: [{name: announce}]}
"""
GATES = ["m:w:a:hitl", "m:w:b:hitl", "tool:announce:b"]


@pytest.mark.parametrize("name", ["config/runtime.yaml", "config/runtime.yml"])
@pytest.mark.parametrize(
    ("config", "retries", "executor"),
    [
        ("{}", 5, "./site.sh"),
        ("{max_retries: 1, executor: mine}", 1, "mine"),
        ("{hitl: {policy: {required_phases: [], conditional_required: false}}}", 5, "./site.sh"),
        ("{hitl: {policy: {recommended_required: true}}, guardrails: {output: {blocklist: []}}}", 5, "./site.sh"),
        ("{tools: {announce: {command: mine, risk: low}}}", 5, "./site.sh"),
        ("{runtime: {tools: {announce: {command: mine}}, max_retries: 0}}", 0, "./site.sh"),
    ],
)
def test_the_safeguards_of_a_project_hold_beside_those_of_a_document(
    tmp_path: Path, config: str, retries: int, executor: str, name: str
) -> None:
    made = compiled(tmp_path, LAYERED.replace("CONFIG", config), {name: SITE}, "specs/main.stepspec.yaml")
    assert findings(made) == []
    program = program_of(made)
    assert [node.id for node in program.nodes if isinstance(node.task, Gate)] == GATES
    assert [source.path for source in program.sources] == ["specs/main.stepspec.yaml", name]
    stepspec = program.stepspec
    assert stepspec
    settings = json.loads(stepspec.config)
    assert (settings["executor"], settings["guardrails"]["output"]["blocklist"]) == (executor, ["TODO"])
    assert settings["tools"]["announce"]["command"] == ("mine" if "announce" in config else "./announce.sh")
    assert settings["tools"]["look"] == {"command": "./look.sh", "risk": "low"}
    assert json.loads(str(stepspec.steps[0].spec))["retries"]["max"] == retries


def test_of_a_named_file_only_the_safeguards_of_a_project_hold(tmp_path: Path) -> None:
    own = "runtime: {variables: {output_folder: x}, tools: {announce: {command: mine}}}"
    files = {"config/runtime.yaml": SITE, "own.yaml": own}
    program = program_of(compiled(tmp_path, LAYERED.replace("CONFIG", "own.yaml"), files))
    assert [node.id for node in program.nodes if isinstance(node.task, Gate)] == GATES
    assert program.stepspec
    settings = json.loads(program.stepspec.config)
    assert settings.keys() == {"tools", "guardrails"}
    assert settings["tools"] == {"announce": {"command": "mine", "risk": "high"}}


def test_a_project_has_one_file_of_its_configuration_without_errors(tmp_path: Path) -> None:
    files = {"config/runtime.yaml": "hitl: {policy: {required_phases: }}", "own.yaml": "{}"}
    for config in ("{}", "own.yaml"):
        made = compiled(tmp_path, f"config: {config}\n{ONE}", files)
        assert [(Path(item.path).name, item.code) for item in made.diagnostics] == [("runtime.yaml", "RD855")]
    files = {"config/runtime.yaml": SITE, "config/runtime.yml": "max_retries: 1"}
    for text in (ONE, f"config: {{}}\n{ONE}", f"config: own.yaml\n{ONE}"):
        made = compiled(tmp_path, text, files)
        assert (made.program, [item.code for item in made.diagnostics]) == (None, ["RD868"])


HOLD = "conditional_required: true"
UNMET = {
    f"{HOLD}, conditional_phases: [Plan]": [],
    f"{HOLD}, conditional_phases: [Plan, Bild]": ["RD875 2:81"],
    f"{HOLD}, conditional_phases: [Draft]": ["RD875 2:75"],
    f"{HOLD}, conditional_phases: [plan]": ["RD875 2:75"],
    f"{HOLD}, conditional_keywords: [w]": [],
    f"{HOLD}, conditional_keywords: [W, deploy]": ["RD875 2:77", "RD875 2:80"],
    f"{HOLD}, conditional_keywords: ['']": ["RD875 2:77"],
    "conditional_phases: [Plan]": ["RD872 5:24", "RD875 2:47"],
    f"{HOLD}, required_phases: [None], high_risk_keywords: [none]": ["RD872 5:24"],
    "recommended_required: true": ["RD872 5:24"],
}


@pytest.mark.parametrize("policy", UNMET)
def test_a_conditional_rule_that_no_step_can_meet_is_named(policy: str, tmp_path: Path) -> None:
    text = "- {id: a, phase: Draft}\n- {id: b, phase: Plan, human_gate: conditional}"
    made = steps(tmp_path, text, f"{{hitl: {{policy: {{{policy}}}}}}}")
    assert sorted(findings(made)) == UNMET[policy]


def test_rules_without_a_conditional_step_are_named(tmp_path: Path) -> None:
    policy = f"{{policy: {{{HOLD}, conditional_phases: [Plan]}}}}"
    (found,) = steps(tmp_path, "- {id: a, phase: Plan, human_gate: required}", f"{{hitl: {policy}}}").diagnostics
    assert found.message == "no step can meet `Plan` in `conditional_phases`: no step has `human_gate: conditional`"
    for phase, gate, is_found in (
        *(("Plan", "required", False), ("plan", "conditional", True)),
        *(("Build", "conditional", False), ("Plan", "conditional", False)),
    ):
        site = {"config/runtime.yaml": f"hitl: {{policy: {{{HOLD}, conditional_phases: [{phase}]}}}}"}
        for config in ("", "config: {}\n"):
            made = compiled(tmp_path, f"{config}step_specs: [{{id: a, phase: Plan, human_gate: {gate}}}]", site)
            places = [(Path(one.path).name, one.code) for one in made.diagnostics]
            assert places == [("runtime.yaml", "RD875")] * is_found, "of shared rules those in another case"


def test_findings_in_a_file_stand_there(tmp_path: Path) -> None:
    made = compiled(tmp_path, ONE, {"config/runtime.yaml": "max_retries: x\nmax_retries: 1\nhitl: {policy: 5}\n"})
    assert [(Path(item.path).name, item.code) for item in made.diagnostics] == [
        *(("runtime.yaml", "RD852"), ("runtime.yaml", "RD855"))
    ]
    broken = compiled(tmp_path, ONE, {"config/runtime.yaml": "max_retries: [\n"})
    assert [item.code for item in broken.diagnostics] == ["RD850"]
    text = "server: {port: 1}\nruntime: {logs: x, max_retris: 1}\nhitl: {color: x}\n"
    made = compiled(tmp_path, ONE, {"config/runtime.yaml": text})
    assert findings(made) == ["RD853 2:20", "RD853 3:8"], "but no keys of other programs"
    text = "config: none.yaml\nstep_specs: [{id: a, human_gate: conditional, tools: [{name: own}]}]"
    assert findings(compiled(tmp_path, text, link=False)) == [], "without its configuration"


def _link(folder: Path) -> None:
    outside = folder.parent / f"{folder.name}-outside.yaml"
    outside.write_text(POLICY)
    (folder / "config" / "runtime.yaml").symlink_to(outside)


UNUSABLE: dict[str, Callable[[Path], object]] = {
    "a link that leads out": _link,
    "a link that leads nowhere": lambda folder: (folder / "config" / "runtime.yaml").symlink_to("none"),
    "a pipe": lambda folder: os.mkfifo(folder / "config" / "runtime.yaml"),
    "a folder": lambda folder: (folder / "config" / "runtime.yaml").mkdir(),
    "no text": lambda folder: (folder / "config" / "runtime.yaml").write_bytes(b"\xff\xfe"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_file_that_cannot_be_used_stops_the_compilation(tmp_path: Path, what: str) -> None:
    (tmp_path / "config").mkdir()
    UNUSABLE[what](tmp_path)
    made = compiled(tmp_path, ONE)
    assert made.program is None
    assert {item.code for item in made.diagnostics} == {"RD868"}


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
    (f"{HOLD}, conditional_phases: [Plan]", "Plan", "conditional", "human_gate: conditional, and phase Plan"),
    (f"{HOLD}, conditional_keywords: [big]", "Plan", "conditional", "human_gate: conditional, and workflow"),
    ("conditional_required: false, conditional_phases: [Plan]", "Plan", "conditional", ""),
    ("conditional_phases: [Plan]", "Plan", "conditional", ""),
    (f"{HOLD}, conditional_phases: [Build]", "Plan", "conditional", ""),
    (f"{HOLD}, conditional_phases: [Plan]", "Plan", "optional", ""),
    (f"{HOLD}, conditional_phases: [Plan]", "Plan", "recommended", ""),
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
    assert all(text.startswith(reason) for text in found.values())


OF_TOOLS = """
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
ONCE = """
- {id: a, tools: [{name: gitStatus, gate: look}]}
- {id: b, tools: [{name: gitStatus, gate: look}, {name: gitDiff, gate: more}]}
- {id: c, tools: [{name: gitStatus, gate: more}, {name: gitDiff, gate: "m:w:c:hitl"}], human_gate: required}
"""


def test_gates_of_steps_and_tools(tmp_path: Path) -> None:
    text = """
        workflow: {module: m, workflow: w, phase: Plan}
        config: {hitl: {policy: {required_phases: [Plan]}}}
        step_specs: [{id: a}, {id: b, phase: Build}]
    """
    assert list(gates(program_of(compiled(tmp_path, text)))) == ["m:w:a:hitl"], "the phase of the workflow"
    made = steps(tmp_path, OF_TOOLS, "{tools: {own: {command: x, risk: high}}}")
    assert list(gates(program_of(made))) == ["m:w:a:hitl", "tool:own:a", "look", "tool:gitDiff:a"]
    program = program_of(steps(tmp_path, ONCE))
    groups = [(name, program.index()[name].group) for name in gates(program)]
    assert groups == [("look", "a"), ("more", "b"), ("m:w:c:hitl", "c")], "each is asked once"


def test_gates_stand_before_all_attempts(tmp_path: Path) -> None:
    text = "- {id: a, human_gate: required, tools: [{name: gitDiff, risk: high, required: true}], retries: {max: 2}}"
    program = program_of(steps(tmp_path, text))
    assert program.entry == "m:w:a:hitl"
    again = {edge.target for node in program.nodes for edge in node.edges if edge.effects and node.group == "a"}
    assert "a/gitDiff" in again
    assert not again & set(gates(program))
