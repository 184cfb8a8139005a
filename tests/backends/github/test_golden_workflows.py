"""The golden workflows: no tool finds anything in them, and each runs to the end that the program has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.support import actions_engine as engine
from tests.support.github import act
from tests.support.github.act import End, end_of
from tests.support.github.compiling import LOADER
from tests.support.github.lint import findings
from tests.support.golden import INPUTS, NAMES, SECRETS, STOPS, listed, workflows

pytestmark = pytest.mark.tool

WORKFLOWS = listed(".yml")


BY_ACT = ("deploy-with-rollback", "nightly-cleanup")
"""The examples that act runs, an engine of other people; the second engine runs the others."""


@pytest.mark.share(8)
@pytest.mark.parametrize("part", range(8))
def test_no_tool_finds_anything(part: int) -> None:
    assert len(WORKFLOWS) >= len(NAMES)
    assert findings([workflows()[path] for path in WORKFLOWS[part::8]]) == []


def test_the_parser_of_github_complains_of_nothing() -> None:
    texts = {path: workflows()[path].read_text(encoding="utf-8") for path in WORKFLOWS}
    assert {path: engine.complaints(text) for path, text in texts.items()} == {path: [] for path in WORKFLOWS}
    assert engine.complaints(texts[WORKFLOWS[0]].replace("runs-on:", "runs_on:")) != []


@pytest.mark.share(3)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in BY_ACT])
def test_it_runs_to_its_end(name: str, tmp_path: Path) -> None:
    folder, workflow = tmp_path / "repository", workflows()[f"{name}/{name}.yml"]
    shutil.copytree(workflow.parents[2], folder)
    text = workflow.read_text(encoding="utf-8")
    environments = {"approval": ["approved"]} if "environment: approval" in text else {}
    answers = ROOT / "examples" / "answers" / f"{name}.txt"
    lines = answers.read_text(encoding="utf-8").splitlines() if answers.exists() else []
    inputs = dict(word.split("=", 1) for word in INPUTS.get(name, ()) if "=" in word)
    given: dict[str, Any] = {"history": tmp_path / "history", "secrets": SECRETS, "environments": environments}
    ran = engine.run(folder, text, inputs=inputs, **given)
    for number, line in enumerate(lines, 2):
        if end_of(text, ran).word == "WAITING":
            ran = engine.run(folder, text, inputs={"answers": line, "resume": str(number - 1)}, run_id=number, **given)
    has_ended_well(name, end_of(text, ran), ran.exit_code)


@pytest.mark.parametrize("name", BY_ACT)
def test_act_runs_it_to_its_end(name: str) -> None:
    workflow = workflows()[f"{name}/{name}.yml"]
    ran = act.run(workflow.parents[2], workflow, secrets={**act.TOKEN, **SECRETS})
    has_ended_well(name, end_of(workflow.read_text(encoding="utf-8"), ran), ran.exit_code)


def has_ended_well(name: str, end: End, code: int) -> None:
    assert (end.word, bool(end.message)) == ("STOP" if name in STOPS else "COMPLETE", True)
    assert bool(code) == (name in STOPS)


def test_no_script_holds_an_expression() -> None:
    for path in WORKFLOWS:
        for job in yaml.load(workflows()[path].read_text(encoding="utf-8"), LOADER)["jobs"].values():
            assert not any("${{" in step.get("run", "") for step in job["steps"]), path


def test_a_straight_runbook_has_no_helpers(tmp_path: Path) -> None:
    """Its steps are nothing but their names, prompts and commands."""
    text = workflows()["nightly-cleanup/nightly-cleanup.yml"].read_text(encoding="utf-8")
    steps = yaml.load(text, LOADER)["jobs"]["runbook"]["steps"]
    nodes = [step for step in steps if step["name"][0].isdigit()]
    assert len(nodes) >= 2
    for step in nodes:
        assert set(step) <= {"name", "id", "run", "if", "continue-on-error", "env"}
        assert set(step.get("env", {})) <= {"RDC_PROMPT"}
