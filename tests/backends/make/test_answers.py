"""How a Makefile that runs by itself starts, continues, asks and ends: verbs, questions, answers and exit codes."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.backends.make.loops import RUN, Terminal, code, ending, locks
from tests.support import warm
from tests.support.makefiles import FLOW, PATIENCE, PLAIN, SLOW, Place, environment, kill_all

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

WAITS = (75, "rdc: WAITING 2")


@pytest.fixture
def waiting(flow: Place) -> Place:
    """A run that waits at its first question."""
    assert (ending(flow.make()), locks(flow)) == (WAITS, [])
    return flow


def is_left_alone(place: Place, *words: str, **variables: str) -> None:
    """A call is an error, and neither runs anything nor changes the state."""
    before = (place.folder / RUN).read_bytes() if (place.folder / RUN).exists() else b""
    log, refused = place.lines("log"), place.make(*words, **variables)
    assert (code(refused), refused.stdout.splitlines()[-1][:12]) == (2, "rdc: error: "), refused
    assert ((place.folder / RUN).read_bytes() if (place.folder / RUN).exists() else b"") == before
    assert place.lines("log") == log


def test_a_question_is_shown_its_answer_comes_with_the_next_call_and_a_new_run_follows_an_end(waiting: Place) -> None:
    shown = waiting.make()
    assert (ending(shown), "Is it good?" in shown.stdout + shown.stderr) == (WAITS, True)
    assert ending(waiting.make("REPLY=yes")) == (75, "rdc: WAITING 3")
    is_left_alone(waiting, "STEP=2", "REPLY=yes")
    assert ending(waiting.make("resume", "STEP=3", "REPLY=YES")) == (0, "rdc: COMPLETE Out it goes")
    assert [line.split()[0] for line in waiting.lines("log")] == ["build", "ship"]
    assert ending(waiting.make()) == WAITS
    assert ending(waiting.make("REPLY=no")) == (1, "rdc: STOP It is bad")
    assert ending(waiting.make()) == WAITS
    assert [line.split()[0] for line in waiting.lines("log")] == ["build", "ship", "build", "build"]


NO_ANSWERS = (
    ["REPLY=perhaps"], ["REPLY=$(shell echo yes)"], ["STEP=3", "REPLY=yes"], ["STEP=3"], ["ASSUME=pass"],
    ["STEP=1 2", "REPLY=yes"], ["STEP=*", "REPLY=yes"], ["REPLY=yes no"],
)  # fmt: skip


def test_what_is_no_answer_changes_nothing(flow: Place) -> None:
    for words in (["REPLY=yes"], ["STEP=2", "REPLY=yes"], ["run", "REPLY=no"], ["resume", "REPLY=yes"]):
        is_left_alone(flow, *words)  # no question was shown
    assert (flow.lines("log"), ending(flow.make())) == ([], WAITS)
    for words in NO_ANSWERS:
        is_left_alone(flow, *words)
        is_left_alone(flow, "resume", *words)


def test_the_environment_answers_nothing(flow: Place) -> None:
    given = dict.fromkeys(["REPLY", "RERUN", "ASSUME"], "yes") | {"STEP": "2"}
    given |= {f"rdc_{name}": value for name, value in given.items()}
    for _ in range(2):
        assert ending(flow.make(**given)) == WAITS
        assert ending(flow.make("-e", **given)) == WAITS
    assert flow.lines("log") == ["build"]


def test_the_hint_for_an_answer_can_be_pasted(tmp_path: Path) -> None:
    """The name of a step may hold what the shell or make would expand."""
    name = "a';touch${IFS}canary;'$(x).runbook.md"
    place = Place(tmp_path, f"## 1. Ask\n\n- {name}\n", {name: "## 1. Fine?\n\nIs it?\n\n- YES: COMPLETE\n"})
    (tmp_path / "Makefile").rename(tmp_path / "my.mk")
    hint = re.findall("to answer: (.*?yes)", place.make("-f", "my.mk").stderr)[0]
    variables = warm.forking(environment({}))
    done = subprocess.run(["sh", "-c", hint], cwd=tmp_path, env=variables, capture_output=True, check=False)
    assert done.stdout.decode().splitlines()[-1].startswith("rdc: COMPLETE"), done
    assert not list(tmp_path.rglob("canary*"))


def test_resume_never_starts_a_run(flow: Place) -> None:
    is_left_alone(flow, "resume")
    flow.make()
    assert code(flow.make("resume", "REPLY=yes")) == 75
    assert ending(flow.make("resume", "REPLY=yes")) == (0, "rdc: COMPLETE Out it goes")
    is_left_alone(flow, "resume")
    is_left_alone(flow, "resume", "RERUN=yes")


@pytest.mark.parametrize(
    "document", [PLAIN, FLOW.replace('- NO: STOP "It is bad"', "- NO: GOTO 4")], ids=["plain", "flow"]
)
def test_make_starts_a_new_run_after_the_last_one_is_over(document: str, tmp_path: Path) -> None:
    place = Place(tmp_path, document)
    for _ in range(2):
        last = ending(place.make())
        if last == WAITS:
            last = ending(place.make("REPLY=no"))
        assert last[0] == 0
    assert [line.split()[0] for line in place.lines("log")] == ["build", "ship"] * 2


def test_status_shows_where_the_run_stands_and_clean_drops_it(waiting: Place) -> None:
    before, shown = waiting.files, waiting.make("status").stdout
    assert re.search(r"^1\b.*pass", shown, re.MULTILINE)
    assert re.search(r"\b2\b", shown)
    assert (waiting.files, waiting.make("clean").returncode) == (before, 0)
    assert not (waiting.folder / RUN).exists()
    is_left_alone(waiting, "resume")
    assert ending(waiting.make()) == WAITS


@pytest.mark.parametrize("document", [PLAIN, FLOW], ids=["plain", "flow"])
def test_help_has_a_line_for_each_step_and_writes_nothing(document: str, tmp_path: Path) -> None:
    place, again = Place(tmp_path, document), "make" if document == PLAIN else f"make -f {tmp_path}/Makefile"
    shown = place.make(*again.split()[1:], "help")
    assert (shown.returncode, re.findall(f"^(?!{again} +[a-zA-Z]).+", shown.stdout, re.MULTILINE)) == (0, [])
    for number, title in re.findall(r"^## (\d)\. (.*)$", document, re.MULTILINE):
        assert re.search(rf"^{again} step-{number} .*{title}$", shown.stdout, re.MULTILINE)
    assert "no run" in place.make("status").stdout
    assert not (tmp_path / ".rdc").exists()


def test_a_step_alone_ends_as_its_command_and_leaves_the_state_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW.replace("echo build >> log", "echo build >> log; exit $WITH"))
    for failure in ("1", "2", "75", "126", "130"):
        ended = [place.make(step, WITH=failure).returncode for step in ("step-1", "step-4")]
        assert (ended, (tmp_path / ".rdc").exists()) == ([2, 0], False)
    for failure in ("1", "2", "75", "126", "130"):
        assert ending(place.make(WITH=failure))[0] == 1, "whatever the code, it is a failure"


INTERRUPTED = SLOW.replace("\n## 3.", "\n- FAIL: COMPLETE Failed\n\n## 3.")


@pytest.fixture
def interrupted(tmp_path: Path, ended: list[subprocess.Popen[str]]) -> Place:
    """A run that was killed with its second step, which would be quick now."""
    place = Place(tmp_path, INTERRUPTED)
    ended.append(place.start())
    kill_all(ended[0].pid)
    ended[0].communicate(timeout=PATIENCE)
    (tmp_path / "began").unlink()
    (tmp_path / "quick").touch()
    return place


@pytest.mark.parametrize("verb", ["run", "resume"])
def test_an_interrupted_step_waits_for_a_decision(verb: str, interrupted: Place) -> None:
    for words in ([], ["RERUN="], ["STEP=2"]):
        assert ending(interrupted.make(verb, *words)) == (75, "rdc: WAITING 2 was interrupted")
    for words in (["ASSUME=perhaps"], ["RERUN=no"], ["RERUN=yes", "REPLY=yes"], ["STEP=1", "RERUN=yes"]):
        is_left_alone(interrupted, verb, *words)
    assert interrupted.lines("log") == ["build"]


DECISIONS = {
    "RERUN=yes": ("again", "rdc: COMPLETE", ["build", "ship"]),
    "ASSUME=pass": ("pass", "rdc: COMPLETE", ["build", "ship"]),
    "ASSUME=fail": ("fail", "rdc: COMPLETE Failed", ["build"]),
}


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("is_typed", [False, True], ids=["given", "typed"])
def test_a_decision_about_an_interrupted_step(decision: str, is_typed: bool, interrupted: Place) -> None:
    typed, end, log = DECISIONS[decision]
    if is_typed:
        terminal = Terminal(interrupted, "resume")
        terminal.answer(f"{typed}\n", after="[again/pass/fail]")
        assert terminal.end() == end
    else:
        assert ending(interrupted.make("resume", decision)) == (0, end)
    assert (interrupted.lines("log"), bool(interrupted.lines("began"))) == (log, decision == "RERUN=yes")


def test_a_person_who_says_nothing_decides_nothing(interrupted: Place) -> None:
    terminal = Terminal(interrupted)
    terminal.answer("\n", after="[again/pass/fail]")
    assert terminal.end() == "rdc: WAITING 2 was interrupted"
    assert not interrupted.lines("began")


def test_questions_are_asked_at_a_terminal_until_they_are_answered(flow: Place) -> None:
    terminal = Terminal(flow)
    for typed in ("perhaps\n", "\n", "y\n", "No\n"):
        terminal.answer(typed, after="[yes/no]")
    assert (terminal.end(), terminal.seen.count("Is it good?")) == ("rdc: STOP", 1)
    terminal = Terminal(flow)
    terminal.answer("\x04", after="[yes/no]")
    assert terminal.end() == "rdc: WAITING 2", "the end of the input leaves it open"
    terminal = Terminal(flow, "REPLY=yes")
    terminal.answer("yes\n", after="[yes/no]")
    assert terminal.end() == "rdc: COMPLETE Out it goes"


def test_commands_at_a_terminal_read_what_is_typed(tmp_path: Path) -> None:
    place = Place(tmp_path, '## 1. Read\n\n```bash\nread -p "name: " name; echo "$name" > log; [ -t 0 ]\n```\n')
    terminal = Terminal(place)
    terminal.answer("Ann\n", after="name: ")
    assert (terminal.end(), place.lines("log")) == ("rdc: COMPLETE", ["Ann"])
