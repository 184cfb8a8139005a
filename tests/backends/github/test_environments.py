"""Environments and secrets of steps, and approvals: a part behind an environment has it itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from tests.backends.github.asking import DOCUMENT
from tests.support import actions_engine as engine
from tests.support.actions_engine import EngineRun
from tests.support.github.act import end_of
from tests.support.github.compiling import emission, parsed, text_of

pytestmark = pytest.mark.tool


def step(number: int, *printed: str) -> str:
    lines = "".join(f"- {line}\n" for line in printed)
    return f'## {number}. Step\n\n```bash\necho "{number} $A $B" >> "$LOG"\n```\n\n{lines}\n'


PRODUCTION = {"2": {"secrets": ["A"], "environment": "production"}}
SECRETS: dict[str, object] = {"steps": {**PRODUCTION, "*": {"secrets": ["B"]}}}
THREE = step(1) + step(2) + step(3, "FAIL: RETRY 1 STOP")


def walked(
    folder: Path, document: str, options: Mapping[str, object], environments: Mapping[str, Sequence[str]]
) -> tuple[str, EngineRun, list[str]]:
    """The workflow, its run, and what its commands have logged."""
    (folder / "r").mkdir()
    text = text_of(folder / "r", document, {"checkout": False, **options})
    log = folder / "log"
    log.touch()
    secrets = {"A": "secret-a", "B": "secret-b"}
    env = {"LOG": str(log)}
    run = engine.run(folder / "r", text, history=folder / "h", environments=environments, env=env, secrets=secrets)
    return text, run, log.read_text(encoding="utf-8").splitlines()


def test_an_environment_of_a_step_is_a_job_and_each_step_gets_its_secrets(tmp_path: Path) -> None:
    text, run, log = walked(tmp_path, THREE, SECRETS, {"production": ["approved"]})
    assert log == ["1  secret-b", "2 secret-a secret-b", "3  secret-b"]
    assert [job.get("environment") for job in parsed(text)["jobs"].values()] == [None, "production", None]
    assert run.conclusion == "success"


def test_a_step_whose_environment_is_refused_stops_the_run(tmp_path: Path) -> None:
    _, run, log = walked(tmp_path, THREE, SECRETS, {"production": ["rejected"]})
    assert (run.conclusion, log) == ("failure", ["1  secret-b"])


def test_no_job_knows_the_secrets_of_another_but_to_hide_them(tmp_path: Path) -> None:
    text = text_of(tmp_path, THREE, {"steps": {"1": {"secrets": ["B"]}, **PRODUCTION}})
    parts = parsed(text)["jobs"].items()
    own = {name: [step for step in job["steps"] if step["name"] != "Close the run"] for name, job in parts}
    jobs = {name: yaml.safe_dump(steps) for name, steps in own.items()}
    found = {name: set(re.findall(r"secrets\.(\w+)", job)) for name, job in jobs.items()}
    assert found == {"part_1": {"B"}, "part_2": {"A"}, "part_3": set()}


def test_an_end_behind_an_environment_is_no_job_of_its_own(tmp_path: Path) -> None:
    document = step(1) + step(2, 'PASS: COMPLETE "Out"', 'FAIL: STOP "Broken"')
    text, run, _ = walked(tmp_path, document, SECRETS, {"production": ["approved"]})
    assert (str(end_of(text, run)), list(run.jobs)) == ("COMPLETE Out", ["part_1", "part_2"])


@pytest.mark.parametrize("summary", [False, True])
def test_a_job_for_an_end_that_several_jobs_lead_to_has_a_step(summary: bool, tmp_path: Path) -> None:
    options = {"steps": PRODUCTION, "summary": summary}
    text, run, _ = walked(tmp_path, step(1, "FAIL: COMPLETE") + step(2), options, {"production": ["approved"]})
    assert (str(end_of(text, run)), len(run.jobs)) == ("COMPLETE", 2)


def test_nothing_follows_a_job_that_is_out_of_time(tmp_path: Path) -> None:
    text = text_of(tmp_path, THREE, {"checkout": False, **SECRETS})
    log = tmp_path / "log"
    run = engine.run(tmp_path, text, history=tmp_path / "h", expire="part_2/__run_2", env={"LOG": str(log)})
    assert {name: job.result for name, job in run.jobs.items()} == {
        "part_1": "success",
        "part_2": "cancelled",
        "part_3": "skipped",
    }
    assert [line[0] for line in log.read_text(encoding="utf-8").splitlines()] == ["1", "2"]


def test_steps_of_a_loop_get_their_own_secrets(tmp_path: Path) -> None:
    document = step(1) + step(2, "PASS: COMPLETE", "FAIL: GOTO 1")
    options = {"steps": {"1": {"secrets": ["A"]}, "2": {"secrets": ["B"]}}}
    assert walked(tmp_path, document, options, {})[2] == ["1 secret-a ", "2  secret-b"]


@pytest.mark.parametrize("command", ["echo", "env echo"])  # the second may set variables for the steps after it
def test_an_agent_in_a_loop_gets_no_secrets_of_other_steps(command: str, tmp_path: Path) -> None:
    document = step(1).replace("echo", command) + "## 2. Ask\n\nFine?\n\n- YES: COMPLETE\n- NO: GOTO 1\n"
    agent = 'echo "agent $A $B" >> "$LOG"; echo YES'
    options = {"prompts": "agent", "agent": agent, "steps": {"1": {"secrets": ["A"]}, "2": {"secrets": ["B"]}}}
    assert walked(tmp_path, document, options, {})[2][-1] == "agent  secret-b"


@pytest.mark.parametrize("prompts", ["answers", "agent"])
def test_a_step_that_asks_people_gets_no_secrets(prompts: str, tmp_path: Path) -> None:
    text = text_of(tmp_path, DOCUMENT, {"prompts": prompts, "agent": "cat", "secrets": ["A"]})
    asking = [step for job in parsed(text)["jobs"].values() for step in job["steps"] if "Agree" in step["name"]]
    assert [("A" in step.get("env", {})) for step in asking] == [prompts == "agent"]
    (build,) = [step for job in parsed(text)["jobs"].values() for step in job["steps"] if "Build" in step["name"]]
    assert build["env"]["A"] == "${{ secrets.A }}"


@pytest.mark.parametrize(
    ("document", "options"),
    [
        (step(1) + step(2, "PASS: COMPLETE", "FAIL: GOTO 1"), {}),
        (step(1) + step(2) + "## 3. Ask\n\nGo on?\n\n- NO: GOTO 2\n", {}),
    ],
)
def test_an_environment_where_no_job_can_have_it(document: str, options: dict[str, object], tmp_path: Path) -> None:
    made = emission(tmp_path, document, {"steps": {"2": {"environment": "production"}}, **options})
    assert [found.code for found in made.diagnostics] == ["RD520"]


def test_a_step_that_is_not_there(tmp_path: Path) -> None:
    (found,) = emission(tmp_path, THREE, {"steps": {"22": {"secrets": ["A"]}}}).diagnostics
    assert (found.code, "did you mean `2`" in found.message) == ("RD013", True)


@pytest.mark.parametrize(
    ("given", "is_refused"),
    [
        ({"environment": "Approval"}, True),
        ({"environment": "people", "approval-environment": "people"}, True),
        ({"environment": "people", "steps": {"2": {"approval-environment": "people"}}}, True),
        ({"environment": "production"}, False),
        ({"prompts": "answers", "environment": "approval"}, False),
    ],
)
def test_no_other_job_is_in_the_environment_that_approves(
    given: dict[str, object], is_refused: bool, tmp_path: Path
) -> None:
    """The review that lets such a job start would count as a decision too."""
    document = DOCUMENT.replace("NO: GOTO Withdraw", "NO: STOP")
    found = emission(tmp_path, document, {"prompts": "environment", **given}).diagnostics
    assert [item.code for item in found if "for decisions" in item.message] == ["RD013"] * is_refused
