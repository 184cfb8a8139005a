"""The runner on a terminal: questions, keys, colors, and texts that could upset it."""

import re
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from runtime_shim.engine.texts import clean
from runtime_shim.engine.walk import advance
from tests.runtime_shim.operator import at_terminal, talk
from tests.support.process import Place, Screen, ask, is_gone, program, shell, wait_until

pytestmark = pytest.mark.process

# A command that expects a key waits a little: it begins before the terminal is handed to it.

screen = partial(at_terminal, TERM="xterm")


def interactive(place: Place, begun: str) -> Screen:
    """A shell in which a run was begun."""
    words = ["bash", "--norc", "--noprofile", "-i"]
    terminal = Screen(words, place.path, place.environment(TERM="dumb", PS1="prompt> ", HISTFILE="/dev/null"))
    talk(terminal, "prompt> ", f"{sys.executable} {place.script} {begun}\n")
    return terminal


def test_question_has_no_default(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2", block='{"a": 1}'), "2": ask("COMPLETE", question="yes/no")}))
    terminal = screen(place, "run")
    terminal.expect(r"1 Review")
    terminal.expect(r"Look at it\.")
    terminal.expect(r'\{"a": 1\}')
    for nonsense in ("", "maybe", "pa ss"):
        talk(terminal, r"Did 1 Review pass\? \[pass/fail\] ", f"{nonsense}\n")
        terminal.expect("Please type pass or fail")
    talk(terminal, r"\[pass/fail\] ", "P\n", r"\[yes/no\] ", "n\n")
    terminal.expect("rdc: STOP gave up\n")
    assert terminal.close() == 1
    assert place.walk() == ["1 pass", "2 fail"]


@pytest.mark.parametrize(("key", "code", "last"), [("\x04", 75, "WAITING"), ("\x03", 130, "INTERRUPTED")])
def test_keys_that_leave_a_question(tmp_path: Path, key: str, code: int, last: str) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}))
    terminal = screen(place, "run")
    talk(terminal, r"\[pass/fail\] ", key)
    terminal.expect(
        f"\nrdc: {last} 1 Review\n" if code == 75 else r"\^C\nrdc: to continue: .*\nrdc: INTERRUPTED 1 Review\n"
    )
    assert terminal.close() == code
    assert place.run("answer", "1", "pass").code == 0, "it simply waits"


def test_question_has_no_mark_too_many(tmp_path: Path) -> None:
    asked = [("Is it good?", "yes/no"), ("Say so:", "pass/fail"), ("Look.", "pass/fail"), ("Good", "yes/no")]
    steps = {str(n): ask(str(n + 1), title=title, question=question) for n, (title, question) in enumerate(asked, 1)}
    terminal = screen(Place(tmp_path, program({**steps, "5": shell("true", "COMPLETE")})), "run")
    for n, (title, question) in enumerate(asked, 1):
        mark = ":" if title == "Good" else ""
        talk(terminal, re.escape(f"\n{n} {title}{mark} [{question}] "), "y\n")
    assert terminal.close() == 0


def test_prompt_of_a_command_is_shown_at_a_terminal_and_in_a_log(tmp_path: Path) -> None:
    step = shell("echo here", "2", prompt="one {N}\n\n\x1b[2J\n4\n5\n6\n7\n", placeholders={"{N}": "N"})
    place = Place(tmp_path, program({"1": step, "2": shell("true", "COMPLETE", prompt="a\nb\nc\nd\ne\nf")}, {"N": 3}))
    terminal = screen(place, "run", NO_COLOR="1")
    terminal.expect(r"1 Work\n    one 3\n\n    \?\[2J\n    4\n    5\n    6\n    7\nhere\n")
    terminal.expect(r"2 Work\n    a\n    b\n    c\n    d\n    e\n    f\n    PASS")
    assert terminal.close() == 0
    assert "1 Work\n    one 3\n\n    ?[2J\n    4\n    5\n" in place.run("run").err
    assert "\033[2m    one 3\033[0m\n" in seen_in_color(place)


def test_what_was_typed_before_the_question_is_no_answer(tmp_path: Path) -> None:
    place = Place(
        tmp_path,
        program({"1": shell("echo started; until test -e go; do sleep 0.02; done", "2"), "2": ask("COMPLETE")}),
    )
    terminal = screen(place, "run")
    talk(terminal, "started", "pass\n")
    terminal.expect("pass\n")  # the echo: the terminal has it
    (tmp_path / "go").touch()
    talk(terminal, r"\[pass/fail\] ", "f\n")
    terminal.expect("rdc: STOP")
    assert terminal.close() == 1


def test_command_can_read_from_the_terminal(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("read -p 'name? ' x; test \"$x\" = Ada", "2"), "2": ask("COMPLETE")}))
    terminal = screen(place, "run")
    talk(terminal, r"name\? ", "Ada\n", r"\[pass/fail\] ", "pass\n")
    assert terminal.close() == 0


@pytest.mark.parametrize(("answer", "code", "runs"), [("again", 0, 2), ("p", 0, 1), ("fail", 1, 1)])
def test_interrupted_step_is_asked_about(tmp_path: Path, answer: str, code: int, runs: int) -> None:
    command = "echo >> runs; test $(wc -l < runs) = 2 && exit; echo here; sleep 1000"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    terminal = screen(place, "run")
    talk(terminal, "here", "\x03")
    assert terminal.close() == 130
    terminal = screen(place, "resume")
    terminal.expect(r"1 Work was interrupted \(deploy\.runbook\.md:3\)")
    for nonsense in ("", "y", "no"):
        talk(terminal, r"\[pass/fail/again\] ", f"{nonsense}\n")
        terminal.expect("Please type pass, fail or again")
    talk(terminal, r"\[pass/fail/again\] ", f"{answer}\n")
    assert terminal.close() == code
    assert ("set by the operator" in terminal.seen) == (answer != "again")
    assert place.run("status").out.count(", as assumed") == (answer != "again")
    assert place.text("runs") == "\n" * runs


@pytest.mark.parametrize(("more", "color"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_color(tmp_path: Path, more: dict[str, str], color: bool) -> None:
    shown = seen_in_color(Place(tmp_path, program({"1": shell("true", "COMPLETE")})), **more)
    assert ("\033[" in shown) == color
    assert re.search(r"\[1/1\] \S*1 Work", shown)


def seen_in_color(place: Place, **more: str) -> str:
    """What a run shows at a terminal, with colors unless a variable forbids that."""
    rest = {key: value for key, value in place.environment().items() if key != "NO_COLOR"}
    terminal = Screen([sys.executable, str(place.script), "run"], place.path, {**rest, "TERM": "xterm", **more})
    assert terminal.close() == 0
    return terminal.seen


def test_hangup_of_the_terminal(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("echo $$ > pid; echo ready > ready; sleep 1000", "COMPLETE")}))
    terminal = screen(place, "run")
    place.wait_for("ready")
    assert terminal.hang_up() == 130
    wait_until(lambda: is_gone(int(place.text("pid"))), 5)


def test_stop_key_stops_the_runner_too_and_it_goes_on(tmp_path: Path) -> None:
    command = "sleep 0.3; echo here; until test -e go; do sleep 0.02; done; echo through"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    terminal = interactive(place, "run")
    talk(terminal, "here\n", "\x1a")
    terminal.expect("Stopped")
    terminal.expect("prompt> ")
    (tmp_path / "go").touch()
    terminal.type("jobs\n")
    terminal.expect("Stopped")
    assert place.walk() == []
    terminal.type("fg\n")
    terminal.expect("through\n")
    talk(terminal, "rdc: COMPLETE all done\nprompt> ", "exit\n")
    assert terminal.close() == 0


def test_runner_in_the_background_leaves_the_terminal_alone(tmp_path: Path) -> None:
    command = "sleep 0.2; echo begun > begun; until test -e go; do sleep 0.02; done"
    place = Place(tmp_path, program({"1": shell(command, "COMPLETE")}))
    terminal = interactive(place, "run &")
    terminal.expect("prompt> ")
    place.wait_for("begun")
    terminal.type("echo still''here\n")
    terminal.expect("stillhere\n")
    (tmp_path / "go").touch()
    talk(terminal, "rdc: COMPLETE", "exit\n")
    terminal.close()


def test_modes_that_a_command_left_behind_are_restored(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("sleep 0.3; stty -echo", "2"), "2": ask("COMPLETE")}))
    terminal = screen(place, "run")
    talk(terminal, r"\[pass/fail\] ", "pass\n")
    terminal.expect(r"^pass\n")
    assert terminal.close() == 0


def test_question_is_put_again_after_the_stop_key(tmp_path: Path) -> None:
    terminal = interactive(Place(tmp_path, program({"1": ask("COMPLETE")})), "run")
    talk(terminal, r"\[pass/fail\] ", "\x1a")
    terminal.expect("Stopped")
    talk(terminal, "prompt> ", "fg\n", r"Did 1 Review pass\? \[pass/fail\] ", "pass\n")
    talk(terminal, "rdc: COMPLETE all done\n", "exit\n")
    terminal.close()


def test_bytes_that_are_no_text_are_no_answer(tmp_path: Path) -> None:
    terminal = screen(Place(tmp_path, program({"1": ask("COMPLETE")})), "run", PYTHONIOENCODING="utf-8:strict")
    terminal.expect(r"\[pass/fail\] ")
    terminal.type(b"\xff\xfepass\n")
    terminal.expect("Please type pass or fail")
    talk(terminal, r"\[pass/fail\] ", "pass\n")
    assert terminal.close() == 0


def test_a_step_says_its_prompt_when_the_run_comes_into_it(tmp_path: Path) -> None:
    steps = {name: shell("true", good, group="2") for name, good in (("2.1", "2.2"), ("2.2", "COMPLETE"))}
    table = program(steps, groups={"2": {"title": "Migrate", "prompt": "Nobody may\nwrite now.\033[2J"}})
    shown = Place(tmp_path, table).run("run").err
    assert shown.count("Nobody may\n") == 1
    assert "2 Migrate\n    Nobody may\n    write now.?[2J\n[1/2] 2.1 Work\n" in shown


@pytest.mark.parametrize("title", ["100%", "%(prog)d 100%", "%(prog)s", "%"])
def test_a_title_and_a_source_are_shown_as_they_stand(tmp_path: Path, title: str) -> None:
    place = Place(tmp_path, program({"1": shell("true", "COMPLETE", at="new\nline.runbook.md:3")}, title=title))
    result = place.run("--help")
    assert result.code == 0
    assert title in result.out
    assert len(place.run("steps").out.splitlines()) == 2


@pytest.mark.parametrize("character", "\u061c\u200b\u202e\u2028\u0085\x1b\ufeff")
def test_characters_that_hide_or_steer_are_taken_out(character: str) -> None:
    assert clean(f"a{character}b") == "a?b"


def test_a_step_of_a_long_program_does_not_copy_its_counters() -> None:
    """The cost of a move must not grow with the number of counters."""

    def cost(count: int) -> float:
        registers = {f"{number} retries": 0 for number in range(count)}
        table = program({"1": shell("true", "1", do=[["1 retries", "+", 1]])}, registers=registers)
        begun = time.process_time()
        for _ in range(200):
            advance(table, "1", registers, "pass")
        return time.process_time() - begun

    cost(10)
    assert cost(100_000) < 20 * cost(10) + 0.1
