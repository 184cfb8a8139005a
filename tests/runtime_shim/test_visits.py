"""Limits of visits: where a run stops, and how an operator lets it go on."""

from pathlib import Path

import pytest

from backends.python.edition import edition_of
from compiler.ir.program import Program
from compiler.ir.tasks import Ask
from compiler.ir.texts import text
from compiler.ir.visits import VisitLimit, with_visit_limits
from tests.runtime_shim.operator import codes, facts_of, unchanged
from tests.support.runtime_programs import Compiled, edge, node, program, sh

pytestmark = pytest.mark.process


def loop(most: int = 2) -> Program:
    """A review that a fix leads back to."""
    made = program(
        node("1", Ask("pass_fail", text("Good?")), edge("COMPLETE", "pass"), edge("2", "fail")),
        node("2", sh("echo fixed >> log"), edge("1", "pass"), edge("STOP", "fail")),
    )
    return with_visit_limits(made, [VisitLimit("1", most, "enough")])[0]


def stopped(path: Path, most: int = 2) -> Compiled:
    """A run that has ended at its limit."""
    place = Compiled(path, loop(most))
    (path / "no").write_text("1 fail\n" * most)
    done = place.run("run", "--answers", "no")
    assert (done.code, done.last) == (1, "rdc: STOP enough")
    assert place.walk() == ["1 fail", "2 pass"] * most
    return place


def test_a_run_stops_instead_of_one_more_visit_and_says_how_to_continue(tmp_path: Path) -> None:
    place = stopped(tmp_path)
    status = facts_of(place)
    assert (status["state"], status["message"]) == ("stop", "enough")
    assert status["next"][0].endswith("resume --max-visits 3")
    again = place.run("resume")
    assert (again.code, again.last) == (1, "rdc: STOP enough")
    assert edition_of(place.made, is_full=False) == "values"
    assert codes(place, "goto 1", "answer 1 fail") == [0, 0], "an operator's jump is no visit"
    assert place.run("resume").last == "rdc: STOP enough"
    assert place.run("resume", "--max-visits", "4", "--by", "ann", "--note", "once more").code == 75
    (record,) = (record for record in place.records() if "visits" in record)
    assert (record["visits"], record["by"], record["note"]) == (4, "ann", "once more")


def test_max_visits_counts_all_visits_of_the_run(tmp_path: Path) -> None:
    place = stopped(tmp_path)
    assert place.run("resume", "--max-visits", "4").last == "rdc: WAITING 1 Step 1"
    (tmp_path / "more").write_text("fail\nfail\n")
    assert place.run("resume", "--answers", "more").last == "rdc: STOP enough"
    refused = place.run("resume", "--max-visits", "4")
    assert (refused.code, refused.last) == (2, "rdc: error: --max-visits 4: step 1 has had 4; allow more")
    assert place.run("resume", "--max-visits", "0").last == "rdc: WAITING 1 Step 1"
    (tmp_path / "many").write_text("fail\n" * 9 + "pass\n")
    assert place.run("resume", "--answers", "many").last == "rdc: COMPLETE all done"
    assert place.walk().count("1 fail") == 13


def test_a_number_that_is_none_is_refused(tmp_path: Path) -> None:
    place = stopped(tmp_path, 1)
    with unchanged(place):
        for given in ("-1", "x", "1.5", "\x1b[31m", "9999999999"):
            refused = place.run("resume", "--max-visits", given)
            assert (refused.code, "--max-visits" in refused.last, "\x1b" in refused.err) == (2, True, False)
        Compiled(tmp_path, loop(7))
        assert place.run("resume", "--max-visits", "5").code == 2, "another version does not continue it"
        Compiled(tmp_path, program(node("1", Ask("pass_fail", text("Good?")), edge("COMPLETE"))))
        unlimited = place.run("resume", "--max-visits", "5")
        assert "unknown argument --max-visits" in unlimited.last, "a program without limits does not know it"


def test_only_a_run_at_its_limit_can_have_more_visits(tmp_path: Path) -> None:
    place = Compiled(tmp_path, loop())
    assert place.run("run").code == 75
    refused = place.run("resume", "--max-visits", "5")
    assert refused.last == "rdc: error: --max-visits continues only a run that ended at a limit of visits"
    assert codes(place, "answer 1 pass", "resume") == [0, 0]
    assert place.run("resume", "--max-visits", "5").code == 2, "it is complete"


def test_a_kill_at_any_moment_of_the_call_changes_nothing(tmp_path: Path) -> None:
    """Whatever part of the journal is on disk, the same call goes on from there, and the path is the same."""
    place = stopped(tmp_path, 1)
    before = len(place.journal.read_bytes())
    (tmp_path / "yes").write_text("fail\n")
    words = ("resume", "--max-visits", "2", "--answers", "yes")
    assert place.run(*words).last == "rdc: STOP enough"
    whole, walk = place.journal.read_bytes(), place.walk()
    record = whole.index(b"\n", before) + 1
    for size in (before, before + 1, (before + record) // 2, record - 1, record):
        place.journal.write_bytes(whole[:size])
        assert place.run(*words).last == "rdc: STOP enough", size
        assert place.walk() == walk
