"""The file of the configuration of a specification: where it lies, what of it counts, and what it asks for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.ir.tasks import Gate
from tests.support.stepspec_documents import compiled, findings, program_of, steps

# --- The file of the configuration ------------------------------------------------------------------------------------

ONE = "step_specs: [{id: a}]"
POLICY = "hitl: {policy: {required_phases: ['']}}"


def test_the_nearest_file_of_the_configuration_counts(tmp_path: Path) -> None:
    files = {"config/runtime.yaml": "max_retries: 1", "specs/config/runtime.yaml": "max_retries: 2"}
    program = program_of(compiled(tmp_path, ONE, files, "specs/deep/main.stepspec.yaml"))
    assert [source.path for source in program.sources] == ["specs/deep/main.stepspec.yaml", "specs/config/runtime.yaml"]
    assert program.stepspec
    assert json.loads(str(program.stepspec.steps[0].spec))["retries"]["max"] == 2


def test_a_file_that_is_named_counts_alone(tmp_path: Path) -> None:
    files = {"config/runtime.yaml": "max_retries: 1", "policy.json": '{"runtime": {"max_retries": 3}}'}
    program = program_of(compiled(tmp_path, f"config: policy.json\n{ONE}", files))
    assert [source.path for source in program.sources] == ["main.stepspec.yaml", "policy.json"]
    assert program.stepspec
    assert json.loads(str(program.stepspec.steps[0].spec))["retries"]["max"] == 3


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


def test_a_project_has_one_file_of_its_configuration(tmp_path: Path) -> None:
    files = {"config/runtime.yaml": SITE, "config/runtime.yml": "max_retries: 1"}
    for text in (ONE, f"config: {{}}\n{ONE}", f"config: own.yaml\n{ONE}"):
        made = compiled(tmp_path, text, {**files, "own.yaml": "{}"})
        assert (made.program, [item.code for item in made.diagnostics]) == (None, ["RD868"])


def test_errors_in_the_file_of_a_project_are_found_beside_a_configuration(tmp_path: Path) -> None:
    for config in ("{}", "own.yaml"):
        files = {"config/runtime.yaml": "hitl: {policy: {required_phases: }}", "own.yaml": "{}"}
        made = compiled(tmp_path, f"config: {config}\n{ONE}", files)
        assert [(Path(item.path).name, item.code) for item in made.diagnostics] == [("runtime.yaml", "RD855")]


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
    text, policy = "- {id: a, phase: Plan, human_gate: required}", f"{{policy: {{{HOLD}, conditional_phases: [Plan]}}}}"
    (found,) = steps(tmp_path, text, f"{{hitl: {policy}}}").diagnostics
    assert found.message == ("no step can meet `Plan` in `conditional_phases`: no step has `human_gate: conditional`")
    file = {"config/runtime.yaml": f"hitl: {policy}"}
    assert findings(compiled(tmp_path, f"step_specs: [{text[2:]}]", file)) == []


@pytest.mark.parametrize(("phase", "is_found"), [("plan", True), ("Build", False), ("Plan", False)])
def test_of_rules_that_documents_share_those_in_other_case_are_named(
    phase: str, is_found: bool, tmp_path: Path
) -> None:
    site = {"config/runtime.yaml": f"hitl: {{policy: {{{HOLD}, conditional_phases: [{phase}]}}}}"}
    for config in ("", "config: {}\n"):
        text = f"{config}step_specs: [{{id: a, phase: Plan, human_gate: conditional}}]"
        made = compiled(tmp_path, text, site)
        assert [(Path(item.path).name, item.code) for item in made.diagnostics] == [
            ("runtime.yaml", "RD875")
        ] * is_found


def test_findings_in_a_file_stand_there(tmp_path: Path) -> None:
    made = compiled(tmp_path, ONE, {"config/runtime.yaml": "max_retries: x\nmax_retries: 1\nhitl: {policy: 5}\n"})
    assert [(Path(item.path).name, item.code) for item in made.diagnostics] == [
        ("runtime.yaml", "RD852"),
        ("runtime.yaml", "RD855"),
    ]
    broken = compiled(tmp_path, ONE, {"config/runtime.yaml": "max_retries: [\n"})
    assert [item.code for item in broken.diagnostics] == ["RD850"]


def test_keys_of_other_programs_in_a_file_are_passed_over(tmp_path: Path) -> None:
    text = "server: {port: 1}\nruntime: {logs: x, max_retris: 1}\nhitl: {color: x}\n"
    made = compiled(tmp_path, ONE, {"config/runtime.yaml": text})
    assert findings(made) == ["RD853 2:20", "RD853 3:8"]


def test_a_document_is_checked_without_its_configuration(tmp_path: Path) -> None:
    text = "config: none.yaml\nstep_specs: [{id: a, human_gate: conditional, tools: [{name: own}]}]"
    assert findings(compiled(tmp_path, text, link=False)) == []


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
