"""The generated workflow, run by act and by GitHub's own parser and expression engine.

Answers are given all at once, or each in a continuation. How agents, tools and inputs are given is what
the interface of runs says; gates outside of loops are environments, which the engine knows and act does not.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol
from zlib import crc32

from backends.github.workflow.inputs import input_names
from backends.registry import load
from backends.scheduling.jobs import make_routes
from backends.scheduling.places import simplified
from compiler.ir.program import Program
from compiler.ir.tasks import Gate
from tests.equivalence.difference import DifferenceError, same
from tests.equivalence.drivers.github import Ran
from tests.programs.workspace import Workspace
from tests.support import actions_engine as engine
from tests.support.github import act
from tests.support.program_json import from_json

REFUSALS = {"RD520", "RD521"}
"""Codes of what a workflow cannot say at all, whatever the features, and of one that is too large with its program."""

SAYINGS = {"RD527", "RD535", "RD536"}
"""Codes of what is said of gates and of a matrix, and refuses nothing."""

Reply = tuple[str, str]


class Run(Protocol):
    """Runs a workflow once, by its number; `decisions` are those of the gates that it comes to, in order."""

    def __call__(
        self, workspace: Workspace, text: str, inputs: Mapping[str, str], decisions: Sequence[str], number: int = 1
    ) -> Ran:
        """Run it."""


class Prepared(NamedTuple):
    """A workflow, its declared inputs, and which of the replies decide gates that are jobs of their own."""

    text: str
    inputs: dict[str, str]
    gates: frozenset[str]

    def decisions(self, asked: Sequence[Reply]) -> list[str]:
        """The decisions among some replies."""
        return [reply for step, reply in asked if step in self.gates]


def compare(workspace: Workspace) -> bool:
    """Run a case by act, which has no protected environments: a case whose gates are jobs is the engine's."""
    prepared = _prepared(workspace)
    return prepared is not None and not prepared.gates and _in_pieces(workspace, prepared, _by_act)


def compare_by_engine(workspace: Workspace) -> bool:
    """Run a case by the second engine."""
    prepared = _prepared(workspace)
    return prepared is not None and _in_pieces(workspace, prepared, _by_engine)


def _in_pieces(workspace: Workspace, prepared: Prepared, run: Run) -> bool:
    decisions = prepared.decisions(workspace.asked)
    ran = run(workspace, prepared.text, prepared.inputs, decisions)
    number = 1
    for place, (step, reply) in enumerate(workspace.asked):
        if step in prepared.gates:
            continue
        same("what a run waits for", _ended(ran.summary), f"WAITING {step}", ran.log)
        same("whether a run that waits fails", bool(ran.exit_code), True, ran.log)
        number += 1
        inputs = {**prepared.inputs, "resume": str(number - 1), "answers": f"{step} {reply}"}
        decisions = prepared.decisions(workspace.asked[place:])
        ran = run(workspace, prepared.text, inputs, decisions, number)
    return _check(workspace, ran, decisions)


def _check(workspace: Workspace, ran: Ran, decisions: Sequence[str]) -> bool:
    """The calls, the end as the last heading of the summary says it, and that the run fails where it must.

    `decisions` are those of the gates of the last run: one that was rejected before that run has failed another.
    """
    workspace.said.extend([ran.log, ran.summary])
    workspace.check_calls(ran.log)
    kept = sorted(workspace.folder.glob("history/*/artifacts/rdc-transcript*/"), key=_place)
    for folder in kept[-1:]:
        workspace.check_reports(folder / "reports", ran.log)
    ended = _ended(ran.summary)
    if not (decisions[-1:] == ["rejected"] and _is_left(workspace, ended)):
        same("the end", _plain(ended), _plain(workspace.end), ran.log)
    # GitHub itself fails a run in which somebody has rejected a job.
    fails = not workspace.end.startswith("COMPLETE") or "rejected" in decisions
    same("whether the run fails", bool(ran.exit_code), fails, ran.log)
    return True


def _place(transcript: Path) -> tuple[int, int]:
    """The run, and the part of it, that has kept a transcript: the last one has all reports."""
    *_, run, _, name = transcript.parts
    return int(run), int(name.rpartition("_")[2]) if "_" in name else 0


def _is_left(workspace: Workspace, ended: str) -> bool:
    """Whether a run that stops since a gate was rejected is left at that gate: GitHub itself says the rest."""
    return workspace.end.startswith("STOP") and ended == f"WAITING {workspace.trace.visits[-1].step}"


def _prepared(workspace: Workspace) -> Prepared | None:
    """The workflow; None where GitHub could not run one."""
    agents, program = workspace.agents, from_json(workspace.case.text)
    options: dict[str, object] = {
        "checkout": False,
        "runtime": "inline",
        "summary": True,
        "agents": {name: command for name, command in agents.items() if name},
        "tools": workspace.tools,
        **({"agent": agents[""]} if "" in agents else {}),
        "parallel": _parallel(workspace),
    }
    emission = load("github").emit(program, options)
    if emission.text is None and {found.code for found in emission.diagnostics} <= REFUSALS:
        return None
    refusing = [found.message for found in emission.diagnostics if found.code not in SAYINGS]
    same("why the github target refuses", refusing, [])
    assert emission.text is not None
    names = input_names(program.inputs)
    inputs = {names[name]: value for name, value in workspace.case.inputs.items() if name in names}
    return Prepared(emission.text, inputs, _gates(program))


def _parallel(workspace: Workspace) -> str:
    """Where the agents of parallel steps run: by the case, such that one that was found shows the same again."""
    return ("step", "matrix")[crc32(workspace.case.text.encode()) % 2]


def _gates(program: Program) -> frozenset[str]:
    """The gates outside of loops, each of which is a job."""
    places = make_routes(simplified(program)).places
    steps = (node for place in places if place.kind == "step" for node in place.nodes)
    return frozenset(node.id for node in steps if isinstance(node.task, Gate))


def _by_act(
    workspace: Workspace, text: str, inputs: Mapping[str, str], decisions: Sequence[str], number: int = 1
) -> Ran:
    del decisions  # act runs a job in an environment at once
    env = {**workspace.yardstick, "ARTIFACTS": str(workspace.folder / "artifacts")}
    try:
        return act.run(workspace.folder, text, inputs=inputs, env=env, run_id=number)
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"act after {late.timeout} s", "still running", "an end") from late


def _by_engine(
    workspace: Workspace, text: str, inputs: Mapping[str, str], decisions: Sequence[str], number: int = 1
) -> Ran:
    try:
        return engine.run(
            workspace.folder,
            text,
            history=workspace.folder / "history",
            inputs=inputs,
            env=workspace.yardstick,
            environments={"approval": decisions},
            run_id=number,
        )
    except engine.RejectedError as refused:
        raise DifferenceError("what the engine says", str(refused), "a path") from refused


def _ended(summary: str) -> str:
    """How the run ended, by the last heading of the summary: each part of a workflow has one."""
    headings = re.findall(r"^### (.*)$", summary, re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", headings[-1]) if headings else ""


def _plain(text: str) -> str:
    """A message without spaces, and without what Markdown or a terminal does not show as it is."""
    return "".join(character for character in text if character.isprintable() and character not in " ?\\#")
