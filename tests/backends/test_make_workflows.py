"""Makefiles of workflows: reports, their folder, the task, gates by HUMAN, the limit, entries that had answered."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from compiler.driver import compile_file
from compiler.ir.program import Program
from tests.backends.makefiles import environment
from tests.backends.programs import Made
from tests.conftest import ROOT

WORKFLOW = ROOT / "tests" / "workflows" / "implementation.program.json"
HEADING = rb"## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n\n"
AGENT = """\
cat > "seen.$RDC_STEP"
echo "$RDC_STEP" >> calls
case $RDC_STEP in
  plan) echo 'The plan. PLAN_READY' ;;
  implement) echo done ;;
  review_0) if [ -e once ]; then echo APPROVED; else : > once; echo REJECTED; fi ;;
  review_1) [ ! -e slow ] || { echo $$ > pid; sleep 60; }; echo 'fine: APPROVED' ;;
  *) echo written ;;
esac
"""


def program() -> Program:
    found = compile_file(str(WORKFLOW))
    assert found.program, found.diagnostics
    return found.program


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """The usual workflow, with an agent whose first review rejects."""
    found = Made(tmp_path, program())
    found.script("agent", AGENT)
    return found


def state(made: Made) -> Path:
    """The folder of its run."""
    return made.folder / ".rdc" / "implementation.make"


def reports(made: Made) -> dict[str, bytes]:
    """The reports of a run, each heading as `#`."""
    return {
        path.name: re.sub(HEADING, b"# ", path.read_bytes()) for path in sorted((state(made) / "reports").iterdir())
    }


def test_the_usual_workflow(made: Made) -> None:
    assert made.end("AGENT=./agent", "TASK=Add $(x) and 'y' @z") == "rdc: WAITING finalize/human"
    assert made.end("resume", "AGENT=./agent", "HUMAN=1") == "rdc: COMPLETE"
    assert reports(made) == {
        "implement.md": b"# done\n\n# done\n",
        "plan.md": b"# The plan. PLAN_READY\n",
        "review.md": b"# REJECTED\n\nfine: APPROVED\n\n# APPROVED\n\nfine: APPROVED\n",
        "review_0.md": b"# REJECTED\n\n# APPROVED\n",
        "review_1.md": b"# fine: APPROVED\n\n# fine: APPROVED\n",
        "summary.md": b"# written\n",
    }
    prompt = made.read("seen.implement").decode()
    assert f"Reports lie in: {state(made)}/reports\n" in prompt
    assert "Task:\nAdd $(x) and 'y' @z\n" in prompt
    assert "why this step runs again:\n\nREJECTED\n\nfine: APPROVED\n\nDo what" in prompt
    whole = reports(made)
    path = state(made) / "reports" / "summary.md"
    for before in (path.read_text(), ""):
        path.write_text(before)
        assert made.end("resume", "AGENT=./agent") == "rdc: COMPLETE"
        assert reports(made) == whole
    assert made.end("run", "AGENT=exit 1") == "rdc: STOP plan: there is no verdict"
    assert len(list((state(made) / "history").glob("*/reports/plan.md"))) == 1


def test_what_make_is_given_for_it(made: Made) -> None:
    (made.folder / "task").write_text("two\nlines\n\n")
    (made.folder / "types").write_text("planner=cat > seen.plan; echo PLAN_READY\n# others\ncoder=exit 1\n")
    assert made.end("AGENTS=types", "TASK_FILE=task", "AGENT=exit 2") == "rdc: STOP implement: there is no answer"
    assert b"Task:\ntwo\nlines\n\n\n\nSay" in made.read("seen.plan")
    assert made.end("AGENT=exit 2", "AGENTS=types", TASK="of the environment").startswith("rdc: STOP implement")
    assert b"Task:\nPlan it, do it, have it reviewed" in made.read("seen.plan")
    assert "the task is given twice" in made.end("TASK=a", "task=b")
    assert "JOBS '0'" in made.end("AGENT=./agent", "JOBS=0")
    assert "MAX_STEPS takes a number" in made.end("AGENT=./agent", "MAX_STEPS=x")
    told = made.make("help").stdout.decode()
    assert all(f"{name}=" in told for name in ("TASK", "TASK_FILE", "AGENTS", "JOBS", "MAX_STEPS"))


def test_the_limit_is_what_make_says_for_the_whole_run(made: Made) -> None:
    assert made.end("AGENT=./agent", "MAX_STEPS=2") == "rdc: STOP review: the limit of 2 steps was reached"
    assert made.end("resume", "AGENT=./agent") == "rdc: STOP review: the limit of 2 steps was reached"
    assert made.end("resume", "AGENT=./agent", "MAX_STEPS=4") == "rdc: STOP review: the limit of 4 steps was reached"
    assert made.end("resume", "AGENT=./agent", "MAX_STEPS=0", "HUMAN=1") == "rdc: COMPLETE"
    assert made.read("calls").split().count(b"implement") == 2


def test_entries_that_had_answered_are_not_called_again(made: Made) -> None:
    (made.folder / "slow").touch()
    given = ["make", "-s", "AGENT=./agent", "HUMAN=1"]
    process = subprocess.Popen(given, cwd=made.folder, env=environment({}), start_new_session=True)
    deadline = time.monotonic() + 30
    while not (state(made) / "entries" / "0").exists() or not made.read("pid").strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (made.folder / "slow").unlink()
    assert made.end("resume", "AGENT=./agent", "RERUN=1", "HUMAN=1") == "rdc: COMPLETE"
    calls = made.read("calls").split()
    assert [calls.count(b"review_0"), calls.count(b"review_1")] == [2, 3]
    assert reports(made)["review_0.md"] == b"# REJECTED\n\n# APPROVED\n"


def test_as_many_entries_are_at_work_as_may_be(made: Made) -> None:
    counting = "mkdir -p at; : > at/$RDC_STEP; sleep 0.3; ls at | wc -l >> most; sleep 0.3; rm at/$RDC_STEP; "
    made.script("agent", f"{counting} case $RDC_STEP in plan) echo PLAN_READY ;; *) echo APPROVED ;; esac")
    for words, most in (((), 2), (("JOBS=1",), 1)):
        (made.folder / "most").unlink(missing_ok=True)
        assert made.end("AGENT=./agent", *words).startswith("rdc: WAITING")
        assert max(map(int, made.read("most").split())) == most
        made.make("clean")


@pytest.mark.share(2)
@pytest.mark.parametrize("plan", [None, b"[]", b'{"of": 3, "blocks": []}', b"{"])
def test_a_report_that_cannot_be_written_is_written_later(made: Made, plan: bytes | None) -> None:
    """Also where what was to be added is damaged."""
    made.script("agent", f'[ "$RDC_STEP" != plan ] || ln -s /etc/passwd {state(made)}/reports/plan.md; echo PLAN_READY')
    assert "the report plan cannot be written" in made.end("AGENT=./agent")
    (state(made) / "reports" / "plan.md").unlink()
    if plan is not None:
        (state(made) / "calls" / "reports").write_bytes(plan)
    assert made.end("resume", "AGENT=exit 1") == "rdc: STOP implement: there is no answer"
    assert reports(made) == {"plan.md": b"# PLAN_READY\n"}


def test_one_step_alone_leaves_nothing(made: Made) -> None:
    assert made.make("step-plan", "AGENT=./agent").returncode == 0
    assert b"Reports lie in: " in made.read("seen.plan")
    assert not (made.folder / ".rdc").exists()
