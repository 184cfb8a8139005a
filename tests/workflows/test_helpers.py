"""The option `helpers: action`: what is no part of the runbook stands in files that workflows share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.base import Emission
from backends.github.pins import pins
from backends.options.problems import OptionsError
from tests.rdc.cli_support import call
from tests.workflows import act, engine
from tests.workflows.compiling import emission, parsed, steps
from tests.workflows.ends import end_of
from tests.workflows.lint import findings, program
from tests.workflows.test_continuation import DOCUMENT
from tests.workflows.test_prompts import DOCUMENT as APPROVED

HELPERS: dict[str, object] = {"helpers": "action"}
OTHER = "## 1. Ask\n\nGo on?\n\n## 2. Do it\n\n```bash\ntrue\n```\n"


def laid(folder: Path, document: str, **options: object) -> tuple[str, Path]:
    """The workflow of a document, and a repository in which its helpers are."""
    folder.mkdir()
    made = emission(folder, document, {**HELPERS, **options})
    assert made.text, made.diagnostics
    for companion in made.companions:
        path = Path(folder, ".github/workflows", companion.path)
        (folder / ".github/workflows").mkdir(parents=True, exist_ok=True)
        path.parent.resolve().mkdir(parents=True, exist_ok=True)
        path.write_text(companion.text, encoding="utf-8")
    return made.text, folder


def test_a_run_waits_and_goes_on_by_its_helpers(tmp_path: Path) -> None:
    text, folder = laid(tmp_path / "r", DOCUMENT)
    ends = []
    for number, inputs in enumerate([{}, {"answers": "yes", "resume": "1"}, {"answers": "5 yes", "resume": "2"}], 1):
        env = {"LOG": str(tmp_path / "log")}
        run = engine.run(folder, text, history=tmp_path / "h", inputs=inputs, run_id=number, env=env)
        ends.append(str(end_of(text, run)))
    assert ends == ["WAITING 3", "WAITING 5", "COMPLETE All is well"]
    done = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert done == ["1 build", "1 count 1", "1 count 2", "1 install hello ran built"]


def test_act_runs_it_too(tmp_path: Path) -> None:
    text, folder = laid(tmp_path / "r", OTHER)
    assert str(end_of(text, act.run(folder, text, inputs={"answers": "pass"}))) == "COMPLETE"
    assert str(end_of(text, act.run(folder, text, inputs={"answers": "fail"}))) == "STOP"


@pytest.mark.parametrize(("decision", "end"), [("approved", "COMPLETE It is there"), ("rejected", "STOP Not wanted")])
def test_each_job_takes_the_helpers(decision: str, end: str, tmp_path: Path) -> None:
    text, folder = laid(tmp_path / "r", APPROVED, prompts="environment")
    env = {"LOG": str(tmp_path / "log")}
    run = engine.run(folder, text, history=tmp_path / "h", environments={"approval": [decision]}, env=env)
    assert str(end_of(text, run)) == end
    assert all(job["permissions"]["contents"] == "read" for job in parsed(text)["jobs"].values())


def test_the_workflow_holds_the_runbook_only_and_no_tool_finds_anything(tmp_path: Path) -> None:
    made = emission(tmp_path, DOCUMENT, HELPERS)
    assert made.text
    inline = emission(tmp_path, DOCUMENT, {}).text
    assert inline
    assert len(made.text.splitlines()) < len(inline.splitlines()) / 3
    path = tmp_path / "x.yml"
    path.write_text(made.text, encoding="utf-8")
    assert findings([path]) == []
    for companion in made.companions:
        script = tmp_path / "x.sh"
        script.write_text(companion.text, encoding="utf-8")
        command = [program("shellcheck"), "--shell=bash", "--exclude=SC2034,SC2154", str(script)]
        assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == ""


def test_workflows_share_what_is_the_same(tmp_path: Path) -> None:
    first, second = (files(emission(tmp_path, document, HELPERS)) for document in (DOCUMENT, OTHER))
    common = first.keys() & second.keys()
    assert {path.rpartition("/")[2].rpartition("-")[0] for path in common} >= {
        "check",
        "prepare",
        "wait",
        "save",
        "go-on",
    }
    assert all(first[path] == second[path] for path in common)


def files(made: Emission) -> dict[str, str]:
    return {companion.path: companion.text for companion in made.companions}


def _edited(helper: Path) -> None:
    helper.write_text(f"echo mine\n{helper.read_text(encoding='utf-8')}", encoding="utf-8")


def _linked(helper: Path) -> None:
    helper.unlink()
    helper.symlink_to("/dev/null")


@pytest.mark.parametrize("changed", [_edited, _linked, Path.unlink])
def test_helpers_that_are_not_those_of_the_workflow_are_not_run(
    changed: Callable[[Path], None], tmp_path: Path
) -> None:
    text, folder = laid(tmp_path / "r", OTHER, summary=True)
    for name in ("prepare", "summary"):
        (helper,) = (folder / ".github/actions/rdc").glob(f"{name}-*.sh")
        changed(helper)
    run = engine.run(folder, text, history=tmp_path / "h", inputs={"answers": "pass"})
    outcomes = {step.name: step.outcome for step in run.jobs["runbook"].steps}
    assert outcomes.pop("Check out") == "success"
    assert {name for name, outcome in outcomes.items() if outcome != "skipped"} == {"Take the helpers", "Summary"}
    assert "mine" not in run.log
    assert "Compile it again" in run.log


def test_a_checkout_of_the_option_setup_stays(tmp_path: Path) -> None:
    pin = pins()["checkout"].reference
    other = {"uses": pin, "with": {"repository": "owner/other", "path": "other"}}
    found = [step.get("with") for step in steps(emission(tmp_path, OTHER, {**HELPERS, "setup": [other]}).text or "")]
    assert found.count({"persist-credentials": False}) == 1
    assert other["with"] in found


def test_a_native_runbook_has_no_helpers(tmp_path: Path) -> None:
    made = emission(tmp_path, "## 1. Do it\n\n```bash\ntrue\n```\n", HELPERS)
    assert (made.companions, "helpers" in str(made.text).replace(" -O helpers=action", "")) == ((), False)


def test_it_needs_the_repository(tmp_path: Path) -> None:
    with pytest.raises(OptionsError, match="so it needs `checkout`"):
        emission(tmp_path, OTHER, {**HELPERS, "checkout": False})
    with pytest.raises(OptionsError, match="a folder has letters"):
        emission(tmp_path, OTHER, {**HELPERS, "helpers-folder": "$(x)"})


def test_a_check_sees_helpers_that_were_edited(tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "a.runbook.md").write_text(OTHER, encoding="utf-8")
    (tmp_path / ".github/workflows").mkdir(parents=True)
    words = ("compile", "a.runbook.md", "--to", "github", "-O", "helpers=action", "-o", ".github/workflows/a.yml")
    assert call(*words, cwd=tmp_path).code == 0
    assert call(*words, "--check", cwd=tmp_path).code == 0
    (helper,) = (tmp_path / ".github/actions/rdc").glob("wait-*.sh")
    helper.write_text(helper.read_text(encoding="utf-8") + "true\n", encoding="utf-8")
    assert call(*words, "--check", cwd=tmp_path).code == 1
