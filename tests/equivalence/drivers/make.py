"""The generated Makefile, run by GNU make: with all answers at once, or one after the other."""

from __future__ import annotations

from backends.delegating import reason
from backends.registry import load
from tests.equivalence.difference import same
from tests.equivalence.drivers.process import Done, check_waiting, last_line, run
from tests.equivalence.execution import Trial
from tests.equivalence.visits import Jump


def compare(trial: Trial) -> bool:
    """Run a case to its end."""
    if not _write(trial):
        return False
    done = run(trial, ["make", f"ANSWERS={trial.answers.name}"])
    check_waiting(trial, done)
    return _check(trial, done)


def compare_in_pieces(trial: Trial) -> bool:
    """Run a case without answers; each is recorded before another make goes on, or brought by that one."""
    if not _write(trial):
        return False
    done = run(trial, ["make"])
    for number, stop in enumerate(trial.stops()):
        assert not isinstance(stop, Jump)
        same("what a run waits for", last_line(done.output), f"rdc: WAITING {stop.label}", done.said)
        same("whether make fails where a run waits", bool(done.code), True, done.said)
        step, answer = trial.asked[number]
        brought = [f"ANSWERS={trial.answer_file(number).name}"] if number % 2 else []
        if not brought:
            answered = run(trial, ["make", "answer", f"STEP={step}", f"REPLY={answer}"])
            same("the exit code of an answer", answered.code, 0, answered.said)
        done = run(trial, ["make", "resume", *brought])
    return _check(trial, done)


def _write(trial: Trial) -> bool:
    if reason(trial.program):
        return False
    text = load("make").emit(trial.program, {}).text
    assert text, "a task that the make target cannot express"
    (trial.folder / "Makefile").write_bytes(text.encode())
    return True


def _check(trial: Trial, done: Done) -> bool:
    """Compare the log of the commands, the end and its message, and that make fails where it must."""
    trial.check_log(done.said)
    same("the last line", last_line(done.output), f"rdc: {trial.end}", done.said)
    same("whether make fails", bool(done.code), bool(trial.exit_code), done.said)
    return True
