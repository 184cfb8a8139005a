"""State belongs to one program: other versions and other documents, and how to go on with them (R4)."""

import json
import time
from pathlib import Path

import pytest

from tests.runtime_shim.operator import codes, facts_of, unchanged, waiting
from tests.support.process import LOOP, Place, Table, ask, program, shell

pytestmark = pytest.mark.process

REVIEW = program({"1": shell("echo one >> log", "2"), "2": ask("3"), "3": shell("echo three >> log", "COMPLETE")})


def other_program(**changes: Table) -> Table:
    return program({**{name: step for name, step in REVIEW["nodes"].items() if step["task"] != "end"}, **changes})


def test_state_of_another_program(tmp_path: Path) -> None:
    place = waiting(tmp_path, REVIEW)
    place.write(other_program(**{"3": shell("echo new >> log", "4"), "4": shell("echo four >> log", "COMPLETE")}))
    with unchanged(place):
        for words in (("resume",), ("answer", "2", "pass")):
            refused = place.run(*words)
            assert refused.code == 2
            assert all(each in refused.err for each in ("added: 4", "changed: 3", "resume --adopt"))
            assert refused.last == "rdc: error: this run belongs to a different version of this program"
        assert "WAITING" in place.run("status").out
        assert facts_of(place)["next"] == [f"{place.script} resume --adopt"]
    assert codes(place, "resume --adopt", "answer 2 pass", "resume") == [75, 0, 0]
    assert place.text("log") == "one\nnew\nfour\n"
    assert [record["kind"] for record in place.records()].count("adopt") == 1


def test_state_of_another_document(tmp_path: Path) -> None:
    place = waiting(tmp_path, REVIEW)
    run = place.records()[0]["run"]
    place.write({**other_program(**{"3": shell("true", "COMPLETE")}), "source": "other.runbook.md"})
    expected = (
        f"rdc: error: .rdc/deploy has a run of deploy.runbook.md ({run}), not of other.runbook.md; use --state-dir"
    )
    with unchanged(place):
        for words in (("run",), ("resume",), ("answer", "2", "pass"), ("status",)):
            refused = place.run(*words)
            assert (refused.code, refused.last, "--adopt" in refused.err) == (2, expected, False)
            assert "deploy.py reset" in refused.err
        assert place.run("resume", "--adopt").code == 2, "a run of another document is never adopted"
    place.write({**REVIEW, "source": "moved.runbook.md"})
    assert place.run("resume").code == 75, "the same program is a document that was moved"
    place.write(other_program(**{"2": ask("3", at="deploy.runbook.md:77")}))
    assert place.run("resume").code == 75, "lines that move are the same program"


def test_adopting_keeps_registers_by_name(tmp_path: Path) -> None:
    one = shell("true", "2", edges=[{"do": [["a", "+", 5]], "go": "2", "says": ""}])
    steps = {"1": one, "2": ask("3"), "3": shell("true", "COMPLETE")}
    place = waiting(tmp_path, program(steps, {"a": 0, "gone": 1, "c": 5}))
    show = shell("echo $A $B $C > log", "COMPLETE", variables={"A": "a", "B": "b", "C": "c"})
    place.write(program({**steps, "3": show}, {"a": 0, "b": 9, "c": "text"}))  # type: ignore[dict-item]
    assert codes(place, "resume --adopt", "answer 2 pass", "resume") == [75, 0, 0]
    assert place.text("log") == "5 9 text\n", "and takes no text for a counter"


@pytest.mark.parametrize(
    "step", [shell("true", "3"), ask("3", title="Go?"), ask("3", prompt="Look again."), ask("3", question="yes/no")]
)
def test_a_waiting_question_that_changed_is_not_adopted(tmp_path: Path, step: Table) -> None:
    place = waiting(tmp_path, REVIEW)
    place.write(other_program(**{"2": {**step, "title": step["title"] if step["task"] == "ask" else "Review"}}))
    with unchanged(place):
        for words in (["resume"], ["resume", "--adopt"], ["answer", "2", "pass"]):
            refused = place.run(*words)
            assert (refused.code, "--adopt" in refused.err) == (2, False)
            assert f"; restore the old version, or to archive it: {place.script} reset\n" in refused.err
    facts = facts_of(place)
    assert (facts["next"], facts["step_title"], facts["question"]) == ([f"{place.script} reset"], "Review", "")
    assert f"different version of the program: steps changed: 2; {facts['message']}.\n" in place.run("status").out
    assert facts["message"].endswith("; restore the old version")


@pytest.mark.parametrize("step", [ask("COMPLETE", title="Work"), shell("echo 2", "COMPLETE")])
def test_an_interrupted_command_that_changed_is_not_adopted(tmp_path: Path, step: Table) -> None:
    place = Place(tmp_path, program({"1": shell("kill -9 $PPID", "COMPLETE")}))
    assert place.run("run").code == -9
    place.write(program({"1": step}))
    assert place.run("resume", "--adopt").code == 2
    place.write(program({"1": shell("kill -9 $PPID", "COMPLETE", timeout=5)}))
    assert place.run("resume", "--adopt", "--assume", "pass").code == 0, "a setting is not the command"


def moves(*titles: str, at: str = "", **changes: str) -> Table:
    """Numbered steps that log their titles, and one that asks."""
    names = [str(number) for number in range(1, len(titles) + 1)]
    steps = {}
    for name, title, then in zip(names, titles, [*names[1:], "COMPLETE"], strict=True):
        command = changes.get(title, f"echo {title} >> log")
        steps[name] = ask(then, title=title) if title == at else shell(command, then, title=title)
    return program(steps)


OLD = moves("A", "B", "Go?", "C", at="Go?")


@pytest.mark.parametrize(
    ("new", "log"),
    [
        (moves("A", "B", "Go?", "New", "C", at="Go?"), "A B New C"),
        (moves("B", "Go?", "C", at="Go?"), "A B C"),
        (moves("Go?", "C", at="Go?"), "A B C"),
        (moves("A", "B", "Go?", at="Go?"), "A B"),
        (moves("A", "B", "Go?", "C", at="Go?", B="echo changed >> log"), "A B C"),
        (moves("A", "B", "Go?", "C", at="Go?", C="echo changed >> log"), "A B changed"),
        (moves("B", "A", "Go?", "C", at="Go?"), "A B C"),
    ],
)
def test_adopting_repeats_nothing_and_skips_nothing(tmp_path: Path, new: Table, log: str) -> None:
    place = waiting(tmp_path, OLD)
    place.write(new)
    assert place.run("resume", "--adopt").last.endswith("Go?")
    at = place.records()[-1]["node"]
    assert new["nodes"][at]["title"] == "Go?"
    assert place.run("answer", at, "pass").code == 0
    assert place.run("resume").code == 0
    assert place.text("log").split() == log.split()
    assert place.run("status").code == 0


def test_adopting_is_refused_where_it_would_repeat_or_skip(tmp_path: Path) -> None:
    place = waiting(tmp_path, OLD)
    again = "step 3 has finished, and this version would run it again after step 2"
    for new, message in (
        (moves("A", "New", "B", "Go?", "C", at="Go?"), "step 2 is new and comes before step 4, where the run is"),
        (moves("New", "Go?", "C", at="Go?"), "step 1 is new and comes before step 2, where the run is"),
        (moves("A", "Go?", "B", "C", at="Go?"), again),
        (moves("A", "Go?", "Better", "C", at="Go?", Better="echo B >> log"), "step 3 has finished"),
        (moves("A", "B", "C"), "the run is at step 3, which this program does not have"),
    ):
        place.write(new)
        for words in (("resume", "--adopt"), ("resume",)):
            with unchanged(place):
                refused = place.run(*words)
            assert (refused.code, message in refused.err, "--adopt" in refused.err) == (2, True, False), refused.err
    assert place.text("log").split() == ["A", "B"]


def test_a_jump_back_may_repeat_steps_of_a_version_that_was_adopted(tmp_path: Path) -> None:
    place = Place(tmp_path, OLD)
    place.run("run")
    place.write(moves("B", "Go?", "C", at="Go?"))
    assert place.run("resume", "--adopt").code == 75
    again = moves("B", "Go?", "New", "C", at="Go?")
    again["nodes"]["2"]["edges"][1]["go"] = "1"
    place.write(again)
    assert place.run("resume", "--adopt").code == 75, "the removed step 1 is another one than the new step 1"
    assert codes(place, "answer 2 fail", "resume") == [0, 75]
    assert place.text("log").split() == ["A", "B", "B"]
    assert "1 (removed)" in place.run("status").out


def test_adopting_renames_the_counters_of_steps(tmp_path: Path) -> None:
    def attempts(name: str) -> Table:
        again = {"on": "fail", "if": [[f"{name} retries", "<", 3]], "do": [[f"{name} retries", "+", 1]], "go": name}
        edges = [{"on": "pass", "go": "COMPLETE", "says": ""}, {**again, "says": "RETRY 2"}]
        hang = "echo $RDC_ATTEMPT >> log; test $RDC_ATTEMPT = 1 && exit 1; test -e go || kill -9 $PPID"
        return {**shell(hang, ""), "attempt": f"{name} retries", "edges": edges}

    place = Place(tmp_path, program({"1": shell("true", "2", title="A"), "2": attempts("2")}, {"2 retries": 0}))
    assert place.run("run").code == -9
    (tmp_path / "go").touch()
    place.write(program({"1": attempts("1")}, {"1 retries": 0}))
    time.sleep(0.2)
    assert place.run("resume", "--adopt", "--rerun-interrupted").code == 0
    assert place.text("log").split() == ["1", "2", "2"]


def test_what_run_and_status_propose_for_another_version_works(tmp_path: Path) -> None:
    place = waiting(tmp_path, REVIEW)
    place.write(program({"1": shell("true", "COMPLETE")}))
    gone = place.run("run")
    assert "resume" not in gone.err, "it does not have the step at which the run stands"
    assert "deploy.py reset\n" in gone.err
    assert facts_of(place)["next"] == [f"{place.script} reset"]
    place.write(other_program(**{"3": shell("true", "COMPLETE")}))
    refused = place.run("run")
    assert refused.last == "rdc: error: an unfinished run of a different version of this program is at step 2"
    assert "deploy.py resume --adopt\n" in refused.err
    assert "different version" in place.run("status").out
    assert facts_of(place)["next"] == [f"{place.script} resume --adopt"]
    assert place.run("resume", "--adopt").code == 75


def test_what_status_proposes_for_a_command_of_another_version_works(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("kill -9 $PPID", "COMPLETE")}))
    place.run("run")
    time.sleep(0.1)
    place.write(program({"1": shell("kill -9 $PPID", "STOP", placeholders={"{N}": "N"})}, {"N": 1}))
    facts = json.loads(place.run("status", "--json").out)
    assert [command.split(" ", 1)[1] for command in facts["next"]] == [
        f"resume --adopt {how}" for how in ("--rerun-interrupted", "--assume pass", "--assume fail")
    ]
    assert place.run("resume", "--adopt", "--assume", "fail").code == 1


def test_end_of_another_version_is_told_again(tmp_path: Path) -> None:
    place = Place(tmp_path, LOOP)
    place.run("run")
    before = place.journal.read_bytes()
    place.write(program({"1": shell("echo new >> log", "COMPLETE")}))
    status = place.run("status")
    assert status.code == 0
    assert "STOP gave up\nThis run belongs to a different version of the program: steps " in status.out
    assert status.out.endswith(f"  {place.script} run\n")
    again = place.run("resume")
    assert (again.code, again.last) == (1, "rdc: STOP gave up")
    assert place.journal.read_bytes() == before
    assert place.run("run").code == 0
