"""A program that is called step by step: `open`, then `step PLACE…`, with the exit codes for who calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.generated import Generated

pytestmark = pytest.mark.process

RUNBOOK = """\
# Deploy

## 1. Build

```sh
echo build >> log
[ ! -e hold ] || { rm hold; kill -9 $PPID; }
```

- FAIL: STOP "No build"

## 2. Go on?

- YES: CONTINUE
- NO: STOP "Not today"

## 3. Try

```sh
echo "try $RDC_ATTEMPT" >> log; [ "$RDC_ATTEMPT" -gt 1 ]
```

- FAIL: RETRY 1
- PASS: COMPLETE "Out"
"""
LOOP = """\
# Loop

## 1. Count

```sh
echo count >> log; [ "$(wc -l < log)" -lt 5 ]
```

- PASS: GOTO 2
- FAIL: COMPLETE "Counted"

## 2. Back

```sh
echo back >> log
```

- PASS: GOTO 1
"""
DOCUMENTS = {
    "playbook": "# T\n\n## STEP 1: Write\n\nWrite it.\n\n## STEP 2: Check\n\nCheck it.\n",
    "workflow": "name: t\nsteps:\n  - {name: '1', agent: a, prompt: Write it., next: '2'}\n"
    "  - {name: '2', agent: a, prompt: Check it., end: true}\n",
}


def test_each_exit_code_says_where_the_run_is(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    assert place.call("step", "1").code == 2, "there is no run"
    assert place.call("open").code == 0
    assert place.call("open").code == 0, "it takes up the run that is there"
    assert place.call("step", "9").code == 2, "there is no such step"
    early = place.call("step", "2")
    assert (early.code, "step 2 cannot run yet; the run is at step 1" in early.err) == (2, True)
    assert place.call("step", "1").code == 0
    again = place.call("step", "1")
    assert (again.code, again.err) == (0, "rdc: step 1 is completed\n")
    waits = place.call("step", "2")
    assert (waits.code, "WAITING 2" in waits.err) == (75, True)
    later = place.call("step", "3")
    assert (later.code, later.err) == (75, "rdc: WAITING 2 Go on?\n")
    assert place.call("answer", "2", "yes").code == 0
    assert place.call("step", "2").code == 0, "it was answered"
    done = place.call("step", "3")
    assert (done.code, "rdc: COMPLETE Out" in done.err) == (0, True)
    assert place.call("step", "3").code == 0
    assert (tmp_path / "log").read_text().splitlines() == ["build", "try 1", "try 2"]


def test_after_a_stop_every_step_says_so(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    place.call("open")
    place.call("step", "1")
    place.call("answer", "2", "no")
    place.call("step", "2")
    for step in ("1", "2", "3"):
        done = place.call("step", step)
        assert (done.code, done.err.splitlines()[-1]) == (1, "rdc: STOP Not today")
    assert place.call("open").code == 0, "a new run begins"
    assert "READY at 1" in place.call("status").out


def test_a_loop_is_one_call_with_all_its_places(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", LOOP)
    place.call("open")
    done = place.call("step", "1", "2")
    assert (done.code, "COMPLETE Counted" in done.err) == (0, True)
    assert (tmp_path / "log").read_text().split() == ["count", "back", "count", "back", "count"]


def test_a_step_that_was_interrupted_waits_for_a_decision(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    place.call("open")
    (tmp_path / "hold").touch()
    assert place.call("step", "1").code == -9
    waits = place.call("step", "1")
    assert (waits.code, "1 Build was interrupted" in waits.err) == (75, True)
    assert place.call("step", "1", "--rerun-interrupted").code == 0
    assert (tmp_path / "log").read_text().split() == ["build", "build"]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_documents_of_other_kinds_are_called_alike(kind: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, kind, DOCUMENTS[kind])
    assert place.call("open").code == 0
    agent = ("--agent", "cat >> log; echo fine")
    assert place.call("step", "2", *agent).code == 2
    assert place.call("step", "1", *agent).code == 0
    assert "Check" not in (tmp_path / "log").read_text()
    done = place.call("step", "2", *agent)
    assert (done.code, "COMPLETE" in done.err) == (0, True)
    assert "Check it." in (tmp_path / "log").read_text()
