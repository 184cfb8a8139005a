"""The golden workflows: no tool finds anything in them, and act runs each to the end that the Python program has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.golden.test_golden import GOLDEN, NAMES, STOPS
from tests.workflows import act
from tests.workflows.lint import findings

WORKFLOWS = sorted(GOLDEN.rglob("*.yml"))


def test_no_tool_finds_anything() -> None:
    assert len(WORKFLOWS) >= len(NAMES)
    assert findings(WORKFLOWS) == []


@pytest.mark.parametrize("name", NAMES)
def test_act_runs_them_to_their_end(name: str, tmp_path: Path) -> None:
    answers = ROOT / "examples" / "answers" / f"{name}.txt"
    inputs = {"answers": answers.read_text(encoding="utf-8")} if answers.exists() else {}
    ran = act.run(tmp_path, GOLDEN / name / f"{name}.yml", inputs=inputs)
    assert re.findall(r"^### (\w+) \S", ran.summary, re.MULTILINE) == ["STOP" if name in STOPS else "COMPLETE"]
    assert bool(ran.exit_code) == (name in STOPS)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_script_holds_an_expression(path: Path) -> None:
    for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
        assert not any("${{" in step.get("run", "") for step in job["steps"])


def test_a_straight_runbook_has_no_helpers(tmp_path: Path) -> None:
    """Its units are nothing but their names and commands."""
    text = (GOLDEN / "nightly-cleanup" / "nightly-cleanup.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["runbook"]["steps"]
    units = [step for step in steps if step["name"][0].isdigit()]
    assert len(units) >= 2
    for step in units:
        assert set(step) <= {"name", "id", "run", "if", "continue-on-error"}
