"""What users of workflows need: reports, their folder, gates by a flag, the task, the limit, entries that had ended."""

import os
import re
import signal
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec.structs import replace

from compiler.ir.program import Input, Settings
from compiler.ir.tasks import Agent, Gate, Parallel, Reading
from compiler.ir.texts import text
from tests.runtime_shim.operator import codes, ended, facts_of
from tests.support.process import is_gone, kill, wait_until
from tests.support.runtime_programs import Compiled, edge, node, of, program, slot, stored

pytestmark = pytest.mark.process

WORDS = Reading(("GOOD", "BAD"), "GOOD|BAD")
ALWAYS = tuple(edge("STOP", word) for word in ("failed", "none"))


def write(report: str = "notes", **more: object) -> Agent:
    return Agent("", of("In ", slot("where")), replace(WORDS, **more), report=report)


def both(report: str = "all", *, number: int = 2) -> Parallel:
    entries = tuple(Agent(f"t{index}", text("?"), WORDS) for index in range(number))
    return Parallel(entries, failing=("BAD",), report=report)


ONE = program(node("write", write(), *ALWAYS, edge("write", "BAD"), edge("COMPLETE")), slots=("where",), folder="where")
BOTH = program(node("review", both(), *ALWAYS, edge("COMPLETE")), slots=("where",), folder="where")


def reports(place: Compiled) -> dict[str, str]:
    """The reports of a run, each heading as `#`."""
    heading, folder = r"## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n\n", place.journal.parent / "reports"
    return {path.name: re.sub(heading, "# ", path.read_text()) for path in sorted(folder.iterdir())}


def test_each_answer_is_added_under_a_heading(tmp_path: Path) -> None:
    place = Compiled(tmp_path, ONE)
    agent = "cat >> seen; if test -e first; then echo 'all GOOD'; else touch first; echo BAD; fi"
    assert place.run("run", "--agent", agent).code == 0
    assert reports(place) == {"notes.md": "# BAD\n\n# all GOOD\n"}
    assert place.text("seen") == f"In {tmp_path}/.rdc/deploy/reports" * 2
    assert place.run("run", "--agent", "echo mine >> .rdc/deploy/reports/notes.md; echo GOOD").code == 0
    assert reports(place) == {"notes.md": "mine\n\n# GOOD\n"}, "what an agent adds itself stays"


def test_invalid_and_ambiguous_answers_are_reported_too(tmp_path: Path) -> None:
    place = Compiled(tmp_path, ONE)
    for agent, message in {"maybe": "# maybe\n", "GOOD BAD": "# GOOD BAD\n", "GOOD; exit 1": None}.items():
        place.run("run", "--agent", f"echo {agent}")
        assert reports(place).get("notes.md") == message


def test_a_parallel_step_has_a_report_of_each_entry_and_one_of_the_round(tmp_path: Path) -> None:
    place = Compiled(tmp_path, BOTH)
    assert place.run("run", "--agent", 'test $RDC_ENTRY = 0 && sleep 0.3; echo "$RDC_AGENT_TYPE GOOD"').code == 0
    assert reports(place) == {
        "all.md": "# t0 GOOD\n\nt1 GOOD\n",
        "review_0.md": "# t0 GOOD\n",
        "review_1.md": "# t1 GOOD\n",
    }


def test_a_report_is_added_once_whenever_a_run_is_killed(tmp_path: Path) -> None:
    place = Compiled(tmp_path, ONE)
    assert place.run("run", "--agent", "echo GOOD").code == 0
    whole = reports(place)
    path = place.journal.parent / "reports" / "notes.md"
    for before in (path.read_text(), ""):  # killed behind the journal: after the report was written, and before
        path.write_text(before)
        assert place.run("resume").code == 0
        assert reports(place) == whole
    *_, done = place.records()
    assert done["reports"]["notes"][0] == 0


def test_what_an_agent_puts_in_place_of_its_report_is_not_followed_nor_waited_for(tmp_path: Path) -> None:
    place = Compiled(tmp_path, ONE)
    result = place.run("run", "--agent", "ln -s /etc/passwd .rdc/deploy/reports/notes.md; echo GOOD")
    assert (result.code, "cannot write the report notes" in result.last) == (2, True)
    (place.journal.parent / "reports" / "notes.md").unlink()
    assert place.run("resume").code == 0
    assert reports(place) == {"notes.md": "# GOOD\n"}, "it is written later"
    for plant in ("ln -s ../../../victim", "mkfifo"):
        assert place.run("run", "--agent", f"{plant} .rdc/deploy/reports/.notes.md.new; echo GOOD").code == 0
        assert reports(place) == {"notes.md": "# GOOD\n"}
        assert not (tmp_path / "victim").exists()


def test_secrets_are_not_in_reports_and_a_new_run_archives_them(tmp_path: Path) -> None:
    place = Compiled(tmp_path, replace(ONE, secrets=("TOKEN",)))
    assert place.run("run", TOKEN="hunter2", RDC_AGENT="echo $TOKEN GOOD").code == 0
    assert reports(place) == {"notes.md": "# *** GOOD\n"}
    assert place.run("run", TOKEN="hunter2", RDC_AGENT="echo $TOKEN GOOD").code == 0
    assert len(list(place.journal.parent.glob("history/*.reports/notes.md"))) == 1


def test_answers_by_hand_are_reported_as_those_of_agents(tmp_path: Path) -> None:
    place = Compiled(tmp_path, BOTH)
    assert codes(place, "run", "answer review_1 'GOOD one'", "answer review_0 'GOOD two'") == [75, 0, 0]
    assert reports(place)["all.md"] == "# GOOD two\n\nGOOD one\n"


def test_the_folder_is_that_of_the_state_wherever_it_lies_now(tmp_path: Path) -> None:
    place = Compiled(tmp_path, ONE)
    assert place.run("run").code == 75
    (tmp_path / ".rdc/deploy").rename(tmp_path / "moved")
    assert place.run("resume", "--state-dir", "moved", "--agent", "cat > seen; echo GOOD").code == 0
    assert place.text("seen") == f"In {tmp_path}/moved/reports"


def test_a_verdict_that_an_agent_quotes_is_none_and_nothing_steers_the_terminal(tmp_path: Path) -> None:
    place = Compiled(tmp_path, program(node("review", both(), *ALWAYS, edge("COMPLETE"))))
    result = place.run("run", "--agent", "printf '\\033]0;title\\007::error::x\\n> ## Review\\n> GOOD\\n\\n'; echo BAD")
    assert place.walk() == ["review BAD"]
    assert "\x1b" not in result.err
    assert "\x1b]0;title\x07::error::x\n> ## Review\n> GOOD\n\nBAD\n" in reports(place)["review_0.md"]


def test_entries_that_had_answered_are_not_called_again(tmp_path: Path) -> None:
    place = Compiled(tmp_path, program(node("review", both(number=3), *ALWAYS, edge("COMPLETE"))))
    pausing = "if test $RDC_ENTRY = 1 && ! test -e go; then echo $$ > pid; sleep 60; fi"
    slow = f"echo $RDC_ENTRY >> calls; {pausing}; echo GOOD"
    process = place.start("run", "--agent", slow)
    wait_until(lambda: place.journal.exists() and place.journal.read_text().count('"kind":"entry"') == 2)
    place.wait_for("pid")
    os.kill(process.pid, signal.SIGKILL)
    kill(process)
    assert "review: its agent still runs" in place.run("resume", "--agent", slow).err
    os.killpg(int(place.text("pid")), signal.SIGKILL)
    (tmp_path / "go").touch()
    assert place.run("resume", "--agent", slow, "--rerun-interrupted").code == 0
    assert sorted(place.text("calls").split()) == ["0", "1", "1", "2"]
    assert sorted(reports(place)) == ["all.md", "review_0.md", "review_1.md", "review_2.md"]
    assert place.walk() == ["review GOOD"]


def test_an_entry_that_is_told_to_end_has_not_answered(tmp_path: Path) -> None:
    """Whatever it says before it fails; the processes of all entries end with the run."""
    place = Compiled(tmp_path, program(node("review", both(), *ALWAYS, edge("COMPLETE"))))
    stubborn = "trap 'echo GOOD; exit 3' TERM; echo $$ >> pids; sleep 60 & echo $! >> pids; wait"
    process = place.start("run", "--agent", stubborn)
    wait_until(lambda: place.text("pids").count("\n") == 4)
    assert ended(process, signal.SIGTERM)[0] == 130
    assert all(map(is_gone, map(int, place.text("pids").split())))
    assert not any(record["kind"] == "entry" for record in place.records())


def test_entries_that_are_out_of_time_are_ended_with_their_groups(tmp_path: Path) -> None:
    limited = node("review", both(), *ALWAYS, edge("COMPLETE"), settings=Settings(timeout=1))
    place = Compiled(tmp_path, program(limited))
    late = (
        "if test $RDC_ENTRY = 1; then echo $$ >> pids; sleep 60 & echo $! >> pids; echo GOOD; wait; else echo GOOD; fi"
    )
    assert place.run("run", "--agent", late).code == 1
    assert place.walk() == ["review failed"]
    wait_until(lambda: all(map(is_gone, map(int, place.text("pids").split()))))
    assert [record["entry"] for record in place.records() if record["kind"] == "entry"] == [0]
    assert sorted(reports(place)) == ["all.md", "review_0.md"]


@pytest.mark.parametrize(("words", "most"), [((), 3), (("--jobs", "2"), 2), (("--jobs", "1"), 1)])
def test_as_many_entries_are_at_work_as_may_be(tmp_path: Path, words: tuple[str, ...], most: int) -> None:
    place = Compiled(tmp_path, program(node("review", both(number=3), *ALWAYS, edge("COMPLETE"))))
    there = f"mkdir -p at; touch at/$RDC_ENTRY; n=0; until [ $(ls at | wc -l) -ge {most} ] || [ $n = 30 ]"
    counting = f"{there}; do n=$((n + 1)); sleep 0.02; done; sleep 0.1; ls at | wc -l >> seen; rm at/*; echo GOOD"
    assert place.run("run", "--agent", counting, *words).code == 0
    assert max(map(int, place.text("seen").split())) == most
    assert "expected NUMBER after --jobs" in place.run("run", "--jobs").last
    assert "at least 1" in place.run("run", "--jobs", "0").last


GATES = program(
    node("a", Gate("first", text("Look at a.")), edge("b", "approved"), edge("STOP")),
    node("b", Gate("second", text("Look at b.")), edge("COMPLETE", "approved"), edge("STOP")),
)


def test_the_flag_is_spent_on_the_first_gate(tmp_path: Path) -> None:
    place = Compiled(tmp_path, GATES)
    assert (place.run("run", "--human", LOGNAME="ada").code, place.walk()) == (75, ["a approved"])
    (done,) = [record for record in place.records() if record["kind"] == "done"]
    assert (done["by"], done["flag"]) == ("ada", "--human")
    assert place.run("resume").code == 75
    for words, message in (
        (("--gate", "a"), "a is not waiting for an answer; b is"),
        (("--gate", "x"), "x is not waiting for an answer; b is"),
        ((), "approve needs --gate ID"),
    ):
        refused = place.run("approve", *words)
        assert (refused.code, message in refused.last) == (2, True), refused.err
    assert place.run("approve", "--gate", "b", "--by", "ada", "--note", "fine").code == 0
    _, done = [record for record in place.records() if record["kind"] == "done"]
    assert (done["outcome"], done["by"], done["note"]) == ("approved", "ada", "fine")
    assert codes(place, "run --human", "resume --human") == [75, 0]


CHANGED = "has changed since this run first used it, so it decides no gate"


def test_a_file_of_answers_that_changed_during_a_run_approves_nothing(tmp_path: Path) -> None:
    place = Compiled(tmp_path, GATES)
    answers = tmp_path / "answers"
    answers.write_text("a approved\n")
    assert (place.run("run", "--answers", "answers").code, place.walk()) == (75, ["a approved"])
    answers.unlink()
    answers.symlink_to("other")
    (tmp_path / "other").write_text("b approved\n")
    assert CHANGED in place.run("resume", "--answers", "answers").err, "a link leads to no other file"
    answers.unlink()
    answers.write_text("a approved\nb approved\n")
    for path in ("answers", "./answers", str(answers)):
        result = place.run("resume", "--answers", path)
        assert (result.code, CHANGED in result.err, place.walk()) == (75, True, ["a approved"])
    assert codes(place, "answer b approved", "resume --answers answers") == [0, 0]


def test_a_file_that_is_given_later_counts_from_then_and_old_content_counts_again(tmp_path: Path) -> None:
    place = Compiled(tmp_path, GATES)
    answers = tmp_path / "answers"
    assert place.run("run").code == 75
    answers.write_text("a approved\n")
    assert place.run("resume", "--answers", "answers").code == 75
    answers.write_text("b approved\n")
    assert CHANGED in place.run("resume", "--answers", "answers").err
    (tmp_path / "later").write_text("b approved\n")
    assert codes(place, "resume --answers later", "run --answers answers") == [0, 75]
    answers.write_text("a approved\nb approved\n")
    assert CHANGED in place.run("resume", "--answers", "answers").err
    answers.write_text("b approved\n")
    assert codes(place, "answer a approved", "resume --answers answers") == [0, 0]


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no folder in memory")
def test_a_file_of_answers_that_changed_below_dev_approves_nothing(tmp_path: Path) -> None:
    place = Compiled(tmp_path, GATES)
    with TemporaryDirectory(dir="/dev/shm") as folder:
        answers = Path(folder, "answers")
        answers.write_text("a approved\n")
        assert place.run("run", "--answers", str(answers)).code == 75
        answers.write_text("b approved\n")
        assert CHANGED in place.run("resume", "--answers", str(answers)).err


TASK = program(
    node("do", Agent("", of(slot("task"))), edge("COMPLETE", "pass", stored("reply")), edge("STOP")),
    slots=("task", "reply"),
    inputs=(Input("task", "text", default="the usual", required=False),),
    message=of(slot("reply")),
)


def test_the_task_is_given_as_an_input_is_and_once(tmp_path: Path) -> None:
    place = Compiled(tmp_path, TASK)
    (tmp_path / "file").write_text("two\nlines\n")
    for words, message in (
        ((), "the usual"),
        (("--task", "@file $(x)"), "@file $(x)"),
        (("--task-file", "file"), "two lines"),
        (("--input", "task=x"), "x"),
    ):
        assert place.run("run", "--agent", "tr '\\n' ' '", *words).last == f"rdc: COMPLETE {message}"
    assert "given twice" in place.run("run", "--task", "a", "--input", "task=b").last
    assert "unknown argument" in Compiled(tmp_path, ONE).run("run", "--task", "a").last


def test_the_operator_says_how_many_steps_are_run(tmp_path: Path) -> None:
    step = node("write", write(""), *ALWAYS, edge("write", "BAD"), edge("COMPLETE"))
    place = Compiled(tmp_path, program(step, slots=("where",), limit=2))
    agent = ("--agent", "echo x >> calls; test $(wc -l < calls) -lt 6 && echo BAD || echo GOOD")
    for limit, words in ((2, ("run",)), (4, ("resume", "--max-steps", "4"))):
        result = place.run(*words, *agent)
        assert (result.code, result.last) == (1, f"rdc: STOP write: the limit of {limit} steps was reached")
    assert place.run("resume", *agent).code == 1
    assert place.run("resume", *agent, "--max-steps", "0").code == 0
    assert facts_of(place)["state"] == "complete"
