"""The generated workflow whose questions reviewers answer, without a program: its path, re-runs, missing reviews."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compiler.ir.tasks import Ask
from tests.equivalence.difference import DifferenceError, same
from tests.equivalence.drivers.github import NEXT_ANSWER, Ran
from tests.equivalence.execution import Trial, errors
from tests.equivalence.scenario import FOLDER_VARIABLE
from tests.equivalence.visits import Trace
from tests.support import actions_engine as engine
from tests.support.github import act
from tests.support.github.native import AGAIN, REVIEWERS
from tests.support.github.reviews import reviewed, stand_in

REFUSED = "RD520"
USUAL, OTHER = "approval", "production"
DECISION = f"{NEXT_ANSWER} | sed 's/pass/approved/; s/fail/rejected/'"


def compare(trial: Trial) -> bool:
    """Run a case by the second engine, again, and without reviews."""
    text = _workflow(trial, _places(trial))
    if text is None:
        return False
    ran = _run(trial, text, environments=_decisions(trial))
    _check(trial, ran)
    if not trial.scenario.is_tabled:
        _again(trial, text)
        _without_reviews(trial, text)
    return True


def compare_by_act(trial: Trial) -> bool:
    """Run a case by act, which has no environments: who reviews is asked at the beginning of the job."""
    text = _workflow(trial, {})
    if text is None:
        return False
    decided = reviewed(text, DECISION) if "environment: " in text else text
    with stand_in() as reviews:
        env = {FOLDER_VARIABLE: str(trial.folder), "ARTIFACTS": str(trial.folder / "artifacts")}
        _check(trial, act.run(trial.folder, decided, env=env, api_url=reviews.url))
    return True


def _places(trial: Trial) -> Mapping[str, str]:
    """The environments of questions that are not in the usual one."""
    asks = [node.id for node in trial.program.nodes if isinstance(node.task, Ask)]
    return {name: OTHER for name in asks if zlib.crc32(name.encode()) % 3 == 0}


def _decisions(trial: Trial) -> dict[str, list[str]]:
    """What reviewers decide about each environment, in order."""
    places, found = _places(trial), dict[str, list[str]]({USUAL: [], OTHER: []})
    for step, answer in trial.asked:
        found[places.get(step, USUAL)].append("approved" if answer == "pass" else "rejected")
    return found


def _workflow(trial: Trial, places: Mapping[str, str]) -> str | None:
    """The workflow of a trial; None where reviewers cannot answer."""
    steps = {name: {"approval-environment": place} for name, place in places.items()}
    options = {"checkout": False, "prompts": "environment", **({"steps": steps} if steps else {})}
    emission = trial.documents.emission("github", options)
    if emission.text is None:
        same("why reviewers cannot answer", {found.code for found in errors(emission)}, {REFUSED})
        return None
    same("the files beside the workflow", [found.path for found in emission.companions], [])
    return emission.text


def _run(trial: Trial, text: str, **given: Any) -> engine.EngineRun:
    try:
        return engine.run(
            trial.folder,
            text,
            history=trial.folder / "history",
            env={FOLDER_VARIABLE: str(trial.folder)},
            by_table=trial.scenario.is_tabled,
            **given,
        )
    except engine.RefusedError as refused:
        raise DifferenceError("what the engine says", str(refused), "a path") from refused


def _check(trial: Trial, ran: Ran) -> None:
    """Compare the commands, the end with its message, and whether the run fails."""
    trial.check_log(ran.log)
    said = _said(ran.summary)
    word = "STOP" if ran.exit_code else "COMPLETE"
    same("the end", said or word, trial.end if said else trial.end.split(" ")[0], ran.log)
    same("whether a message is said", bool(said) or " " not in trial.end, True, ran.log)
    same("whether the run fails", bool(ran.exit_code), bool(trial.exit_code), ran.log)


def _said(summary: str) -> str:
    """The end as the summary has it, in its last line."""
    last = (summary.splitlines() or [""])[-1]
    is_end = re.match(r"(COMPLETE|STOP)\b", last)
    return " ".join(re.sub(r"\\(.)", r"\1", last).split()) if is_end else ""


def _again(trial: Trial, text: str) -> None:
    """A further attempt runs nothing and fails."""
    if not any(isinstance(node.task, Ask) for node in trial.program.nodes):
        return
    before = trial.log_lines
    ran = _run(trial, text, environments={USUAL: ["approved"] * 9, OTHER: ["approved"] * 9}, rerun="all")
    same("what a further attempt runs", trial.log_lines, before, ran.log)
    same("how a further attempt ends", ran.conclusion, "failure", ran.log)
    same("whether it says why", AGAIN in _errors(ran), True, ran.log)


def _without_reviews(trial: Trial, text: str) -> None:
    """Where nobody has approved, the run ends at the question: neither YES nor NO."""
    for asked, kind in _kinds(trial):
        stopped = trial.again(_until(trial, asked))
        ran = _run(stopped, text, **kind)
        stopped.check_log(ran.log)
        same("how a run without an approval ends", ran.conclusion, "failure", ran.log)
        same("whether it says why", REVIEWERS in _errors(ran), True, ran.log)
        same("what it says to be the end", _said(ran.summary), "", ran.log)
        no = [job.result for name, job in ran.jobs.items() if name.startswith("rejected_")]
        same("what becomes of NO", set(no), {"skipped"}, ran.log)


def _kinds(trial: Trial) -> Iterator[tuple[int, dict[str, Any]]]:
    """Runs without an approval, each with the number of the question at which it has to end."""
    decisions, places = _decisions(trial), _places(trial)
    if not trial.asked:
        return
    approved = {place: ["approved"] * len(each) for place, each in decisions.items()}
    yield 0, {"environments": approved, "failing": {"approvals": (0, 200, 503)[len(trial.asked) % 3]}}
    yield 0, {"environments": {}, "unprotected": [USUAL, OTHER], "failing": {"environments": 503}}
    last = len(trial.asked) - 1
    place = places.get(trial.asked[last][0], USUAL)
    yield last, {"environments": {**decisions, place: [*decisions[place][:-1], "bypassed"]}}


def _until(trial: Trial, asked: int) -> Trace:
    """The path up to a question."""
    visits = trial.scenario.trace.visits
    questions = [index for index, (visit, _) in enumerate(visits) if not visit.is_command]
    return replace(trial.scenario.trace, visits=visits[: questions[asked]], end=None)


def _errors(ran: engine.EngineRun) -> str:
    return "\n".join(message for job in ran.jobs.values() for _, _, message in job.annotations)
