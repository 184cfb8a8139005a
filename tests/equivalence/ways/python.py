"""The generated Python program, and the same runtime in place: with all answers at once, or one after the other."""

from __future__ import annotations

import json
import sys

from backends.registry import load
from tests.conftest import ROOT
from tests.equivalence.difference import same
from tests.equivalence.execution import Trial
from tests.equivalence.visits import Visit
from tests.equivalence.ways.process import Done, last_line, run

WAITING = 75


def compare(trial: Trial) -> bool:
    """Run a case to its end."""
    words = _program(trial)
    return _check(trial, run(trial, [*words, "run", *_events(trial), "--answers", str(trial.answers)]))


def compare_in_pieces(trial: Trial) -> bool:
    """Run a case without answers; each is recorded by a process before another one goes on, or brought by that one."""
    words = _program(trial)
    done = run(trial, [*words, "run", *_events(trial)])
    for number, (unit, answer) in enumerate(trial.asked):
        same("the exit code of a run that waits", done.code, WAITING, done.said)
        same("what a run waits for", last_line(done.errors).startswith(f"rdc: WAITING {unit}"), True, done.said)
        brought = ["--answers", str(trial.answer_file(number))] if number % 2 else []
        if not brought:
            answered = run(trial, [*words, "answer", *_events(trial), unit, answer])
            same("the exit code of an answer", answered.code, 0, answered.said)
        done = run(trial, [*words, "resume", *_events(trial), *brought])
    return _check(trial, done)


def compare_in_place(trial: Trial) -> bool:
    """Run the document by `rdc run`."""
    words = [sys.executable, "-m", "rdc", "run", f"./{trial.scenario.main}"]
    given = [*_events(trial), "--answers", str(trial.answers)]
    return _check(trial, run(trial, [*words, *given], {"PYTHONPATH": str(ROOT)}))


def _program(trial: Trial) -> list[str]:
    text = load("python").emit(trial.program, {}).text
    assert text, "a task that the python target cannot express"
    script = trial.folder / "program.py"
    script.write_bytes(text.encode())
    return [sys.executable, str(script)]


def _events(trial: Trial) -> list[str]:
    return ["--events", str(trial.folder / "events")]


def _check(trial: Trial, done: Done) -> bool:
    """Compare all that shows: the log of the commands, the events, the end, the exit code."""
    trial.check_log(done.said)
    text = (trial.folder / "events").read_text(encoding="utf-8")
    events = [json.loads(line) for line in text.splitlines()]
    finished = [
        (event["unit"], event["attempt"], event["instances"], event["outcome"])
        for event in events
        if event["event"] == "unit_finished"
    ]
    same("the events", finished, [_event(visit, passed) for visit, passed in trial.scenario.walk.visits], done.said)
    end = (str(events[-1]["result"]).upper(), events[-1]["message"])
    same("the end by the events", end, trial.scenario.walk.end, done.said)
    same("the exit code", done.code, trial.exit_code, done.said)
    same("the last line", last_line(done.errors), f"rdc: {trial.end}", done.said)
    return True


def _event(visit: Visit, passed: bool) -> object:
    """What the events say of a unit that was done, prompts too."""
    numbers = {"RDC_STEP_INSTANCE": visit.step_instance, "RDC_SUBSTEP_INSTANCE": visit.substep_instance}
    instances = {name: number for name, number in numbers.items() if number is not None}
    return visit.label, visit.attempt, instances, "pass" if passed else "fail"
