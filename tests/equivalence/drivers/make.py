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
from tests.equivalence.execution import Trial
from tests.equivalence.visits import Jump

NEWLINE = "\n"


def compare(trial: Trial) -> bool:
    """Run a case to its end."""
    if _write(trial):
        return _check(trial, _answered(trial))
    done = run(trial, ["make", *_inputs(trial), f"ANSWERS={trial.answers.name}"])
    check_waiting(trial, done)
    return _check(trial, done)


def _answered(trial: Trial) -> Done:
    """Run a Makefile that asks by itself: each question ends a call, and the next call answers it."""
    done = run(trial, ["make"])
    for number, (step, answer) in enumerate(trial.asked):
        same("what a run waits for", is_at(last_line(done.output), step), True, done.said)
        named = [f"STEP={_waiting(done)}"] if number % 3 else []
        done = run(trial, ["make", ["resume", "run"][number % 2], *named, f"REPLY={answer}"])
    return done


def _waiting(done: Done) -> str:
    """The step that a run waits at, as it is named for whoever answers."""
    return last_line(done.output).split()[2]


def compare_in_pieces(trial: Trial) -> bool:
    """Run a case without answers; each is recorded before another make goes on, or brought by that one.

    The operator jumps where the run waits, or has ended by STOP.
    """
    if _write(trial, "full" if trial.scenario.trace.jumps else "basic"):
        return _check(trial, _patient(trial))
    done = run(trial, ["make", *_inputs(trial)])
    number = -1
    for stop in trial.stops():
        _check_stop(done, stop.waiting if isinstance(stop, Jump) else stop.label)
        brought: list[str] = []
        if isinstance(stop, Jump):
            moved = run(trial, ["make", "goto", f"STEP={stop.step}", "BY=me"])
            same("the exit code of a jump", moved.code, 0, moved.said)
        else:
            number += 1
            step, answer = trial.asked[number]
            brought = [f"ANSWERS={trial.answer_file(number).name}"] if number % 2 else []
            if not brought:
                answered = run(trial, ["make", "answer", f"STEP={step}", f"REPLY={answer}"])
                same("the exit code of an answer", answered.code, 0, answered.said)
        done = run(trial, ["make", "resume", *brought])
    return _check(trial, done)


def _patient(trial: Trial) -> Done:
    """Run a Makefile that asks by itself; what is no answer changes nothing, and the question waits on."""
    done = run(trial, ["make", "-s"])
    for step, answer in trial.asked:
        same("what a run waits for", is_at(last_line(done.output), step), True, done.said)
        for wrong in (["REPLY=perhaps"], ["STEP=nowhere", f"REPLY={answer}"], ["ASSUME=pass"], []):
            again = run(trial, ["make", "resume", *wrong])
            said = "rdc: error: " if wrong else "rdc: WAITING"
            same("what is said to no answer", last_line(again.output)[: len(said)], said, again.said)
        done = run(trial, ["make", "-s", "resume", f"REPLY={answer}"])
    return done


def compare_killed(trial: Trial) -> bool:
    """Run a case whose loop is killed between any two of its actions, as often as there is luck; nothing runs twice."""
    return _write(trial) and Killed(trial).compare()


def compare_prompted(trial: Trial) -> bool:
    """Run a case in which nothing is executed: a person says what came of each command, and what it would write."""
    _write(trial, "full")
    done = run(trial, ["make", "PROMPTED=1", *_inputs(trial)])
    outcomes = dict(trial.scenario.trace.visits)
    for stop in trial.stops(is_prompted=True):
        _check_stop(done, stop.waiting if isinstance(stop, Jump) else stop.label)
        if isinstance(stop, Jump):
            done = run(trial, ["make", "goto", f"STEP={stop.step}"])
        else:
            answer = "pass" if outcomes[stop] else "fail"
            values = [f"VALUE={stop.beyond.writes.removesuffix(NEWLINE)}"] if stop.beyond.values else []
            done = run(trial, ["make", "answer", f"STEP={stop.label}", f"REPLY={answer}", *values])
        same("the exit code of an answer or a jump", done.code, 0, done.said)
        done = run(trial, ["make", "resume"])
    return _check(trial, done, is_prompted=True)


def compare_plain(trial: Trial) -> bool:
    """Run a case whose flow is a line by rules with stamp files; of a finished run, a second call runs nothing."""
    emission = load("make").emit(trial.program, {"form": "plain"})
    if emission.text is None:
        same("why there are no rules", {found.code for found in emission.diagnostics}, {"RD502"})
        return False
    (trial.folder / "Makefile").write_bytes(emission.text.encode())
    shown = run(trial, ["make", "-n"])
    same("what `make -n` runs", (shown.code, trial.log_lines), (0, []), shown.said)
    done = run(trial, ["make", "-s"])
    trial.check_rules(done.said)
    result, _, message = trial.end.partition(" ")
    same("whether make fails", bool(done.code), result == "STOP", done.said)
    if message and result == "STOP":  # an error, before make's own line
        lines = [line for line in done.said.split("\n") if not line.startswith("make: ")]
        same("the message", last_line("\n".join(lines)), message, done.said)
    elif message:
        same("the message", last_line(done.output), message, done.said)
    if result == "COMPLETE":
        again = run(trial, ["make", "-s"])
        same("what a finished run says again", (again.code, again.output), (0, f"{message}\n" if message else ""))
        trial.check_rules(again.said)
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


def _inputs(trial: Trial) -> list[str]:
    """The inputs: on make's command line, or in a file."""
    words, rest = [], {}
    for name, value in trial.inputs.items():
        if len(value) % 3:
            words.append(f"{name}={value}")
        else:
            rest[name] = value
    (trial.folder / "inputs").write_text(json.dumps(rest), encoding="utf-8")
    return [*words, "INPUTS=inputs"] if rest else words


def _write(trial: Trial, operator: str = "basic") -> bool:
    """Write the Makefile, and what it calls; whether it calls nothing."""
    emission = load("make").emit(trial.program, {"operator": operator})
    assert emission.text, "a task that the make target cannot express"
    (trial.folder / "Makefile").write_bytes(emission.text.encode())
    for companion in emission.companions:
        (trial.folder / companion.path).parent.mkdir(exist_ok=True)
        (trial.folder / companion.path).write_bytes(companion.text.encode())
    return not emission.companions


def _check(trial: Trial, done: Done, *, is_prompted: bool = False) -> bool:
    """Compare the log of the commands, the end and its message, and that make fails where it must."""
    if is_prompted:
        same("what a prompted run executes", (trial.folder / "log").read_text(encoding="utf-8"), "", done.said)
    else:
        trial.check_log(done.said)
    check_end(trial, last_line(done.output), done.said)
    same("whether make fails", bool(done.code), bool(trial.exit_code), done.said)
    trial.check_secrets(done.said)
    return True
