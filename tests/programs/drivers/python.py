"""The generated Python program: with all answers at once, one after the other, and killed again and again."""

from __future__ import annotations

import json
import random
import sys

from tests.equivalence.difference import same
from tests.programs.cases import Json
from tests.programs.drivers.process import Done, killed, run
from tests.programs.workspace import Workspace, drop_repeated, go_back_to, is_plain

WAITING = 75
LONGEST_WORD = 100_000
"""Of a command line, about."""

KILLS = 4


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    as_json = not all(is_plain(reply) for _, reply in workspace.asked)
    answers = ["--answers", str(workspace.write_answers(as_json=as_json))]
    words = [*_program(workspace), "run", *_given(workspace), *_inputs(workspace), *answers]
    return _check(workspace, run(workspace, words, _environment(workspace)))


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers; each question is waited with, answered and gone on from."""
    program = _program(workspace)
    done = run(workspace, [*program, "run", *_given(workspace), *_inputs(workspace)], _environment(workspace))
    for step, reply in workspace.asked:
        same("the exit code of a run that waits", done.code, WAITING, done.said)
        same("what a run waits for", done.last.startswith(f"rdc: WAITING {step}"), True, done.said)
        words = [*program, "answer", *_events(workspace), step]
        answered = (
            run(workspace, [*words, reply]) if is_plain(reply) else run(workspace, [*words, "-"], given=f"{reply}\n")
        )
        same("the exit code of an answer", answered.code, 0, answered.said)
        done = run(workspace, [*program, "resume", *_given(workspace)], _environment(workspace))
    return _check(workspace, done)


def compare_killed(workspace: Workspace) -> bool:
    """Run a case and kill all of it at random moments, a call among them; no step that has finished is done again."""
    moments = random.Random(workspace.case.text)
    program, answers = _program(workspace), ["--answers", str(workspace.write_answers())]
    words = [*program, "run", *_given(workspace), *_inputs(workspace), *answers]
    done: Done | None = None
    for _ in range(KILLS):
        done = killed(workspace, words, moments, _environment(workspace))
        if done is not None:
            break
        count = finished(workspace)
        go_back_to(workspace, count or 0, answered(workspace))
        if count is not None:
            words = [*program, "resume", "--rerun-interrupted", *_given(workspace), *answers]
    done = done or run(workspace, words, _environment(workspace))
    drop_repeated(workspace)
    return _check(workspace, done, is_whole=False)


def _program(workspace: Workspace) -> list[str]:
    script = workspace.folder / "program.py"
    script.write_bytes(workspace.emitted("python").encode())
    return [sys.executable, str(script)]


def _given(workspace: Workspace) -> list[str]:
    words = _events(workspace)
    words += [
        word for name, command in workspace.agents.items() if name for word in ("--agent-for", f"{name}={command}")
    ]
    return words + [word for name, command in workspace.tools.items() for word in ("--tool", f"{name}={command}")]


def _events(workspace: Workspace) -> list[str]:
    return ["--events", str(workspace.folder / "events")]


def _environment(workspace: Workspace) -> dict[str, str]:
    """The common agent is not given on the command line: there it would answer questions too."""
    return {"RDC_AGENT": workspace.agents[""]} if "" in workspace.agents else {}


def _inputs(workspace: Workspace) -> list[str]:
    words: list[str] = []
    for name, value in workspace.case.inputs.items():
        path = workspace.folder / f"input {name}"
        path.write_bytes(value.encode())
        by_file = value.startswith("@") or len(value) % 2 or "\0" in value or len(value) > LONGEST_WORD
        words += ["--input", f"{name}=@{path}" if by_file else f"{name}={value}"]
    return words


def _check(workspace: Workspace, done: Done, *, is_whole: bool = True) -> bool:
    """Compare the calls, the events, the end, the exit code and the last line."""
    workspace.check_calls(done.said)
    workspace.check_reports(workspace.folder / ".rdc" / "program" / "reports", done.said)
    same("the exit code", done.code, 0 if (workspace.trace.end or " ")[0] == "COMPLETE" else 1, done.said)
    workspace.check_artifact(workspace.folder / ".rdc" / "program", done.said)
    check_events(workspace, done, is_whole=is_whole)
    return True


def check_events(workspace: Workspace, done: Done, *, is_whole: bool = True) -> None:
    """Compare the steps, and the end, with the events of a program; after kills, only the end."""
    path = workspace.folder / "events"
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    finished = [(each["step"], each["attempt"], each["outcome"]) for each in events if each["event"] == "step_finished"]
    if is_whole:
        expected = [(visit.step, visit.attempt, visit.word) for visit in workspace.trace.visits]
        same("the events", finished, expected, done.said)
    end = (str(events[-1]["result"]).upper(), events[-1]["message"])
    same("the end by the events", end, workspace.trace.end, done.said)


# --- Kills ------------------------------------------------------------------------------------------------------------


def finished(workspace: Workspace) -> int | None:
    """How many steps the journal says have finished; None if there is no run."""
    records = _records(workspace)
    return sum(record["kind"] == "done" for record in records) if records else None


def answered(workspace: Workspace) -> list[int]:
    """The entries of the step at work that have answered."""
    records = _records(workspace)
    last = max((number for number, record in enumerate(records) if record["kind"] == "done"), default=0)
    return [record["entry"] for record in records[last:] if record["kind"] == "entry"]


def _records(workspace: Workspace) -> list[Json]:
    path = workspace.folder / ".rdc" / "program" / "journal"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line.split(" ", 1)[1]) for line in text[: text.rfind("\n") + 1].splitlines()]
