"""The generated Makefile, run by GNU make: with all answers at once, one after the other, or killed on the way.

A Makefile walks simple runbooks by itself, and asks one question after the other. For others, and wherever an operator
does something, it calls the program.
"""

from __future__ import annotations

import json

from backends.registry import load
from tests.equivalence.difference import same
from tests.equivalence.drivers.killed import Killed
from tests.equivalence.drivers.process import Done, check_end, check_waiting, is_at, last_line, run
from tests.equivalence.execution import Workspace
from tests.equivalence.visits import Jump

NEWLINE = "\n"


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    if _write(workspace):
        return _check(workspace, _answered(workspace))
    done = run(workspace, ["make", *_inputs(workspace), f"ANSWERS={workspace.answers.name}"])
    check_waiting(workspace, done)
    return _check(workspace, done)


def _answered(workspace: Workspace) -> Done:
    """Run a Makefile that asks by itself: each question ends a call, and the next call answers it."""
    done = run(workspace, ["make"])
    for number, (step, answer) in enumerate(workspace.asked):
        same("what a run waits for", is_at(last_line(done.output), step), True, done.said)
        named = [f"STEP={_waiting(done)}"] if number % 3 else []
        done = run(workspace, ["make", ["resume", "run"][number % 2], *named, f"REPLY={answer}"])
    return done


def _waiting(done: Done) -> str:
    """The step that a run waits at, as it is named for whoever answers."""
    return last_line(done.output).split()[2]


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers; each is recorded before another make goes on, or brought by that one.

    The operator jumps where the run waits, or has ended by STOP.
    """
    if _write(workspace, "full" if workspace.scenario.trace.jumps else "basic"):
        return _check(workspace, _patient(workspace))
    done = run(workspace, ["make", *_inputs(workspace)])
    number = -1
    for stop in workspace.stops():
        _check_stop(done, stop.waiting if isinstance(stop, Jump) else stop.label)
        brought: list[str] = []
        if isinstance(stop, Jump):
            moved = run(workspace, ["make", "goto", f"STEP={stop.step}", "BY=me"])
            same("the exit code of a jump", moved.code, 0, moved.said)
        else:
            number += 1
            step, answer = workspace.asked[number]
            brought = [f"ANSWERS={workspace.answer_file(number).name}"] if number % 2 else []
            if not brought:
                answered = run(workspace, ["make", "answer", f"STEP={step}", f"REPLY={answer}"])
                same("the exit code of an answer", answered.code, 0, answered.said)
        done = run(workspace, ["make", "resume", *brought])
    return _check(workspace, done)


def _patient(workspace: Workspace) -> Done:
    """Run a Makefile that asks by itself; what is no answer changes nothing, and the question waits on."""
    done = run(workspace, ["make", "-s"])
    for step, answer in workspace.asked:
        same("what a run waits for", is_at(last_line(done.output), step), True, done.said)
        for wrong in (["REPLY=perhaps"], ["STEP=nowhere", f"REPLY={answer}"], ["ASSUME=pass"], []):
            again = run(workspace, ["make", "resume", *wrong])
            said = "rdc: error: " if wrong else "rdc: WAITING"
            same("what is said to no answer", last_line(again.output)[: len(said)], said, again.said)
        done = run(workspace, ["make", "-s", "resume", f"REPLY={answer}"])
    return done


def compare_killed(workspace: Workspace) -> bool:
    """Run a case whose loop is killed between any two of its actions, as often as there is luck; nothing runs twice."""
    return _write(workspace) and Killed(workspace).compare()


def compare_prompted(workspace: Workspace) -> bool:
    """Run a case in which nothing is executed: a person says what came of each command, and what it would write."""
    _write(workspace, "full")
    done = run(workspace, ["make", "PROMPTED=1", *_inputs(workspace)])
    outcomes = dict(workspace.scenario.trace.visits)
    for stop in workspace.stops(is_prompted=True):
        _check_stop(done, stop.waiting if isinstance(stop, Jump) else stop.label)
        if isinstance(stop, Jump):
            done = run(workspace, ["make", "goto", f"STEP={stop.step}"])
        else:
            answer = "pass" if outcomes[stop] else "fail"
            values = [f"VALUE={stop.beyond.writes.removesuffix(NEWLINE)}"] if stop.beyond.values else []
            done = run(workspace, ["make", "answer", f"STEP={stop.label}", f"REPLY={answer}", *values])
        same("the exit code of an answer or a jump", done.code, 0, done.said)
        done = run(workspace, ["make", "resume"])
    return _check(workspace, done, is_prompted=True)


def compare_plain(workspace: Workspace) -> bool:
    """Run a case whose flow is a line by rules with stamp files; of a finished run, a second call runs nothing."""
    emission = load("make").emit(workspace.program, {"form": "plain"})
    if emission.text is None:
        same("why there are no rules", {found.code for found in emission.diagnostics}, {"RD502"})
        return False
    (workspace.folder / "Makefile").write_bytes(emission.text.encode())
    shown = run(workspace, ["make", "-n"])
    same("what `make -n` runs", (shown.code, workspace.log_lines), (0, []), shown.said)
    done = run(workspace, ["make", "-s"])
    workspace.check_rules(done.said)
    result, _, message = workspace.end.partition(" ")
    same("whether make fails", bool(done.code), result == "STOP", done.said)
    if message and result == "STOP":  # an error, before make's own line
        lines = [line for line in done.said.split("\n") if not line.startswith("make: ")]
        same("the message", last_line("\n".join(lines)), message, done.said)
    elif message:
        same("the message", last_line(done.output), message, done.said)
    if result == "COMPLETE":
        again = run(workspace, ["make", "-s"])
        same("what a finished run says again", (again.code, again.output), (0, f"{message}\n" if message else ""))
        workspace.check_rules(again.said)
    return True


def _check_stop(done: Done, waiting: str) -> None:
    """Compare where a run stops: with a step that waits, or after a STOP."""
    said = last_line(done.output)
    same(
        "what a run waits for",
        f"{said} ".startswith(f"rdc: WAITING {waiting} ") if waiting else said.startswith("rdc: STOP"),
        True,
        done.said,
    )
    same("whether make fails where a run waits", bool(done.code), True, done.said)


def _inputs(workspace: Workspace) -> list[str]:
    """The inputs: on make's command line, or in a file."""
    words, rest = [], {}
    for name, value in workspace.inputs.items():
        if len(value) % 3:
            words.append(f"{name}={value}")
        else:
            rest[name] = value
    (workspace.folder / "inputs").write_text(json.dumps(rest), encoding="utf-8")
    return [*words, "INPUTS=inputs"] if rest else words


def _write(workspace: Workspace, operator: str = "basic") -> bool:
    """Write the Makefile, and what it calls; whether it calls nothing."""
    emission = load("make").emit(workspace.program, {"operator": operator})
    assert emission.text, "a task that the make target cannot express"
    (workspace.folder / "Makefile").write_bytes(emission.text.encode())
    for companion in emission.companions:
        (workspace.folder / companion.path).parent.mkdir(exist_ok=True)
        (workspace.folder / companion.path).write_bytes(companion.text.encode())
    return not emission.companions


def _check(workspace: Workspace, done: Done, *, is_prompted: bool = False) -> bool:
    """Compare the log of the commands, the end and its message, and that make fails where it must."""
    if is_prompted:
        same("what a prompted run executes", (workspace.folder / "log").read_text(encoding="utf-8"), "", done.said)
    else:
        workspace.check_log(done.said)
    check_end(workspace, last_line(done.output), done.said)
    same("whether make fails", bool(done.code), bool(workspace.exit_code), done.said)
    workspace.check_secrets(done.said)
    return True
