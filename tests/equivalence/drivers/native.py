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
from tests.equivalence.execution import Workspace, errors
from tests.equivalence.scenario import FOLDER_VARIABLE
from tests.equivalence.visits import Trace
from tests.support import actions_engine as engine
from tests.support.github import act
from tests.support.github.native import AGAIN, REVIEWERS
from tests.support.github.reviews import reviewed, stub

REFUSED = "RD520"
USUAL, OTHER = "approval", "production"
DECISION = f"{NEXT_ANSWER} | sed 's/pass/approved/; s/fail/rejected/'"


def compare(workspace: Workspace) -> bool:
    """Run a case by the second engine, again, and without reviews."""
    text = _workflow(workspace, _places(workspace))
    if text is None:
        return False
    ran = _run(workspace, text, environments=_decisions(workspace))
    _check(workspace, ran)
    if not workspace.scenario.is_tabled:
        _again(workspace, text)
        _without_reviews(workspace, text)
    return True


def compare_by_act(workspace: Workspace) -> bool:
    """Run a case by act, which has no environments: who reviews is asked at the beginning of the job."""
    text = _workflow(workspace, {})
    if text is None:
        return False
    decided = reviewed(text, DECISION) if "environment: " in text else text
    with stub() as reviews:
        env = {FOLDER_VARIABLE: str(workspace.folder), "ARTIFACTS": str(workspace.folder / "artifacts")}
        _check(workspace, act.run(workspace.folder, decided, env=env, api_url=reviews.url))
    return True


def _places(workspace: Workspace) -> Mapping[str, str]:
    """The environments of questions that are not in the usual one."""
    asks = [node.id for node in workspace.program.nodes if isinstance(node.task, Ask)]
    return {name: OTHER for name in asks if zlib.crc32(name.encode()) % 3 == 0}


def _decisions(workspace: Workspace) -> dict[str, list[str]]:
    """What reviewers decide about each environment, in order."""
    places, found = _places(workspace), dict[str, list[str]]({USUAL: [], OTHER: []})
    for step, answer in workspace.asked:
        found[places.get(step, USUAL)].append("approved" if answer == "pass" else "rejected")
    return found


def _workflow(workspace: Workspace, places: Mapping[str, str]) -> str | None:
    """The workflow of a workspace; None where reviewers cannot answer."""
    steps = {name: {"approval-environment": place} for name, place in places.items()}
    options = {"checkout": False, "prompts": "environment", **({"steps": steps} if steps else {})}
    emission = workspace.documents.emission("github", options)
    if emission.text is None:
        same("why reviewers cannot answer", {found.code for found in errors(emission)}, {REFUSED})
        return None
    same("the files beside the workflow", [found.path for found in emission.companions], [])
    return emission.text


def _run(workspace: Workspace, text: str, **given: Any) -> engine.EngineRun:
    try:
        return engine.run(
            workspace.folder,
            text,
            history=workspace.folder / "history",
            env={FOLDER_VARIABLE: str(workspace.folder)},
            by_table=workspace.scenario.is_tabled,
            **given,
        )
    except engine.RejectedError as refused:
        raise DifferenceError("what the engine says", str(refused), "a path") from refused


def _check(workspace: Workspace, ran: Ran) -> None:
    """Compare the commands, the end with its message, and whether the run fails."""
    workspace.check_log(ran.log)
    said = _said(ran.summary)
    word = "STOP" if ran.exit_code else "COMPLETE"
    same("the end", said or word, workspace.end if said else workspace.end.split(" ")[0], ran.log)
    same("whether a message is said", bool(said) or " " not in workspace.end, True, ran.log)
    same("whether the run fails", bool(ran.exit_code), bool(workspace.exit_code), ran.log)


def _said(summary: str) -> str:
    """The end as the summary has it, in its last line."""
    last = (summary.splitlines() or [""])[-1]
    is_end = re.match(r"(COMPLETE|STOP)\b", last)
    return " ".join(re.sub(r"\\(.)", r"\1", last).split()) if is_end else ""


def _again(workspace: Workspace, text: str) -> None:
    """A further attempt runs nothing and fails."""
    if not any(isinstance(node.task, Ask) for node in workspace.program.nodes):
        return
    before = workspace.log_lines
    ran = _run(workspace, text, environments={USUAL: ["approved"] * 9, OTHER: ["approved"] * 9}, rerun="all")
    same("what a further attempt runs", workspace.log_lines, before, ran.log)
    same("how a further attempt ends", ran.conclusion, "failure", ran.log)
    same("whether it says why", AGAIN in _errors(ran), True, ran.log)


def _without_reviews(workspace: Workspace, text: str) -> None:
    """Where nobody has approved, the run ends at the question: neither YES nor NO."""
    for asked, kind in _kinds(workspace):
        stopped = workspace.again(_until(workspace, asked))
        ran = _run(stopped, text, **kind)
        stopped.check_log(ran.log)
        same("how a run without an approval ends", ran.conclusion, "failure", ran.log)
        same("whether it says why", REVIEWERS in _errors(ran), True, ran.log)
        same("what it says to be the end", _said(ran.summary), "", ran.log)
        no = [job.result for name, job in ran.jobs.items() if name.startswith("rejected_")]
        same("what becomes of NO", set(no), {"skipped"}, ran.log)


def _kinds(workspace: Workspace) -> Iterator[tuple[int, dict[str, Any]]]:
    """Runs without an approval, each with the number of the question at which it has to end."""
    decisions, places = _decisions(workspace), _places(workspace)
    if not workspace.asked:
        return
    approved = {place: ["approved"] * len(each) for place, each in decisions.items()}
    yield 0, {"environments": approved, "failing": {"approvals": (0, 200, 503)[len(workspace.asked) % 3]}}
    yield 0, {"environments": {}, "unprotected": [USUAL, OTHER], "failing": {"environments": 503}}
    last = len(workspace.asked) - 1
    place = places.get(workspace.asked[last][0], USUAL)
    yield last, {"environments": {**decisions, place: [*decisions[place][:-1], "bypassed"]}}


def _until(workspace: Workspace, asked: int) -> Trace:
    """The path up to a question."""
    visits = workspace.scenario.trace.visits
    questions = [index for index, (visit, _) in enumerate(visits) if not visit.is_command]
    return replace(workspace.scenario.trace, visits=visits[: questions[asked]], end=None)


def _errors(ran: engine.EngineRun) -> str:
    return "\n".join(message for job in ran.jobs.values() for _, _, message in job.annotations)
