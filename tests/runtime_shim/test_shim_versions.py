"""State belongs to one program: other versions and other documents, and how to go on with them (R4)."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.runtime_shim.shim_process import LOOP, Place, Table, ask, program, shell

REVIEW = program({"1": shell("echo one >> log", "2"), "2": ask("3"), "3": shell("echo three >> log", "COMPLETE")})


def other_program(**changes: Table) -> Table:
    steps = {name: step for name, step in REVIEW["nodes"].items() if step["task"] != "end"}
    return program({**steps, **changes})


def test_state_of_another_program(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    place.run("run")
    before = place.journal.read_bytes()
    place.write(other_program(**{"3": shell("echo new >> log", "4"), "4": shell("echo four >> log", "COMPLETE")}))
    for words in (("resume",), ("answer", "2", "pass"), ("status",)):
        refused = place.run(*words)
        assert refused.code == 2
        assert "added: 4" in refused.err
        assert "changed: 3" in refused.err
        assert refused.last == "rdc: error: this run belongs to a different version of this program"
        assert "resume --adopt" in refused.err
    assert place.journal.read_bytes() == before
    assert "WAITING" in place.run("status", "--adopt").out
    assert place.run("resume", "--adopt").code == 75
    assert place.run("answer", "2", "pass").code == 0
    assert place.run("resume").code == 0
    assert place.text("log") == "one\nnew\nfour\n"
    assert [record["kind"] for record in place.records()].count("adopt") == 1


def test_line_shift_is_the_same_program(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    place.run("run")
    place.write(other_program(**{"2": ask("3", at="deploy.runbook.md:77")}))
    assert place.run("resume").code == 75


def test_adopting_keeps_registers_by_name(tmp_path: Path) -> None:
    count = [["a", "+", 5]]
    one = shell("true", "2", edges=[{"do": count, "go": "2", "says": ""}])
    place = Place(tmp_path, program({"1": one, "2": ask("3"), "3": shell("true", "COMPLETE")}, {"a": 0, "gone": 1}))
    place.run("run")
    show = shell("echo $A $B > log", "COMPLETE", variables={"A": "a", "B": "b"})
    place.write(program({"1": one, "2": ask("3"), "3": show}, {"a": 0, "b": 9}))
    place.run("resume", "--adopt")
    place.run("answer", "2", "pass")
    assert place.run("resume").code == 0
    assert place.text("log") == "5 9\n"


def test_adopting_a_prompt_that_became_a_command(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    place.run("run")
    place.write(other_program(**{"2": shell("kill -9 $PPID; sleep 0.2", "3")}))
    assert place.run("resume", "--adopt").code == -9
    time.sleep(0.3)
    assert place.run("resume").code == 75, "it was interrupted: nobody can tell whether it finished"
    assert place.run("resume", "--assume", "pass").code == 0


def test_adopting_a_command_that_became_a_prompt(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("kill -9 $PPID", "COMPLETE")}))
    assert place.run("run").code == -9
    place.write(program({"1": ask("COMPLETE")}))
    assert place.run("resume", "--adopt").last == "rdc: WAITING 1 Review"
    assert place.run("answer", "1", "pass").code == 0
    assert place.run("resume").code == 0


def test_adopting_needs_the_step(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    place.run("run")
    before = place.journal.read_bytes()
    place.write(program({"1": shell("true", "3"), "3": shell("true", "COMPLETE")}))
    result = place.run("resume", "--adopt")
    assert result.code == 2
    assert "is at step 2" in result.err
    assert place.journal.read_bytes() == before


def test_state_of_another_document(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    place.run("run")
    before = place.journal.read_bytes()
    run = place.records()[0]["run"]
    place.write({**other_program(**{"3": shell("true", "COMPLETE")}), "source": "other.runbook.md"})
    for words in (("run",), ("resume",), ("answer", "2", "pass"), ("status",)):
        refused = place.run(*words)
        assert refused.code == 2
        assert refused.last == (
            f"rdc: error: .rdc/deploy has a run of deploy (deploy.runbook.md, {run}), "
            "not of deploy (other.runbook.md); use --state-dir"
        )
        assert "--adopt" not in refused.err
        assert "deploy.py reset" in refused.err
    assert place.journal.read_bytes() == before
    assert place.run("resume", "--adopt").code == 75
    place.write({**other_program(**{"3": shell("false", "COMPLETE")}), "source": "other.runbook.md"})
    assert "different version" in place.run("resume").last, "it is that document's state since"


def test_run_on_an_unfinished_run_of_another_version(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    place.run("run")
    place.write(other_program(**{"3": shell("true", "COMPLETE")}))
    refused = place.run("run")
    assert refused.last == "rdc: error: an unfinished run of a different version of this program is at step 2"
    assert "deploy.py resume --adopt\n" in refused.err
    place.write(program({"1": shell("true", "COMPLETE")}))
    gone = place.run("run")
    assert "resume" not in gone.err, "it does not have the step at which the run stands"
    assert "deploy.py reset\n" in gone.err


def test_what_status_proposes_for_another_version_works(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    place.run("run")
    place.write(other_program(**{"3": shell("true", "COMPLETE")}))
    status = place.run("status", "--adopt")
    assert "different version" in status.out
    assert json.loads(place.run("status", "--adopt", "--json").out)["next"] == [f"{place.script} resume --adopt"]
    place.write(program({"1": shell("true", "COMPLETE")}))
    assert json.loads(place.run("status", "--adopt", "--json").out)["next"] == [f"{place.script} reset"]
    place.write(other_program(**{"3": shell("true", "COMPLETE")}))
    assert place.run("resume", "--adopt").code == 75


def test_what_status_proposes_for_a_command_of_another_version_works(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("kill -9 $PPID", "COMPLETE")}))
    place.run("run")
    time.sleep(0.1)
    place.write(program({"1": shell("true", "COMPLETE", title="{N}", placeholders={"{N}": "N"})}, {"N": 1}))
    facts = json.loads(place.run("status", "--adopt", "--json").out)
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
    assert "STOP gave up\nThis run belongs to a different version of the program.\n" in status.out
    assert status.out.endswith(f"  {place.script} run\n")
    again = place.run("resume")
    assert (again.code, again.err) == (1, "rdc: STOP gave up\n")
    assert place.journal.read_bytes() == before
    assert place.run("run").code == 0


def test_adopting_takes_no_text_for_a_counter(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}, {"a": 5, "b": 1}))
    place.run("run")
    place.write(program({"1": ask("COMPLETE", title="New")}, {"a": "text", "b": 0}))  # type: ignore[dict-item]
    assert place.run("resume", "--adopt").code == 75
    assert place.records()[-1]["registers"] == {"a": "text", "b": 1}
