"""The generated Python program, and the same runtime in place: at once, step by step, by hand, and killed."""

from __future__ import annotations

import json
import os
import random
import sys

from tests.differential.case import Json, Visit, same
from tests.differential.drivers.process import Done, check_end, killed, run
from tests.differential.drivers.retry import check_retry
from tests.differential.drivers.workspace import Workspace, answer_lines, drop_repeated, errors, go_back_to, is_plain
from tests.support.process import ROOT

WAITING = 75
UNFINISHED = ("ready", "waiting")
LONGEST_WORD = 100_000
"""Of a command line, about."""

KILLS = 4


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    words = [
        *_program(workspace, workspace.either("basic", "full")),
        "run",
        *given(workspace),
        *inputs(workspace),
        *_answers(workspace),
    ]
    _check(workspace, run(workspace, words, environment(workspace)))
    check_retry(workspace, [*words[: words.index("run")], "retry", *given(workspace)], environment(workspace))
    return True


def compare_script(workspace: Workspace) -> bool:
    """Run a case to its end by a program that keeps nothing, where it is not refused; False if it is."""
    emission = workspace.emission("python", {"runtime": "script"})
    if emission.text is None:
        same("why a script is refused", {one.code for one in errors(emission)}, {"RD502"})
        return False
    script = workspace.folder / "script.py"
    script.write_bytes(emission.text.encode())
    done = run(workspace, [sys.executable, str(script), "--answers", str(workspace.write_answers())])
    workspace.check_calls(done.printed)
    same("the exit code", done.code, workspace.exit_code, done.printed)
    check_end(workspace, done.last, done.printed)
    return True


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers; each is recorded by a process before another one goes on, or brought by that one.

    The operator jumps where the run waits, or has ended by STOP.
    """
    program = _program(workspace)
    done = run(workspace, [*program, "run", *given(workspace), *inputs(workspace)], environment(workspace))
    for number, stop in enumerate(workspace.stops()):
        _check_stop(done, stop.waiting)
        brought: list[str] = []
        if stop.jump:
            moved = run(workspace, [*program, "goto", *_events(workspace), stop.jump, "--by", "me"])
            same("the exit code of a jump", moved.code, 0, moved.printed)
        elif is_plain(stop.reply) and number % 2:
            file = workspace.folder / f"answer {number}"
            file.write_bytes(("\n" * number + answer_lines(stop.waiting, stop.reply)).encode())
            brought = ["--answers", str(file)]
        else:
            words = [*program, "answer", *_events(workspace), stop.waiting]
            plain = is_plain(stop.reply)
            answered = run(workspace, [*words, stop.reply if plain else "-"], given="" if plain else f"{stop.reply}\n")
            same("the exit code of an answer", answered.code, 0, answered.printed)
        done = run(workspace, [*program, "resume", *given(workspace), *brought], environment(workspace))
    return _check(workspace, done)


def compare_by_steps(workspace: Workspace) -> bool:
    """Run a case as a target does that calls the program: `open`, then a `step` for where the run stands."""
    program, answers = _program(workspace, "basic"), _answers(workspace)
    done = run(workspace, [*program, "open", *_events(workspace), *inputs(workspace)])
    while (facts := _facts(workspace, program))["state"] in UNFINISHED:
        done = run(
            workspace, [*program, "step", str(facts["step"]), *given(workspace), *answers], environment(workspace)
        )
        after = _facts(workspace, program)
        if after["state"] in UNFINISHED:
            same("the exit code of a step", done.code, 0, done.printed)
            same("whether a run has left its place", after["step"] == facts["step"], False, done.printed)
    return _check(workspace, done)


def _facts(workspace: Workspace, program: list[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(run(workspace, [*program, "status", "--json"]).output)
    return found


def compare_prompted(workspace: Workspace) -> bool:
    """Run a case in which nothing is executed: a person gives what came of each command, and what it would write."""
    program = _program(workspace)
    done = run(workspace, [*program, "run", "--prompted", *_events(workspace), *inputs(workspace)])
    for stop in workspace.stops(is_prompted=True):
        _check_stop(done, stop.waiting)
        if stop.jump:
            done = run(workspace, [*program, "goto", *_events(workspace), stop.jump])
        else:
            values = [word for name, value in stop.values.items() for word in ("--value", f"{name}={value}")]
            done = run(workspace, [*program, "answer", *_events(workspace), stop.waiting, stop.reply, *values])
        same("the exit code of an answer or a jump", done.code, 0, done.printed)
        done = run(workspace, [*program, "resume", *_events(workspace)])
    return _check(workspace, done, is_prompted=True)


def compare_in_place(workspace: Workspace) -> bool:
    """Run the document by `rdc run`."""
    for path, text in workspace.case.documents.items():
        (workspace.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace.folder / path).write_bytes(text.encode())
    main = next(iter(workspace.case.documents))
    words = [
        sys.executable,
        "-m",
        "rdc",
        "run",
        f"./{main}",
        *given(workspace),
        *inputs(workspace),
        *_answers(workspace),
    ]
    path = f"{ROOT}{os.pathsep}{workspace.environment.get('PYTHONPATH', '')}"
    return _check(workspace, run(workspace, words, {**environment(workspace), "PYTHONPATH": path}))


def compare_killed(workspace: Workspace) -> bool:
    """Run a case and kill all of it at random moments, a call among them; no step that has finished is done again."""
    moments = random.Random(workspace.case.text)
    program, answers = _program(workspace), _answers(workspace)
    words = [*program, "run", *given(workspace), *inputs(workspace), *answers]
    done: Done | None = None
    for _ in range(KILLS):
        done = killed(workspace, words, moments, environment(workspace))
        if done is not None:
            break
        count = finished(workspace)
        go_back_to(workspace, count or 0, answered_entries(workspace))
        if count is not None:
            words = [*program, "resume", "--rerun-interrupted", *given(workspace), *answers]
    done = done or run(workspace, words, environment(workspace))
    drop_repeated(workspace)
    return _check(workspace, done, is_whole=False)


def _check_stop(done: Done, waiting: str) -> None:
    """Compare where a run stops: with a step that waits, or after a STOP."""
    same("the exit code of a run that waits, or has stopped", done.code, WAITING if waiting else 1, done.printed)
    line = f"rdc: WAITING {waiting}" if waiting else "rdc: STOP"
    same("what a run waits for", done.last.startswith(line), True, done.printed)


def _program(workspace: Workspace, operator: str = "full") -> list[str]:
    script = workspace.folder / "program.py"
    script.write_bytes(workspace.emitted("python", workspace.with_operator(operator)).encode())
    return [sys.executable, str(script)]


def _answers(workspace: Workspace) -> list[str]:
    as_json = not all(is_plain(reply) for _, reply in workspace.asked)
    return ["--answers", str(workspace.write_answers(as_json=as_json))]


def given(workspace: Workspace) -> list[str]:
    """The words that name agents and tools."""
    words = _events(workspace)
    words += [
        word for name, command in workspace.agents.items() if name for word in ("--agent-for", f"{name}={command}")
    ]
    return words + [word for name, command in workspace.tools.items() for word in ("--tool", f"{name}={command}")]


def _events(workspace: Workspace) -> list[str]:
    return ["--events", str(workspace.folder / "events")]


def environment(workspace: Workspace) -> dict[str, str]:
    """The common agent is not given on the command line: there it would answer questions too."""
    return {"RDC_AGENT": workspace.agents[""]} if "" in workspace.agents else {}


def inputs(workspace: Workspace) -> list[str]:
    """The inputs: on the command line, each in a file of its own, or in one for all that are left."""
    words, rest = [], {}
    for number, (name, value) in enumerate(workspace.case.inputs.items()):
        path = workspace.folder / f"input {name}"
        path.write_bytes(value.encode())
        by_file = value.startswith("@") or "\0" in value or len(value) > LONGEST_WORD
        if (kind := (number + len(value)) % 3) == 2 and not by_file:
            rest[name] = value
        else:
            words += ["--input", f"{name}={value}" if kind and not by_file else f"{name}=@{path}"]
    (workspace.folder / "inputs.json").write_text(json.dumps(rest), encoding="utf-8")
    return [*words, "--inputs", str(workspace.folder / "inputs.json")] if rest else words


def _check(workspace: Workspace, done: Done, *, is_whole: bool = True, is_prompted: bool = False) -> bool:
    """Compare the calls, the events, the end, the exit code, what is left, and that no secret shows."""
    if is_prompted:
        same("what a prompted run executes", workspace.lines(), [], done.printed)
    else:
        workspace.check_calls(done.printed)
    workspace.check_reports(workspace.state / "reports", done.printed)
    same("the exit code", done.code, workspace.exit_code, done.printed)
    workspace.check_artifact(workspace.state, done.printed)
    check_events(workspace, done, is_whole=is_whole)
    check_end(workspace, done.last, done.printed)
    workspace.check_secrets(done.printed, (workspace.folder / "events").read_text(encoding="utf-8"))
    return True


def check_events(workspace: Workspace, done: Done, *, is_whole: bool = True) -> None:
    """Compare the steps, and the end, with the events of a program; after kills, only the end."""
    path = workspace.folder / "events"
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if is_whole:
        check_steps(workspace, [each for each in events if each["event"] == "step_finished"], done.printed)
    end = (str(events[-1]["result"]).upper(), events[-1]["message"])
    same("the end by the events", end, workspace.trace.end, done.printed)


def check_steps(workspace: Workspace, finished: list[Json], output: str) -> None:
    """Compare the steps that a target calls finished."""
    found = [(each["step"], each["attempt"], each["instances"], each["outcome"]) for each in finished]
    visits = workspace.trace.visits
    unknown = {place for place, visit in enumerate(visits) if visit.instances is None}
    got = [(*each[:2], None if place in unknown else each[2], each[3]) for place, each in enumerate(found)]
    same("the steps", got, [_step(visit) for visit in visits], output)


def _step(visit: Visit) -> object:
    return visit.step, visit.attempt, None if visit.instances is None else dict(visit.instances), visit.word


# --- Kills ------------------------------------------------------------------------------------------------------------


def finished(workspace: Workspace) -> int | None:
    """How many steps the journal calls finished; None if there is no run."""
    records = _records(workspace)
    return sum(record["kind"] == "done" for record in records) if records else None


def answered_entries(workspace: Workspace) -> list[int]:
    """The entries of the step at work that have answered."""
    records = _records(workspace)
    last = max((number for number, record in enumerate(records) if record["kind"] == "done"), default=0)
    return [record["entry"] for record in records[last:] if record["kind"] == "entry"]


def _records(workspace: Workspace) -> list[Json]:
    path = workspace.state / "journal"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line.split(" ", 1)[1]) for line in text[: text.rfind("\n") + 1].splitlines()]
