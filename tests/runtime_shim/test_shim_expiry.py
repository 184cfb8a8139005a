"""Questions and gates that wait too long for a person (O-9)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from backends.python.edition import runtime
from tests.support.process import Place, Table, ask, program, shell
from tests.support.runtime_programs import Ask, Compiled, Gate, agent, edge, node, text
from tests.support.runtime_programs import program as compiled

pytestmark = pytest.mark.process


def asks(**more: Table) -> Table:
    return program(
        {"1": ask("2", "3"), "2": shell("echo yes >> log", "COMPLETE"), "3": shell("echo no >> log", "STOP")}, **more
    )


def waited(place: Place) -> None:
    assert place.run("run", "--expire", "1h").code == 75
    assert json.loads(place.run("status", "--json").out)["state"] == "waiting"
    place.later(3601)


def test_a_question_that_expired_fails_and_the_run_goes_on_as_the_document_says(tmp_path: Path) -> None:
    """Here the time really passes."""
    place = Place(tmp_path, asks())
    assert place.run("run", "--expire", "1s").code == 75
    time.sleep(1.1)
    before = place.journal.read_bytes()
    status = place.run("status")
    assert "READY at 3" in status.out
    assert "expired after 1.0 s" in status.out
    assert place.journal.read_bytes() == before, "who only looks changes nothing"
    late = place.run("answer", "1", "pass")
    assert (late.code, late.last) == (2, "rdc: error: no step is waiting for an answer")
    resumed = place.run("resume")
    assert (resumed.code, place.text("log"), place.walk()) == (1, "no\n", ["1 fail", "3 pass"])
    (expired,) = (record for record in place.records() if record["kind"] == "done" and record["node"] == "1")
    assert (expired["how"], expired["by"]) == ("expired after 1.0 s", "rdc")


def test_an_answer_in_time_counts_and_each_wait_has_its_own_time(tmp_path: Path) -> None:
    table = program({"1": ask("2"), "2": ask("COMPLETE")})
    place = Place(tmp_path, table)
    assert place.run("run", "--expire", "2h").code == 75
    place.later(4000)
    assert place.run("answer", "1", "pass").code == 0
    assert place.run("resume").code == 75
    place.later(4000)
    assert "WAITING at 2" in place.run("status").out
    assert place.run("answer", "2", "pass").code == 0
    assert place.run("resume").code == 0


def test_an_expired_run_does_not_reach_the_journal_of_the_next_one(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}))
    waited(place)
    assert place.run("run").code == 75
    assert [record["kind"] for record in place.records()] == ["begin"]
    assert "expire" not in place.records()[0]


def test_without_the_option_a_question_waits(tmp_path: Path) -> None:
    place = Place(tmp_path, asks())
    assert place.run("run").code == 75
    place.later(1e9)
    assert [record["kind"] for record in place.records()] == ["begin"]
    assert "WAITING at 1" in place.run("status").out


def test_a_gate_that_expired_is_rejected(tmp_path: Path) -> None:
    ends = (edge("2", "approved"), edge("3", "rejected"))
    table = compiled(
        node("1", Gate("ship", text("Ship?")), *ends), node("2", agent("x")), node("3", Ask("yes_no", text("Really?")))
    )
    place = Compiled(tmp_path, table)
    waited(place)
    assert place.run("approve", "--gate", "1").code == 2
    assert place.run("resume").code == 75
    assert place.walk() == ["1 rejected"]


def test_a_file_of_answers_decides_the_gate_after_one_that_expired(tmp_path: Path) -> None:
    ends = (edge("COMPLETE", "approved"), edge("2", "rejected"))
    table = compiled(
        node("1", Gate("ship", text("Ship?")), *ends),
        node("2", Gate("keep", text("Keep?")), edge("COMPLETE", "approved"), edge("STOP")),
    )
    place = Compiled(tmp_path, table)
    waited(place)
    (tmp_path / "answers").write_text("2 approved\n")
    resumed = place.run("resume", "--answers", "answers")
    assert (resumed.code, place.walk()) == (0, ["1 rejected", "2 approved"]), resumed.err


def test_a_step_has_a_time_of_its_own_which_the_operators_replaces(tmp_path: Path) -> None:
    table = asks()
    table["nodes"]["1"]["expire"] = 3600
    place = Place(tmp_path, table)
    assert place.run("run").code == 75
    place.later(3601)
    assert "expired after 1 h 0 min" in place.run("status").out
    assert (place.run("resume").code, place.walk()) == (1, ["1 fail", "3 pass"])
    assert place.run("run", "--expire", "2h").code == 75
    place.later(3601)
    assert "WAITING at 1" in place.run("status").out
    place.later(3601)
    assert place.run("resume").code == 1


def test_only_the_step_with_a_time_expires(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": ask("COMPLETE", expire=60)}))
    assert place.run("run").code == 75
    place.later(1e6)
    assert place.run("answer", "1", "pass").code == 0
    assert place.run("resume").last == "rdc: WAITING 2 Review"
    place.later(61)
    assert place.run("resume").last == "rdc: STOP gave up"


@pytest.mark.parametrize("bad", ["STOP", "COMPLETE", "2"])
def test_a_run_that_expires_into_its_end_is_not_started_again(tmp_path: Path, bad: str) -> None:
    """What `open` finds has an outcome that no call has recorded."""
    place = Place(tmp_path, program({"1": ask("STOP", bad), "2": shell("echo 2 >> log", "COMPLETE")}))
    waited(place)
    opened = place.run("open")
    assert place.walk() == ["1 fail"]
    assert opened.code == {"STOP": 1}.get(bad, 0), opened.err
    assert not (tmp_path / ".rdc" / "deploy" / "history").exists()


@pytest.mark.parametrize("edition", ["commands", "script"])
def test_editions_without_time_limits_do_not_know_the_option(edition: str) -> None:
    assert "--expire" not in runtime(edition)


def test_a_wrong_time_is_refused_before_anything_runs(tmp_path: Path) -> None:
    place = Place(tmp_path, asks())
    refused = place.run("run", "--expire", "soon")
    assert (refused.code, refused.last) == (
        2,
        "rdc: error: --expire 'soon': expected a time such as 90s, 30m, 24h or 7d",
    )
    assert not place.journal.exists()
