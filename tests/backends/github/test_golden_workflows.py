"""The golden workflows: no tool finds anything in them, and two engines run each to the end that the program has."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.golden.test_golden import INPUTS, NAMES, SECRETS, STOPS, listed, workflows
from tests.support import actions_engine as engine
from tests.support.github import act
from tests.support.github.compiling import LOADER
from tests.support.github.ends import end_of
from tests.support.github.lint import findings

WORKFLOWS = listed(".yml")


@pytest.mark.share(3)
@pytest.mark.parametrize("part", range(3))
def test_no_tool_finds_anything(part: int) -> None:
    assert len(WORKFLOWS) >= len(NAMES)
    assert findings([workflows()[path] for path in WORKFLOWS[part::3]]) == []


@pytest.mark.parametrize("path", WORKFLOWS)
def test_the_parser_of_github_complains_of_nothing(path: str) -> None:
    text = workflows()[path].read_text(encoding="utf-8")
    assert engine.complaints(text) == []
    assert engine.complaints(text.replace("outcome ==", "outcome =", 1).replace("runs-on:", "runs_on:")) != []


@pytest.mark.share(3)
@pytest.mark.parametrize("by", ["act", "engine"])
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_to_its_end(name: str, by: str, tmp_path: Path) -> None:
    folder, workflow = tmp_path / "repository", workflows()[f"{name}/{name}.yml"]
    is_decided = "environment: approval" in workflow.read_text(encoding="utf-8")
    if is_decided and by == "act":
        pytest.skip("act has no reviewers")
    shutil.copytree(workflow.parents[2], folder)
    text, secrets = workflow.read_text(encoding="utf-8"), {**act.TOKEN, **SECRETS}
    environments = {"approval": ["approved"]} if is_decided else {}

    def run(inputs: dict[str, str], number: int) -> act.ActRun | engine.EngineRun:
        if by == "act":
            env = {"ARTIFACTS": str(tmp_path / "artifacts")}
            return act.run(folder, workflow, inputs=inputs, secrets=secrets, env=env, run_id=number)
        history = tmp_path / "history"
        return engine.run(
            folder, text, history=history, inputs=inputs, secrets=secrets, run_id=number, environments=environments
        )

    ran = run(dict(word.split("=", 1) for word in INPUTS.get(name, ()) if "=" in word), 1)
    answers = ROOT / "examples" / "answers" / f"{name}.txt"
    for number, line in enumerate(answers.read_text(encoding="utf-8").splitlines() if answers.exists() else (), 2):
        if str(end_of(text, ran)).startswith("WAITING"):
            ran = run({"answers": line, "resume": str(number - 1)}, number)
    end = end_of(text, ran)
    assert (end.word, bool(end.message)) == ("STOP" if name in STOPS else "COMPLETE", True)
    assert bool(ran.exit_code) == (name in STOPS)


@pytest.mark.parametrize("path", WORKFLOWS)
@pytest.mark.share(2)
def test_no_script_holds_an_expression(path: str) -> None:
    for job in yaml.load(workflows()[path].read_text(encoding="utf-8"), LOADER)["jobs"].values():
        assert not any("${{" in step.get("run", "") for step in job["steps"])


def test_a_straight_runbook_has_no_helpers(tmp_path: Path) -> None:
    """Its steps are nothing but their names, prompts and commands."""
    text = workflows()["nightly-cleanup/nightly-cleanup.yml"].read_text(encoding="utf-8")
    steps = yaml.load(text, LOADER)["jobs"]["runbook"]["steps"]
    nodes = [step for step in steps if step["name"][0].isdigit()]
    assert len(nodes) >= 2
    for step in nodes:
        assert set(step) <= {"name", "id", "run", "if", "continue-on-error", "env"}
        assert set(step.get("env", {})) <= {"RDC_PROMPT"}
