"""After STOP: what `retry` runs again, what it keeps and records, what it refuses, and kills around it."""

import json
import random
import re
import time
from pathlib import Path

import pytest

from runtime_shim.editions import EDITIONS
from runtime_shim.engine.journal import read_journal
from runtime_shim.engine.state import replay
from tests.runtime_shim.operator import facts_of, unchanged
from tests.support.process import LOOP, Place, Table, ask, kill, program, shell
from tests.support.runtime_programs import Compiled, node, sh
from tests.support.runtime_programs import program as compiled

pytestmark = pytest.mark.process

ROLLBACK = program(
    {
        "1": shell("echo one >> log", "2"),
        "2": {**shell("echo two >> log; test -e fixed", "3", "4"), "title": "Install"},
        "3": ask("COMPLETE"),
        "4": shell("echo back >> log", "STOP"),
    }
)


def stopped(tmp_path: Path, table: Table = ROLLBACK) -> Place:
    """A run that ended with STOP."""
    place = Place(tmp_path, table)
    assert place.run("run").code == 1
    return place


def test_retry_runs_the_step_that_failed_last_and_keeps_all_before_it(tmp_path: Path) -> None:
    place = Place(tmp_path, ROLLBACK)
    ended = place.run("run")
    hint = f"rdc: to run the failed step again: {place.script} retry"
    assert (hint in ended.err.splitlines(), ended.last) == (True, "rdc: STOP gave up")
    assert json.loads(place.run("status", "--json").out)["next"] == [
        f"{place.script} {each}" for each in ("retry", "run")
    ]
    (tmp_path / "fixed").touch()
    again = place.run("retry", "--by", "ann", "--note", "made the folder", "--events", "events")
    assert again.err.splitlines()[0] == "rdc: running 2 Install again after FAIL, exit code 1"
    assert again.last == "rdc: WAITING 3 Review"
    assert place.text("log") == "one\ntwo\nback\ntwo\n"
    row = r"RETRY  2 Install, [0-9.]+ s at .* UTC\n        after FAIL, exit code 1, by ann: made the folder"
    assert re.search(row, place.run("status").out)
    signed = [(one["outcome"], one["note"]) for one in place.records() if "by" in one]
    assert signed == [("retry", "made the folder")], "one decision, and no step after it"
    first = json.loads(place.text("events").splitlines()[0])
    assert (first["event"], first["step"], first["by"], first["note"]) == ("retry", "2", "ann", "made the folder")
    assert place.run("answer", "3", "pass").code == 0


def test_an_answer_that_stops_a_run_can_be_given_again(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}))
    place.run("run")
    assert f"rdc: to run the failed step again: {place.script} retry" in place.run("answer", "1", "fail").err
    assert place.run("retry").last == "rdc: WAITING 1 Review"
    place.run("answer", "1", "pass")
    done = place.run("retry")
    assert (done.code, done.last) == (2, f"rdc: error: the run is complete; to start a new run: {place.script} run")


def test_a_retried_step_has_all_its_attempts_again_and_an_expired_question_is_asked_again(tmp_path: Path) -> None:
    place = stopped(tmp_path, LOOP)
    assert place.run("retry").code == 1
    assert place.text("log") == "1\n2\n3\n1\n2\n3\n"
    place.write(program({"1": ask("COMPLETE")}))
    place.run("run", "--expire", "1s")
    place.later(5)
    assert place.run("retry").last == "rdc: WAITING 1 Review"
    assert place.walk() == ["1 fail", "1 retry"]


def test_retry_is_refused_where_a_run_can_be_resumed(tmp_path: Path) -> None:
    place = Place(tmp_path, ROLLBACK)
    assert place.run("retry").last.endswith("go to the folder where it started, or name its --state-dir")
    (tmp_path / "fixed").touch()
    place.run("run")
    with unchanged(place):
        refused = place.run("retry", "--adopt")
    assert (refused.code, refused.last) == (2, f"rdc: error: the run is waiting; to continue: {place.script} resume")
    assert place.run("resume").code == 75


def test_a_step_starts_again_with_the_counters_that_it_had(tmp_path: Path) -> None:
    """A loop's instance, also one inside another step, is that of the failure; no step of it is left out."""
    look = shell('echo "look $N" >> log; [ "$N" != 3 ] || test -e fixed', "a.2", "b", variables={"N": "n"})
    on = [
        {"on": "pass", "if": [["n", "<", 3]], "do": [["n", "+", 1]], "go": "a.1"},
        {"on": "pass", "go": "COMPLETE"},
        {"on": "fail", "go": "STOP"},
    ]
    back = {**shell("echo back >> log", "STOP"), "edges": [{"do": [["n", "=", 7]], "go": "STOP"}]}
    steps = {"a.1": look, "a.2": shell("echo next >> log", "", edges=on), "b": back}
    place = stopped(tmp_path, program(steps, {"n": 1}))
    (tmp_path / "fixed").touch()
    assert place.run("retry").code == 0
    assert place.text("log").splitlines() == ["look 1", "next", "look 2", "next", "look 3", "back", "look 3", "next"]


def test_failures_that_a_run_ignored_or_repaired_are_not_run_again(tmp_path: Path) -> None:
    repeated = {**shell('[ "$RDC_ATTEMPT" -gt 1 ]', "3"), "attempt": "2 retries"}
    repeated["edges"] = [
        {"on": "pass", "do": [["2 retries", "=", 0]], "go": "3"},
        {"on": "fail", "if": [["2 retries", "<", 2]], "do": [["2 retries", "+", 1]], "go": "2"},
    ]
    steps = {"1": shell("false", "2", "2"), "2": repeated, "3": ask("STOP", "COMPLETE")}
    place = Place(tmp_path, program(steps, {"2 retries": 0}))
    place.run("run")
    place.run("answer", "3", "pass")
    assert "running 3 Review again after PASS" in place.run("retry").err


def test_an_earlier_failure_counts_again_when_a_later_one_is_repaired(tmp_path: Path) -> None:
    steps = {"1": shell("test -e fixed", "COMPLETE", "2"), "2": shell("test -e back", "STOP")}
    place = stopped(tmp_path, program(steps))
    (tmp_path / "back").touch()
    assert "running 2 Work again" in place.run("retry").err
    (tmp_path / "fixed").touch()
    assert place.run("retry").code == 0
    assert [word for word in place.walk() if "retry" in word] == ["2 retry", "1 retry"]


def test_a_corrected_document_continues_after_stop(tmp_path: Path) -> None:
    place = stopped(tmp_path)
    steps = {name: step for name, step in ROLLBACK["nodes"].items() if step["task"] != "end"}
    with unchanged(place):
        again = {"2": {**shell("true", "1", "4"), "title": "Install"}, "1": shell("echo one >> log", "4")}
        place.write(program({**again, "4": steps["4"]}))
        refused = place.run("retry", "--adopt")
        assert (refused.code, "has finished, and this version would run it again" in refused.err) == (2, True)
        assert facts_of(place)["next"] == [f"{place.script} run"], "what is refused is not offered"
        place.write(program({**steps, "2": {**shell("echo right >> log", "3", "4"), "title": "Install"}}))
        refused = place.run("retry")
        assert (refused.code, "steps changed: 2" in refused.err) == (2, True)
        assert f"rdc: to retry with this version: {place.script} retry --adopt" in refused.err
    assert facts_of(place)["next"][0].endswith("retry --adopt")
    assert place.run("retry", "--adopt", "--by", "ann").code == 75
    assert place.text("log") == "one\ntwo\nback\nright\n"
    assert [record["kind"] for record in place.records()].count("adopt") == 1


def test_a_retry_tells_how_the_step_ended_in_its_own_version(tmp_path: Path) -> None:
    first, last = shell("true", "2", title="Restart"), ask("COMPLETE", question="yes/no")
    place = stopped(tmp_path, program({"1": shell("true", "2"), "2": shell("false", "COMPLETE", title="Restart")}))
    place.write(program({"1": first, "2": last}))
    assert "rdc: running 2 Restart again after FAIL, exit code 1\n" in place.run("retry", "--adopt").err


def test_a_limit_is_raised_where_a_retry_would_reach_it_again(tmp_path: Path) -> None:
    steps = {"1": shell("true", "2"), "2": shell("true", "1"), "3": shell("", "1", task="agent")}
    place = Place(tmp_path, program(steps, limit=2))
    limited = place.run("run")
    resume = f"to allow more steps: {place.script} resume --max-steps 4"
    assert f"rdc: {resume}" in limited.err
    assert place.run("retry").last == f"rdc: error: 1: the limit of 2 steps was reached; {resume}"
    raised = place.run("resume", "--max-steps", "4", "--by", "ann")
    assert raised.last == "rdc: STOP 1: the limit of 4 steps was reached"
    assert [(record["kind"], record["by"]) for record in place.records() if "by" in record] == [("agreed", "ann")]


def test_all_editions_but_script_have_retry(tmp_path: Path) -> None:
    without = {name for name, edition in EDITIONS.items() if "operator.retry.Retries" not in edition.extensions}
    assert without == {"script"}
    place = Compiled(tmp_path, compiled(node("1", sh("test -e fixed"))))
    place.bundle(operator="basic")
    assert place.run("run").code == 0  # no edge for a failure: it is the same for all outcomes
    assert {"retry", "goto"} <= {line.split()[0] for line in place.run("--help").out.splitlines() if line[:2] == "  "}


@pytest.mark.parametrize("times", [5, pytest.param(100, marks=pytest.mark.soak)])
def test_a_retry_that_is_killed_at_any_time_has_returned_the_run_or_not(times: int, tmp_path: Path) -> None:
    place = stopped(tmp_path)
    began = time.monotonic()
    assert place.start("retry").wait() == 1
    whole, moments, found = time.monotonic() - began, random.Random(5), 1
    for _ in range(times):
        process = place.start("retry", "--by", "ann")
        time.sleep(moments.uniform(0.1, 1.2) * whole)
        kill(process)
        count = place.walk().count("2 retry")
        assert count - found in (0, 1)
        while (state := json.loads(place.run("status", "--json").out)["state"]) == "running":
            time.sleep(0.05)  # the command lives on for a moment
        assert state in ("stop", "ready", "interrupted")
        if state != "stop":
            assert (count - found, place.run("retry").code) == (1, 2)
            assert place.run("resume", "--rerun-interrupted").code == 1
        found = count
    assert place.text("log").count("one") == 1, "a finished step does not run again"
    assert place.run("retry").code == 1


def test_a_journal_with_a_retry_is_cut_at_any_length(tmp_path: Path) -> None:
    place = stopped(tmp_path, program({"1": ask("COMPLETE"), "2": shell("true", "STOP")}, entry="2"))
    before = place.journal.read_bytes()
    assert place.run("retry").code == 1
    whole = place.journal.read_bytes()
    for length in range(len(before), whole.index(b"\n", len(before)) + 1):
        place.journal.write_bytes(whole[:length])
        is_there = length >= whole.index(b"\n", len(before))
        state = replay(read_journal(place.journal)[0], "journal")
        assert (state.node, state.condition) == (("2", "ready") if is_there else ("STOP", "stop"))
