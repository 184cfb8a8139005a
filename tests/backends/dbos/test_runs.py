"""A run from its start to its end, as an operator sees it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.workers.fleet import Fleet, until
from tests.backends.dbos.conftest import EACH

DEPLOY = """\
# Deploy

## 1. Build

```bash
echo $$ >> built
```

## 2. Check

Is it fine?

- YES: CONTINUE
- NO: STOP "not fine"

## 3. Ship

```bash
echo to the east; echo "no such host: \\e[31meast" >&2
exit 4
```

- PASS: COMPLETE
- FAIL: CONTINUE

## 4. Wait

```bash
touch waits; while test ! -e go; do sleep 0.02; done
```
"""


@EACH
def test_a_run_waits_for_a_person_and_goes_on(fleet: Fleet, tmp_path: Path) -> None:
    fleet.compile(DEPLOY)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    fleet.worker()
    started = fleet.call("start", "--id", "r1", "--wait")
    assert (started.code, started.out) == (75, "")
    assert "r1 WAITING 2 Check" in started.err
    shown = fleet.call("status", "r1")
    assert shown.code == 75
    assert re.sub(r"[0-9.]+ s\n", "… s\n", shown.out).splitlines()[:6] == [
        "Deploy (job.runbook.md)", "run r1", "WAITING at 2 Check", "", "  PASS  1 Build, … s", "",
    ]  # fmt: skip
    assert "worker.py answer r1 2 yes" in shown.out

    assert fleet.call("list", "--waiting").out.splitlines()[1].split()[:2] == ["r1", "WAITING"]
    (row,) = json.loads(fleet.call("list", "--waiting", "--json").out)
    assert (row["run"], row["state"], row["step"], row["worker"]) == ("r1", "waiting", "2", None)

    said = fleet.call("answer", "r1", "2", "yes", "--by", "ann", "--note", "looks good")
    assert (said.code, "r1 2 Check: YES" in said.err) == (0, True)
    until((tmp_path / "waits").exists)
    assert fleet.call("status", "r1").code == 3
    assert json.loads(fleet.call("status", "r1", "--json").out)["worker"].split(":")[1].isdecimal()
    assert fleet.call("list", "--waiting").out == "There are no runs.\n"
    (row,) = json.loads(fleet.call("list", "--json").out)
    assert row["state"] == "running"

    (tmp_path / "go").touch()
    fleet.until("r1", "complete")
    shown = fleet.call("status", "r1", folder=elsewhere)
    assert (shown.code, "COMPLETE" in shown.out) == (0, True)
    assert "by ann: looks good" in shown.out
    done = json.loads(fleet.call("status", "r1", "--json", folder=elsewhere).out)["finished"]
    assert [one["outcome"] for one in done] == ["pass", "pass", "fail", "pass"]
    assert done[1]["time"].endswith("Z")
    assert done[2]["output"] == "to the east\nno such host: \\e[31meast\n"
    assert len(fleet.lines("built")) == 1


@pytest.mark.soak
def test_the_end_of_a_failed_commands_output_is_shown_on_another_machine(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    sqlite_fleet.compile("# A\n\n## 1. B\n\n```bash\nseq 5000; printf 'no such \\033[31mhost\\n' >&2; exit 4\n```\n")
    worker = sqlite_fleet.worker()
    sqlite_fleet.start("r1")
    sqlite_fleet.until("r1", "stop")
    (tmp_path / "elsewhere").mkdir()
    shown = sqlite_fleet.call("status", "r1", folder=tmp_path / "elsewhere")
    assert shown.code == 1
    assert "| no such " in shown.out, shown.out
    assert "\033" not in shown.out
    (done,) = json.loads(sqlite_fleet.call("status", "r1", "--json").out)["finished"]
    assert len(done["output"].encode()) == 4096
    assert worker.stop() == 0


@pytest.mark.parametrize("count", [5, pytest.param(20, marks=pytest.mark.soak)])
def test_of_many_answers_in_one_moment_one_is_taken(fleet: Fleet, count: int) -> None:
    fleet.compile(DEPLOY.replace("test ! -e go", "false"))
    fleet.worker()
    fleet.start("r1")
    fleet.until("r1", "waiting")
    said = fleet.at_once(count, "answer", "r1", "2", "yes", "--by", "person-NUMBER")
    taken = [number for number, each in enumerate(said) if each.code == 0]
    assert len(taken) == 1, said
    fleet.until("r1", "complete")
    assert f"by person-{taken[0]}" in fleet.call("status", "r1").out
    refused = [each.err for each in said if each.code]
    reasons = ("answered or moved r1 first", "wait, or cancel it", "r1 has ended", "no step is waiting")
    assert all(any(reason in text for reason in reasons) for text in refused), refused
    late = fleet.call("answer", "r1", "2", "yes")
    assert (late.code, "error: no step is waiting" in late.err) == (2, True), late.err
    assert (fleet.folder / "waits").exists()
