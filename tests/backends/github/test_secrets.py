"""Secrets that a document needs: looked for in the first step, given to the steps they are named for (I26, E10)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from backends.github import GithubBackend
from compiler.ir.edges import Keep
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel, Shell
from compiler.ir.texts import text
from tests.backends.github.made import COMPLETE, STOP, bash, node, program, to
from tests.backends.github.routed import compiled
from tests.backends.github.walking import Clean, run
from tests.support.github.compiling import parsed

pytestmark = pytest.mark.tool

VALUES = {"KEY": "sesame-open", "OTHER": "other-secret"}


def needing(made: Program, *names: str) -> Program:
    return replace(made, secrets=names or ("KEY", "OTHER"))


def shows(step: str) -> Shell:
    return bash(f'echo "{step} $KEY $OTHER" >> "$FOLDER/shown"')


NATIVE = needing(
    program(
        node("1", shows("1"), to("2", "pass"), to(STOP, "fail")),
        node("2", shows("2"), to(COMPLETE, "pass"), to(STOP, "fail")),
    )
)
ROUTED = needing(
    program(
        node("1", shows("1"), to("2", "pass"), to(STOP, "fail")),
        node("2", shows("2"), to("3", do=[Keep("x", "output", "x")])),
        node("3", Agent("", text("?")), to(COMPLETE)),
        slots=("x",),
    )
)
AGENT = {"agent": {"run": "cat >/dev/null; echo done", "secrets": []}}


def looked(job: Mapping[str, Any]) -> Any:
    """The variables of the step that looks for secrets before anything is done."""
    names = ("Open the run", "Continue the run", "Load the run", "Check the secrets")
    (found,) = (step["env"] for step in job["steps"] if step["name"] in names)
    return found


def shown(folder: Path) -> str:
    path = folder / "shown"
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.parametrize("made", [NATIVE, ROUTED], ids=["native", "routed"])
def test_a_run_without_its_secrets_ends_before_anything_is_done(made: Program, tmp_path: Path, clean: Clean) -> None:
    workflow = compiled(made, AGENT)
    clean(workflow)
    steps = parsed(workflow)["jobs"]["runbook"]["steps"]
    (first,) = (step for step in steps if "MISSING" in str(step.get("env")))
    assert "sesame" not in str(first)
    assert not any("run" in step for step in steps[: steps.index(first)] if step["name"] != "Write the program")
    for number, given in enumerate([{"KEY": "", "OTHER": "long"}, VALUES], 1):
        done = run(tmp_path, workflow, number, secrets=given)
        lacking = [name for name in VALUES if not given.get(name)]
        assert done.conclusion == ("failure" if lacking else "success"), done.log
        reported = str([each for each in done.jobs["runbook"].annotations if each[1] == "Missing secrets"])
        assert [name for name in VALUES if name in reported] == lacking
    assert shown(tmp_path) == "1 sesame-open other-secret\n2 sesame-open other-secret\n"


@pytest.mark.parametrize("made", [NATIVE, ROUTED], ids=["native", "routed"])
def test_each_step_gets_what_is_named_for_it(made: Program, tmp_path: Path) -> None:
    options = {**AGENT, "steps": {"2": {"secrets": ["OTHER"]}}, "secrets": {"KEY": "STORED"}}
    done = run(tmp_path, compiled(made, options), secrets={"STORED": "store", "OTHER": "other"})
    assert done.conclusion == "success", done.log
    assert shown(tmp_path) == "1  \n2  other\n"


def test_a_fork_is_told_that_it_has_none(tmp_path: Path) -> None:
    workflow = compiled(NATIVE, {"on": "pull_request"})
    for number, name in enumerate(["stranger/repository", "owner/repository"], 1):
        payload = {"pull_request": {"head": {"ref": "b", "repo": {"full_name": name}}}}
        done = run(tmp_path, workflow, number, event="pull_request", payload=payload)
        assert ("No secrets" in {title for _, title, _ in done.jobs["runbook"].annotations}) == (number == 1), done.log
        assert done.conclusion == "failure"
    assert shown(tmp_path) == ""


def test_secrets_of_an_environment_are_looked_for_there() -> None:
    for made in (NATIVE, ROUTED):
        steps = {"1": {"secrets": ["KEY"]}, "2": {"environment": "production", "secrets": ["OTHER"]}}
        jobs = parsed(compiled(made, {**AGENT, "steps": steps}))["jobs"]
        looking = {name: looked(job) for name, job in jobs.items()}
        for part, has, lacks in (("part_1", "KEY", "OTHER"), ("part_2", "OTHER", "KEY")):
            missing = looking[part]["RDC_MISSING"]
            assert (f"secrets.{has}" in missing, f"secrets.{lacks}" in missing) == (True, False)
        assert looking["part_2"]["RDC_PLACE"].endswith("environment production")
    made = needing(program(node("1", Parallel((Agent("", text("A")), Agent("", text("B")))), to(COMPLETE))), "KEY")
    options = {"agent": "cat", "parallel": "matrix", "steps": {"1": {"environment": "agents", "secrets": ["KEY"]}}}
    jobs = parsed(compiled(made, options))["jobs"]
    assert "secrets.KEY" in looked(jobs["entries_s1"])["RDC_MISSING"]
    assert "RDC_MISSING" not in looked(jobs["part_1"])
    assert [name for name, job in jobs.items() if job.get("environment") == "agents"] == ["entries_s1"]


def test_callers_can_give_the_secrets() -> None:
    events = parsed(compiled(NATIVE, {"on": ["workflow_call"], "secrets": {"KEY": "STORED"}}))["on"]
    assert events["workflow_call"]["secrets"] == {"STORED": {"required": False}, "OTHER": {"required": False}}


WRONG: Mapping[str, tuple[Program, dict[str, object]]] = {
    "RUNNER_KEY": (needing(NATIVE, "RUNNER_KEY", "PROMPT_KEY"), {}),
    "KEY is given": (NATIVE, {"env": {"KEY": "x"}}),
    "NONE of a command": (ROUTED, {"agent": {"run": "cat", "secrets": ["NONE"]}}),
}


@pytest.mark.parametrize("why", WRONG)
def test_what_no_secret_can_be_is_refused(why: str) -> None:
    made, options = WRONG[why]
    found = GithubBackend().emit(made, options).diagnostics
    assert [item.code for item in found] == ["RD013"]
    assert why.split(maxsplit=1)[0] in found[0].message


def test_pull_request_target_is_refused() -> None:
    with pytest.raises(Exception, match="pull_request_target"):
        GithubBackend().emit(NATIVE, {"on": "pull_request_target"})
