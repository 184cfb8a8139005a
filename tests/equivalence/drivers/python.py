"""The generated Python program, and the same runtime in place: with all answers at once, or one after the other."""

from __future__ import annotations

import json
import os
import sys

from backends.registry import load
from tests.conftest import ROOT
from tests.equivalence.difference import same
from tests.equivalence.drivers.process import Done, check_end, check_waiting, last_line, run
from tests.equivalence.execution import Trial
from tests.equivalence.visits import Jump, Visit

WAITING = 75
UNFINISHED = ("ready", "waiting")


def compare(trial: Trial) -> bool:
    """Run a case to its end."""
    words = _program(trial)
    done = run(trial, [*words, "run", *_events(trial), *_inputs(trial), "--answers", str(trial.answers)])
    check_waiting(trial, done)
    return _check(trial, done)


def compare_script(trial: Trial) -> bool:
    """Run a case to its end by a program that keeps nothing, where it is not refused; False if it is."""
    emission = load("python").emit(trial.program, {"runtime": "script"})
    if emission.text is None:
        same("why a script is refused", {one.code for one in emission.diagnostics}, {"RD502"}, "")
        return False
    script = trial.folder / "script.py"
    script.write_bytes(emission.text.encode())
    done = run(trial, [sys.executable, str(script), "--answers", str(trial.answers)])
    trial.check_log(done.said)
    same("the exit code", done.code, trial.exit_code, done.said)
    check_end(trial, last_line(done.errors), done.said)
    return True


def compare_in_pieces(trial: Trial) -> bool:
    """Run a case without answers; each is recorded by a process before another one goes on, or brought by that one.

    The operator jumps where the run waits, or has ended by STOP.
    """
    words = _program(trial, "full")
    done = run(trial, [*words, "run", *_events(trial), *_inputs(trial)])
    number = -1
    for stop in trial.stops():
        waiting = stop.waiting if isinstance(stop, Jump) else stop.label
        _check_stop(done, waiting)
        brought: list[str] = []
        if isinstance(stop, Jump):
            moved = run(trial, [*words, "goto", *_events(trial), stop.step, "--by", "me"])
            same("the exit code of a jump", moved.code, 0, moved.said)
        else:
            number += 1
            step, answer = trial.asked[number]
            brought = ["--answers", str(trial.answer_file(number))] if number % 2 else []
            if not brought:
                answered = run(trial, [*words, "answer", *_events(trial), step, answer])
                same("the exit code of an answer", answered.code, 0, answered.said)
        done = run(trial, [*words, "resume", *_events(trial), *brought])
    return _check(trial, done)


def compare_by_steps(trial: Trial) -> bool:
    """Run a case as a target does that calls the program: `open`, then a `step` for where the run stands."""
    words = _program(trial)
    answers = ["--answers", str(trial.answers)]
    done = run(trial, [*words, "open", *_events(trial), *_inputs(trial)])
    while (facts := _facts(trial, words))["state"] in UNFINISHED:
        done = run(trial, [*words, "step", str(facts["step"]), *_events(trial), *answers])
        after = _facts(trial, words)
        if after["state"] in UNFINISHED:
            same("the exit code of a step", done.code, 0, done.said)
            same("whether a run has left its place", after["step"] == facts["step"], False, done.said)
    return _check(trial, done)


def _facts(trial: Trial, words: list[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(run(trial, [*words, "status", "--json"]).output)
    return found


def compare_prompted(trial: Trial) -> bool:
    """Run a case in which nothing is executed: a person says what came of each command, and what it would write."""
    words = _program(trial, "full")
    done = run(trial, [*words, "run", "--prompted", *_events(trial), *_inputs(trial)])
    outcomes = dict(trial.scenario.trace.visits)
    for stop in trial.stops(is_prompted=True):
        waiting = stop.waiting if isinstance(stop, Jump) else stop.label
        _check_stop(done, waiting)
        if isinstance(stop, Jump):
            done = run(trial, [*words, "goto", *_events(trial), stop.step])
        else:
            answer = "pass" if outcomes[stop] else "fail"
            values = [word for name, value in stop.beyond.given for word in ("--value", f"{name}={value}")]
            done = run(trial, [*words, "answer", *_events(trial), stop.label, answer, *values])
        same("the exit code of an answer or a jump", done.code, 0, done.said)
        done = run(trial, [*words, "resume", *_events(trial)])
    return _check(trial, done, is_prompted=True)


def _check_stop(done: Done, waiting: str) -> None:
    """Compare where a run stops: with a step that waits, or after a STOP."""
    same("the exit code of a run that waits, or has stopped", done.code, WAITING if waiting else 1, done.said)
    said = f"rdc: WAITING {waiting}" if waiting else "rdc: STOP"
    same("what a run waits for", last_line(done.errors).startswith(said), True, done.said)


def compare_in_place(trial: Trial) -> bool:
    """Run the document by `rdc run`."""
    words = [sys.executable, "-m", "rdc", "run", f"./{trial.scenario.main}"]
    given = [*_events(trial), *_inputs(trial), "--answers", str(trial.answers)]
    return _check(
        trial, run(trial, [*words, *given], {"PYTHONPATH": f"{ROOT}{os.pathsep}{trial.environment['PYTHONPATH']}"})
    )


def _program(trial: Trial, operator: str = "basic") -> list[str]:
    text = load("python").emit(trial.program, {"operator": operator}).text
    assert text, "a task that the python target cannot express"
    script = trial.folder / "program.py"
    script.write_bytes(text.encode())
    return [sys.executable, str(script)]


def _events(trial: Trial) -> list[str]:
    return ["--events", str(trial.folder / "events")]


def _inputs(trial: Trial) -> list[str]:
    """The inputs: on the command line, each in a file of its own, or in one for all that are left."""
    words, rest = [], {}
    for number, (name, value) in enumerate(trial.inputs.items()):
        path = trial.folder / f"input {name}"
        path.write_bytes(value.encode())
        if (kind := (number + len(value)) % 3) == 2:
            rest[name] = value
        else:
            words += ["--input", f"{name}={value}" if kind else f"{name}=@{path}"]
    (trial.folder / "inputs.json").write_text(json.dumps(rest), encoding="utf-8")
    return [*words, "--inputs", str(trial.folder / "inputs.json")] if rest else words


def _check(trial: Trial, done: Done, *, is_prompted: bool = False) -> bool:
    """Compare all that shows: the log of the commands, the events, the end, the exit code."""
    if is_prompted:
        same("what a prompted run executes", (trial.folder / "log").read_text(encoding="utf-8"), "", done.said)
    else:
        trial.check_log(done.said)
    text = (trial.folder / "events").read_text(encoding="utf-8")
    events = [json.loads(line) for line in text.splitlines()]
    finished = [
        (event["step"], event["attempt"], event["instances"], event["outcome"])
        for event in events
        if event["event"] == "step_finished"
    ]
    same("the events", finished, [_event(visit, passed) for visit, passed in trial.scenario.trace.visits], done.said)
    end = (str(events[-1]["result"]).upper(), events[-1]["message"])
    same("the end by the events", end, trial.scenario.trace.end, done.said)
    same("the exit code", done.code, trial.exit_code, done.said)
    check_end(trial, last_line(done.errors), done.said)
    trial.check_secrets(done.said, text)
    return True


def _event(visit: Visit, passed: bool) -> object:
    """What the events say of a step that was done, prompts too."""
    numbers = {"RDC_STEP_INSTANCE": visit.step_instance, "RDC_SUBSTEP_INSTANCE": visit.substep_instance}
    instances = {name: number for name, number in numbers.items() if number is not None}
    return visit.label, visit.attempt, instances, "pass" if passed else "fail"
