"""The generated Python program: with all answers at once, one after the other, and killed again and again."""

from __future__ import annotations

import json
import random
import sys

from tests.equivalence.difference import same
from tests.programs.cases import Json
from tests.programs.drivers.process import Done, killed, run
from tests.programs.trial import Trial, drop_repeated, go_back_to, is_plain

WAITING = 75
LONGEST_WORD = 100_000
"""Of a command line, about."""

KILLS = 4


def compare(trial: Trial) -> bool:
    """Run a case to its end."""
    as_json = not all(is_plain(reply) for _, reply in trial.asked)
    answers = ["--answers", str(trial.write_answers(as_json=as_json))]
    words = [*_program(trial), "run", *_given(trial), *_inputs(trial), *answers]
    return _check(trial, run(trial, words, _environment(trial)))


def compare_in_pieces(trial: Trial) -> bool:
    """Run a case without answers; each question is waited with, answered and gone on from."""
    program = _program(trial)
    done = run(trial, [*program, "run", *_given(trial), *_inputs(trial)], _environment(trial))
    for step, reply in trial.asked:
        same("the exit code of a run that waits", done.code, WAITING, done.said)
        same("what a run waits for", done.last.startswith(f"rdc: WAITING {step}"), True, done.said)
        words = [*program, "answer", *_events(trial), step]
        answered = run(trial, [*words, reply]) if is_plain(reply) else run(trial, [*words, "-"], given=f"{reply}\n")
        same("the exit code of an answer", answered.code, 0, answered.said)
        done = run(trial, [*program, "resume", *_given(trial)], _environment(trial))
    return _check(trial, done)


def compare_killed(trial: Trial) -> bool:
    """Run a case and kill all of it at random moments, a call among them; no step that has finished is done again."""
    moments = random.Random(trial.case.text)
    program, answers = _program(trial), ["--answers", str(trial.write_answers())]
    words = [*program, "run", *_given(trial), *_inputs(trial), *answers]
    done: Done | None = None
    for _ in range(KILLS):
        done = killed(trial, words, moments, _environment(trial))
        if done is not None:
            break
        count = finished(trial)
        go_back_to(trial, count or 0, answered(trial))
        if count is not None:
            words = [*program, "resume", "--rerun-interrupted", *_given(trial), *answers]
    done = done or run(trial, words, _environment(trial))
    drop_repeated(trial)
    return _check(trial, done, is_whole=False)


def _program(trial: Trial) -> list[str]:
    script = trial.folder / "program.py"
    script.write_bytes(trial.emitted("python").encode())
    return [sys.executable, str(script)]


def _given(trial: Trial) -> list[str]:
    words = _events(trial)
    words += [word for name, command in trial.agents.items() if name for word in ("--agent-for", f"{name}={command}")]
    return words + [word for name, command in trial.tools.items() for word in ("--tool", f"{name}={command}")]


def _events(trial: Trial) -> list[str]:
    return ["--events", str(trial.folder / "events")]


def _environment(trial: Trial) -> dict[str, str]:
    """The common agent is not given on the command line: there it would answer questions too."""
    return {"RDC_AGENT": trial.agents[""]} if "" in trial.agents else {}


def _inputs(trial: Trial) -> list[str]:
    words: list[str] = []
    for name, value in trial.case.inputs.items():
        path = trial.folder / f"input {name}"
        path.write_bytes(value.encode())
        by_file = value.startswith("@") or len(value) % 2 or "\0" in value or len(value) > LONGEST_WORD
        words += ["--input", f"{name}=@{path}" if by_file else f"{name}={value}"]
    return words


def _check(trial: Trial, done: Done, *, is_whole: bool = True) -> bool:
    """Compare the calls, the events, the end, the exit code and the last line."""
    trial.check_calls(done.said)
    trial.check_reports(trial.folder / ".rdc" / "program" / "reports", done.said)
    same("the exit code", done.code, 0 if (trial.trace.end or " ")[0] == "COMPLETE" else 1, done.said)
    trial.check_artifact(trial.folder / ".rdc" / "program", done.said)
    check_events(trial, done, is_whole=is_whole)
    return True


def check_events(trial: Trial, done: Done, *, is_whole: bool = True) -> None:
    """Compare the steps, and the end, with the events of a program; after kills, only the end."""
    path = trial.folder / "events"
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    finished = [(each["step"], each["attempt"], each["outcome"]) for each in events if each["event"] == "step_finished"]
    if is_whole:
        expected = [(visit.step, visit.attempt, visit.word) for visit in trial.trace.visits]
        same("the events", finished, expected, done.said)
    end = (str(events[-1]["result"]).upper(), events[-1]["message"])
    same("the end by the events", end, trial.trace.end, done.said)


# --- Kills ------------------------------------------------------------------------------------------------------------


def finished(trial: Trial) -> int | None:
    """How many steps the journal says have finished; None if there is no run."""
    records = _records(trial)
    return sum(record["kind"] == "done" for record in records) if records else None


def answered(trial: Trial) -> list[int]:
    """The entries of the step at work that have answered."""
    records = _records(trial)
    last = max((number for number, record in enumerate(records) if record["kind"] == "done"), default=0)
    return [record["entry"] for record in records[last:] if record["kind"] == "entry"]


def _records(trial: Trial) -> list[Json]:
    path = trial.folder / ".rdc" / "program" / "journal"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line.split(" ", 1)[1]) for line in text[: text.rfind("\n") + 1].splitlines()]
