"""Commands of operators, also at the moment when a worker writes (triggers are the worker)."""

import json
import socket
import urllib.request
from pathlib import Path

import pytest

from benchmarks.workers.fleet import until
from tests.backends.dbos.documents import ASKS, RETRIES, WAITS
from tests.backends.dbos.fleet import WarmFleet
from tests.backends.dbos.forging import INSERTED, MINE, ended, forge, legs_of, output, status_of, taken
from tests.support.runbooks import command, question

pytestmark = pytest.mark.tool


def test_names_answers_and_places_of_runs(sqlite_fleet: WarmFleet, tmp_path: Path) -> None:
    sqlite_fleet.compile(ASKS)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    sqlite_fleet.worker("--workspace", "run", "--metrics", str(port), "--logs", "stored")
    answers = tmp_path / "answers.txt"
    answers.write_text("2 yes\n")
    started = sqlite_fleet.call("start", "--id", "r1", "--answers", str(answers), "--wait")
    assert (started.code, "r1 COMPLETE" in started.err) == (0, True), started.text
    for path in (tmp_path / "stored" / "r1" / "workspace" / "steps", tmp_path / "steps"):
        assert path.exists() == ("workspace" in str(path)), path

    report = sqlite_fleet.expect(0, ": COMPLETE\n", "report", "r1")
    assert sqlite_fleet.expect(0, "**line 1 of ", "report", "r1").out == report.out
    assert "took" in sqlite_fleet.call("report", "r1", "--json").out
    assert sqlite_fleet.call("report", "r9").code == 2

    sqlite_fleet.expect(2, "choose another --id", "start", "--id", "r1")
    sqlite_fleet.expect(2, "use up to 100 letters", "start", "--id", "../r2")
    answers.write_text("2 maybe\n")
    wrong = sqlite_fleet.call("start", "--id", "r2", "--answers", str(answers), "--wait")
    assert (wrong.code in (2, 75), "Traceback" in wrong.text) == (True, False), wrong.text

    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as page:
        text = page.read().decode()
    counted = ('rdc_steps_total{outcome="pass"}', 'rdc_legs_total{state="complete"} 1.0')
    for name in (*counted, "rdc_legs_running", "rdc_legs_queued", "rdc_takeovers_total", "rdc_step_seconds_bucket"):
        assert name in text


@pytest.mark.soak
def test_old_runs_are_deleted_with_their_files(fleet: WarmFleet, tmp_path: Path) -> None:
    fleet.compile(ASKS)
    fleet.worker()
    for run in ("waits", "old"):
        fleet.start(run)
        fleet.until(run, "waiting")
    fleet.expect(0, "", "answer", "old", "2", "no")
    fleet.until("old", "stop")
    for age, count in (("1h", "0 runs"), ("0h", "1 run")):
        assert fleet.call("prune", "--older-than", age).out == f"Deleted {count}.\n"
    listed = [line.split()[0] for line in fleet.call("list", "--all").out.splitlines()[1:]]
    assert listed == [path.name for path in (tmp_path / ".rdc" / "job").iterdir()] == ["waits"]
    assert fleet.call("status", "old").code == 2


@pytest.mark.soak
def test_a_run_stays_at_its_host(fleet: WarmFleet) -> None:
    fleet.compile(ASKS)
    fleet.worker("--workspace", "host")
    fleet.start("r1")
    fleet.until("r1", "waiting")
    assert fleet.call("answer", "r1", "2", "yes").code == 0
    fleet.until("r1", "complete")
    rows = fleet.rows("SELECT queue_name FROM workflow_status WHERE parent_workflow_id IS NOT NULL")
    queues = {row[0] for row in rows}
    assert all(queue is None or f"@{socket.gethostname()}" in queue for queue in queues), queues
    assert queues


@pytest.mark.soak
def test_a_worker_takes_as_many_runs_as_it_may(fleet: WarmFleet) -> None:
    """Also in its first look at a queue that others have filled."""
    fleet.compile(WAITS)
    for number in range(24):
        fleet.start(f"r{number}")
    for _ in range(4):
        fleet.worker("--jobs", "2", ready=False)
    query = "SELECT executor_id, COUNT(*) FROM workflow_status WHERE status = 'PENDING' GROUP BY executor_id"
    until(lambda: len(fleet.rows(query)) == 4)
    until(lambda: len(fleet.lines("pids")) == 8)
    assert sorted(count for _, count in fleet.rows(query)) == [2, 2, 2, 2]


def test_wrong_options_of_workers(words: WarmFleet) -> None:
    for option, value, expected in (
        ("--jobs", "0", "--jobs '0': expected a number"),
        ("--poll", "x", "--poll 'x': expected seconds"),
        ("--interrupted", "maybe", "--interrupted 'maybe': expected ask or rerun"),
        ("--workspace", "here", "--workspace 'here': expected shared, run or host"),
        ("--metrics", "99999", "expected PORT or ADDRESS:PORT"),
        ("--bogus", "1", "--bogus"),
    ):
        assert "Traceback" not in words.expect(2, expected, "worker", option, value).text


NEW = ASKS.replace("echo after >> steps", "echo later >> steps")


def test_a_run_of_another_version_goes_on_only_if_it_is_adopted(sqlite_fleet: WarmFleet) -> None:
    assert sqlite_fleet.begun(ASKS, "waiting").stop() == 0
    sqlite_fleet.compile(NEW)
    refused = sqlite_fleet.expect(2, "steps changed: 3\n", "answer", "r1", "2", "yes")
    assert "this run belongs to a different version of this program" in refused.err
    sqlite_fleet.expect(75, "--adopt", "status", "r1")
    assert sqlite_fleet.state("r1") == "waiting"

    assert sqlite_fleet.call("answer", "r1", "2", "yes", "--adopt").code == 0
    sqlite_fleet.expect(3, "No worker of the run's version is running", "status", "r1")
    sqlite_fleet.worker()
    sqlite_fleet.until("r1", "complete")
    assert sqlite_fleet.lines("steps") == ["before", "later"]


@pytest.mark.soak
def test_a_worker_says_which_runs_it_cannot_take(fleet: WarmFleet) -> None:
    fleet.compile(ASKS)
    fleet.start("r1")
    fleet.start("r2")
    fleet.expect(3, '"served": false', "status", "r1", "--json")

    fleet.compile(NEW)
    worker = fleet.worker()
    worker.says("2 runs need version", 45)
    assert "resume RUN --adopt" in worker.text
    assert worker.text.count("2 runs need version") == 1
    fleet.expect(2, "different version", "resume", "r1")
    assert fleet.call("resume", "r1", "--adopt").code == 0
    fleet.until("r1", "waiting")
    assert fleet.state("r2") == "queued"


def test_a_step_that_is_gone_cannot_be_adopted(queued: WarmFleet) -> None:
    queued.compile("# Retry\n\n## 1. Other\n\n### 1.1 Do\n\n```bash\ntrue\n```\n")
    assert "Traceback" not in queued.expect(2, "which this program does not have", "resume", "r1", "--adopt").err
    assert (queued.call("cancel", "r1", "--note", "gone").code, queued.state("r1")) == (0, "canceled")


DONE = {
    "kind": "done", "node": "1", "title": "Before", "attempt": 1, "instances": {}, "outcome": "pass", "how": "",
    "says": "", "seconds": 0.1, "next": "2", "changed": {"1 retries": 1}, "condition": "running",
}  # fmt: skip
RUNNING = {"kind": "resume", "condition": "running", "time": "2026-11-27T13:25:22.005651Z"}

COLUMNS = "name, application_name, application_version, queue_name, serialization, created_at, updated_at"
ADDS_LEG = f"""
    INSERT OR IGNORE INTO workflow_input (workflow_uuid, inputs, retention_timestamp)
    SELECT 'r1.2', replace(inputs, '"r1",1,', '"r1",2,'), 0 FROM workflow_input WHERE workflow_uuid = 'r1.1';
    UPDATE workflow_input SET inputs = '{{"positionalArgs":["r1",2,{{"records":[],"step":"1"}}],"namedArgs":{{}}}}'
    WHERE workflow_uuid = 'r1.2';
    INSERT OR IGNORE INTO workflow_status (workflow_uuid, parent_workflow_id, status, {COLUMNS})
    SELECT 'r1.2', 'r1.1', 'ENQUEUED', {COLUMNS} FROM workflow_status WHERE workflow_uuid = 'r1.1';
"""
"""A worker hands the run over to the next leg."""


def when(fleet: WarmFleet, moment: str, does: str) -> None:
    forge(fleet, f"CREATE TRIGGER worker {moment} BEGIN {does} END")


def test_a_wrong_signature_cancels_nothing(queued: WarmFleet) -> None:
    for words in (["--by", "a\tb"], ["--note", " "]):
        queued.expect(2, f"{words[0]} takes one line", "cancel", "r1", *words)
        assert queued.state("r1") == "queued"


@pytest.mark.parametrize(
    "moment",
    [
        "AFTER UPDATE ON workflow_status WHEN NEW.status = 'CANCELLED' AND NEW.workflow_uuid = 'r1.1'",
        "BEFORE INSERT ON workflow_status WHEN NEW.status = 'SUCCESS' AND NEW.workflow_uuid = 'r1.2'",
    ],
    ids=["before the leg is canceled", "after the leg is canceled"],
)
def test_a_run_that_is_canceled_while_a_worker_adds_a_leg_has_no_active_leg(queued: WarmFleet, moment: str) -> None:
    taken(queued, "r1.1", MINE)
    when(queued, moment, ADDS_LEG)
    queued.expect(0, "r1 is canceled", "cancel", "r1", "--by", "ann")
    with legs_of(queued) as legs:
        assert [status for status, _ in status_of(legs, "r1")] == ["CANCELLED", "CANCELLED", "SUCCESS"]
    assert (queued.state("r1"), "by ann" in queued.call("status", "r1").out) == ("canceled", True)


def test_a_run_whose_leg_was_canceled_without_a_successor_can_be_resumed(queued: WarmFleet) -> None:
    with legs_of(queued) as legs:
        legs.cancel(legs.of_run("r1")[0])
        shown = queued.expect(75, "HALTED at 1 Before", "status", "r1")
        assert "worker.py resume r1\n" in shown.out
        assert json.loads(queued.call("status", "r1", "--json").out)["next"] == [shown.out.split("  ")[-1].strip()]
        assert queued.call("list", "--waiting").out.splitlines()[1].split()[:2] == ["r1", "HALTED"]
        queued.expect(0, "r1 continues", "resume", "r1")
        assert [status for status, _ in status_of(legs, "r1")] == ["CANCELLED", "ENQUEUED"]


def test_the_status_of_an_interrupted_run_has_the_reason(queued: WarmFleet) -> None:
    ended(queued, "r1.1", {"state": "interrupted", "step": "1", "message": "the helper process was killed"}, RUNNING)
    shown = queued.expect(75, "INTERRUPTED at 1 Before", "status", "r1")
    assert "The worker could not continue: the helper process was killed" in shown.out
    assert "answer r1 1 rerun" in shown.out


def test_an_adopted_run_keeps_the_records_that_its_worker_made_before_it_was_canceled(queued: WarmFleet) -> None:
    taken(queued, "r1.1", MINE)
    record = (
        f"{INSERTED} ('r1.1', 1, '1', '{output({'record': RUNNING})}'), ('r1.1', 2, '2', '{output({'record': DONE})}');"
    )
    when(queued, "BEFORE UPDATE ON workflow_status WHEN NEW.status = 'CANCELLED'", record)
    queued.compile(RETRIES + "\n## 3. Later\n\n```bash\necho later >> steps\n```\n")
    queued.expect(0, "r1 continues", "resume", "r1", "--adopt")
    with legs_of(queued) as legs:
        assert [status for status, _ in status_of(legs, "r1")] == ["CANCELLED", "DELAYED"]
        records, _ = legs.journal("r1", 2)
    assert [record["kind"] for record in records] == ["begin", "resume", "done", "adopt"]
    assert (records[-1]["condition"], records[-1]["registers"]) == ("running", {"1 retries": 1})
    facts = json.loads(queued.call("status", "r1", "--json").out)
    assert ([one["step"] for one in facts["finished"]], facts["step"], facts["state"]) == (["1"], "2", "paused")


def test_documents_in_one_database_do_not_see_the_runs_of_each_other(queued: WarmFleet, tmp_path: Path) -> None:
    script, queued.script = queued.script, tmp_path / "other.py"
    queued.compile(RETRIES.replace("# Retry", "# Other"), "other.runbook.md")
    assert queued.call("list", "--all").out == "There are no runs.\n"
    forge(queued, "UPDATE workflow_status SET updated_at = 0")
    for words in (["status"], ["cancel"], ["answer", "1", "pass"]):
        queued.expect(2, "there is no run r1 in", words[0], "r1", *words[1:])
    queued.expect(2, "run r1 already exists in", "start", "--id", "r1")
    assert queued.call("prune", "--older-than", "1h").out == "Deleted 0 runs.\n"
    assert queued.call("start", "--id", "r2").code == 0
    queued.script = script
    assert [line.split()[0] for line in queued.call("list").out.splitlines()] == ["RUN", "r1"]
    with legs_of(queued) as legs:
        assert (status_of(legs, "r1"), legs.others("r1")) == ([("ENQUEUED", "")], 0)
        assert [count for _, count, _ in legs.queued()] == [1]


CHECKLIST = "# A\n\n## 1. Ready?\n\n- [ ] one\n- [ ] two\n\n## 2. Go\n\n```bash\necho ran >> steps\n```\n"


@pytest.mark.soak
def test_items_of_a_checklist_are_in_the_database(sqlite_fleet: WarmFleet) -> None:
    worker = sqlite_fleet.begun(CHECKLIST, "waiting")
    sqlite_fleet.expect(2, "1 has open items: 2", "answer", "r1", "1", "pass")
    sqlite_fleet.expect(0, "answer r1 1 done --item 2", "answer", "r1", "1", "done", "--item", "1", "--by", "ann")
    worker.kill()
    sqlite_fleet.worker()
    assert "[x] 1. one, by ann" in sqlite_fleet.call("status", "r1").out
    assert sqlite_fleet.call("answer", "r1", "1", "done", "--item", "1").code == 2, "one answer wins"
    assert sqlite_fleet.call("answer", "r1", "1", "pass", "--all", "--note", "checked").code == 0
    sqlite_fleet.until("r1", "complete")
    assert sqlite_fleet.lines("steps") == ["ran"]


FAILS = (
    "---\nrdc: {notify: cat >> noticed}\n---\n\n# Fails\n\n"
    + command("1. Build", "echo build >> steps; seq 1 25; printf '\\033[31mbuilt\\033[0m\\n'")
    + question("2. Is it good?", "", "YES: CONTINUE", "NO: STOP")
    + command("3. Install", 'echo "$RDC_ATTEMPT" >> steps; test -e fixed', "PASS: COMPLETE", "FAIL: RETRY 1 GOTO 4")
    + command("4. Restore", "echo restore >> steps", 'PASS: STOP "restored"')
)


def test_a_run_shows_the_output_to_judge_and_is_retried_by_one_person(sqlite_fleet: WarmFleet, tmp_path: Path) -> None:
    sqlite_fleet.begun(FAILS, "waiting")
    shown = sqlite_fleet.expect(75, "        | built\n", "status", "r1").text
    assert ("        | 7\n" in shown, "        | 6\n" in shown) == (True, False)
    assert (tmp_path / "noticed").read_text().count('"run_waiting"') == 1

    assert sqlite_fleet.call("answer", "r1", "2", "yes").code == 0
    sqlite_fleet.until("r1", "stop")
    sqlite_fleet.expect(1, "retry r1", "status", "r1")
    (tmp_path / "fixed").touch()
    sqlite_fleet.expect(0, "r1 3 Install: RETRY", "retry", "r1", "--by", "ann", "--note", "it is there")
    assert sqlite_fleet.call("retry", "r1").code == 2
    sqlite_fleet.until("r1", "complete")
    assert sqlite_fleet.lines("steps") == ["build", "1", "2", "restore", "1"]
    assert "after FAIL, exit code 1, by ann: it is there" in sqlite_fleet.call("status", "r1").out
