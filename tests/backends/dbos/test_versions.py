"""Runs of another version of the document (R4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.workers.fleet import Fleet
from tests.backends.dbos.documents import ASKS

NEW = ASKS.replace("echo after >> steps", "echo later >> steps")


def test_a_run_of_another_version_goes_on_only_if_it_is_adopted(sqlite_fleet: Fleet) -> None:
    sqlite_fleet.compile(ASKS)
    old = sqlite_fleet.worker()
    sqlite_fleet.start("r1")
    sqlite_fleet.until("r1", "waiting")
    assert old.stop() == 0

    sqlite_fleet.compile(NEW)
    refused = sqlite_fleet.call("answer", "r1", "2", "yes")
    assert refused.code == 2
    assert "this run belongs to a different version of this program" in refused.err
    assert "steps changed: 3\n" in refused.err
    shown = sqlite_fleet.call("status", "r1")
    assert (shown.code, "--adopt" in shown.out) == (75, True), shown.text
    assert sqlite_fleet.state("r1") == "waiting"

    assert sqlite_fleet.call("answer", "r1", "2", "yes", "--adopt").code == 0
    shown = sqlite_fleet.call("status", "r1")
    assert (shown.code, "No worker of the run's version is running" in shown.out) == (3, True)
    sqlite_fleet.worker()
    sqlite_fleet.until("r1", "complete")
    assert sqlite_fleet.lines("steps") == ["before", "later"]


@pytest.mark.soak
def test_a_worker_says_which_runs_it_cannot_take(fleet: Fleet) -> None:
    fleet.compile(ASKS)
    fleet.start("r1")
    fleet.start("r2")
    shown = fleet.call("status", "r1")
    assert (shown.code, "No worker of the run's version is running" in shown.out) == (3, True)
    version = fleet.call("status", "r1", "--json").out
    assert '"served": false' in version

    fleet.compile(NEW)
    worker = fleet.worker()
    worker.says("2 runs need version", 45)
    assert "resume RUN --adopt" in worker.text
    assert worker.text.count("2 runs need version") == 1
    refused = fleet.call("resume", "r1")
    assert (refused.code, "different version" in refused.err) == (2, True)
    assert fleet.call("resume", "r1", "--adopt").code == 0
    fleet.until("r1", "waiting")
    assert fleet.call("answer", "r1", "2", "yes").code == 0
    fleet.until("r1", "complete")
    assert fleet.lines("steps") == ["before", "later"]
    assert fleet.state("r2") == "queued"


@pytest.mark.soak
def test_a_step_that_is_gone_cannot_be_adopted(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    sqlite_fleet.compile(ASKS)
    sqlite_fleet.worker()
    sqlite_fleet.start("r1")
    sqlite_fleet.until("r1", "waiting")
    sqlite_fleet.compile("# Ask\n\n## 1. Other\n\n```bash\ntrue\n```\n")
    refused = sqlite_fleet.call("answer", "r1", "2", "yes", "--adopt")
    assert (refused.code, "which this program does not have" in refused.err) == (2, True), refused.err
    assert "Traceback" not in refused.err
    said = sqlite_fleet.call("cancel", "r1", "--note", "gone")
    assert said.code == 0, said.err
    assert sqlite_fleet.state("r1") == "canceled"
