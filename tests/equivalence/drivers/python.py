"""The generated Python program, and the same runtime in place: with all answers at once, or one after the other."""

from __future__ import annotations

import json
import os
import sys

from backends.registry import load
from tests.conftest import ROOT
from tests.equivalence.difference import same
from tests.equivalence.drivers.process import Done, check_end, check_waiting, last_line, run
from tests.equivalence.execution import Workspace
from tests.equivalence.visits import Jump, Visit

WAITING = 75
UNFINISHED = ("ready", "waiting")


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    words = _program(workspace)
    done = run(
        workspace, [*words, "run", *_events(workspace), *_inputs(workspace), "--answers", str(workspace.answers)]
    )
    check_waiting(workspace, done)
    return _check(workspace, done)


def compare_script(workspace: Workspace) -> bool:
    """Run a case to its end by a program that keeps nothing, where it is not refused; False if it is."""
    emission = load("python").emit(workspace.program, {"runtime": "script"})
    if emission.text is None:
        same("why a script is refused", {one.code for one in emission.diagnostics}, {"RD502"}, "")
        return False
    script = workspace.folder / "script.py"
    script.write_bytes(emission.text.encode())
    done = run(workspace, [sys.executable, str(script), "--answers", str(workspace.answers)])
    workspace.check_log(done.said)
    same("the exit code", done.code, workspace.exit_code, done.said)
    check_end(workspace, last_line(done.errors), done.said)
    return True


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers; each is recorded by a process before another one goes on, or brought by that one.

    The operator jumps where the run waits, or has ended by STOP.
    """
    words = _program(workspace, "full")
    done = run(workspace, [*words, "run", *_events(workspace), *_inputs(workspace)])
    number = -1
    for stop in workspace.stops():
        waiting = stop.waiting if isinstance(stop, Jump) else stop.label
        _check_stop(done, waiting)
        brought: list[str] = []
        if isinstance(stop, Jump):
            moved = run(workspace, [*words, "goto", *_events(workspace), stop.step, "--by", "me"])
            same("the exit code of a jump", moved.code, 0, moved.said)
        else:
            number += 1
            step, answer = workspace.asked[number]
            brought = ["--answers", str(workspace.answer_file(number))] if number % 2 else []
            if not brought:
                answered = run(workspace, [*words, "answer", *_events(workspace), step, answer])
                same("the exit code of an answer", answered.code, 0, answered.said)
        done = run(workspace, [*words, "resume", *_events(workspace), *brought])
    return _check(workspace, done)


def compare_by_steps(workspace: Workspace) -> bool:
    """Run a case as a target does that calls the program: `open`, then a `step` for where the run stands."""
    words = _program(workspace)
    answers = ["--answers", str(workspace.answers)]
    done = run(workspace, [*words, "open", *_events(workspace), *_inputs(workspace)])
    while (facts := _facts(workspace, words))["state"] in UNFINISHED:
        done = run(workspace, [*words, "step", str(facts["step"]), *_events(workspace), *answers])
        after = _facts(workspace, words)
        if after["state"] in UNFINISHED:
            same("the exit code of a step", done.code, 0, done.said)
            same("whether a run has left its place", after["step"] == facts["step"], False, done.said)
    return _check(workspace, done)


def _facts(workspace: Workspace, words: list[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(run(workspace, [*words, "status", "--json"]).output)
    return found


def compare_prompted(workspace: Workspace) -> bool:
    """Run a case in which nothing is executed: a person says what came of each command, and what it would write."""
    words = _program(workspace, "full")
    done = run(workspace, [*words, "run", "--prompted", *_events(workspace), *_inputs(workspace)])
    outcomes = dict(workspace.scenario.trace.visits)
    for stop in workspace.stops(is_prompted=True):
        waiting = stop.waiting if isinstance(stop, Jump) else stop.label
        _check_stop(done, waiting)
        if isinstance(stop, Jump):
            done = run(workspace, [*words, "goto", *_events(workspace), stop.step])
        else:
            answer = "pass" if outcomes[stop] else "fail"
            values = [word for name, value in stop.beyond.given for word in ("--value", f"{name}={value}")]
            done = run(workspace, [*words, "answer", *_events(workspace), stop.label, answer, *values])
        same("the exit code of an answer or a jump", done.code, 0, done.said)
        done = run(workspace, [*words, "resume", *_events(workspace)])
    return _check(workspace, done, is_prompted=True)


def _check_stop(done: Done, waiting: str) -> None:
    """Compare where a run stops: with a step that waits, or after a STOP."""
    same("the exit code of a run that waits, or has stopped", done.code, WAITING if waiting else 1, done.said)
    said = f"rdc: WAITING {waiting}" if waiting else "rdc: STOP"
    same("what a run waits for", last_line(done.errors).startswith(said), True, done.said)


def compare_in_place(workspace: Workspace) -> bool:
    """Run the document by `rdc run`."""
    words = [sys.executable, "-m", "rdc", "run", f"./{workspace.scenario.main}"]
    given = [*_events(workspace), *_inputs(workspace), "--answers", str(workspace.answers)]
    return _check(
        workspace,
        run(workspace, [*words, *given], {"PYTHONPATH": f"{ROOT}{os.pathsep}{workspace.environment['PYTHONPATH']}"}),
    )


def _program(workspace: Workspace, operator: str = "basic") -> list[str]:
    text = load("python").emit(workspace.program, {"operator": operator}).text
    assert text, "a task that the python target cannot express"
    script = workspace.folder / "program.py"
    script.write_bytes(text.encode())
    return [sys.executable, str(script)]


def _events(workspace: Workspace) -> list[str]:
    return ["--events", str(workspace.folder / "events")]


def _inputs(workspace: Workspace) -> list[str]:
    """The inputs: on the command line, each in a file of its own, or in one for all that are left."""
    words, rest = [], {}
    for number, (name, value) in enumerate(workspace.inputs.items()):
        path = workspace.folder / f"input {name}"
        path.write_bytes(value.encode())
        if (kind := (number + len(value)) % 3) == 2:
            rest[name] = value
        else:
            words += ["--input", f"{name}={value}" if kind else f"{name}=@{path}"]
    (workspace.folder / "inputs.json").write_text(json.dumps(rest), encoding="utf-8")
    return [*words, "--inputs", str(workspace.folder / "inputs.json")] if rest else words


def _check(workspace: Workspace, done: Done, *, is_prompted: bool = False) -> bool:
    """Compare all that shows: the log of the commands, the events, the end, the exit code."""
    if is_prompted:
        same("what a prompted run executes", (workspace.folder / "log").read_text(encoding="utf-8"), "", done.said)
    else:
        workspace.check_log(done.said)
    text = (workspace.folder / "events").read_text(encoding="utf-8")
    events = [json.loads(line) for line in text.splitlines()]
    finished = [
        (event["step"], event["attempt"], event["instances"], event["outcome"])
        for event in events
        if event["event"] == "step_finished"
    ]
    same(
        "the events", finished, [_event(visit, passed) for visit, passed in workspace.scenario.trace.visits], done.said
    )
    end = (str(events[-1]["result"]).upper(), events[-1]["message"])
    same("the end by the events", end, workspace.scenario.trace.end, done.said)
    same("the exit code", done.code, workspace.exit_code, done.said)
    check_end(workspace, last_line(done.errors), done.said)
    workspace.check_secrets(done.said, text)
    return True


def _event(visit: Visit, passed: bool) -> object:
    """What the events say of a step that was done, prompts too."""
    numbers = {"RDC_STEP_INSTANCE": visit.step_instance, "RDC_SUBSTEP_INSTANCE": visit.substep_instance}
    instances = {name: number for name, number in numbers.items() if number is not None}
    return visit.label, visit.attempt, instances, "pass" if passed else "fail"
