"""The generated workflow, run by act and by GitHub's own parser and expression engine.

Answers are given all at once, or each in a continuation. How agents, tools and inputs are given is what
`design/interface.md` says; gates outside of loops are environments, which the engine knows and act does not.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from backends.github.inputs import input_names
from backends.github.places import simplified
from backends.github.routes import make_routes
from backends.registry import load
from compiler.ir.program import Program
from compiler.ir.serialise import from_json
from compiler.ir.tasks import Gate
from tests.equivalence.difference import DifferenceError, same
from tests.equivalence.ways.github import Ran
from tests.programs.trial import Trial, is_plain
from tests.workflows import act, engine

REFUSALS = {"RD520"}
"""Codes of what a workflow cannot say at all, whatever the features."""

Reply = tuple[str, str]


class Run(Protocol):
    """Runs a workflow once, by its number; `decisions` are those of the gates that it comes to, in order."""

    def __call__(
        self, trial: Trial, text: str, inputs: Mapping[str, str], decisions: Sequence[str], number: int = 1
    ) -> Ran:
        """Run it."""


class Prepared(NamedTuple):
    """A workflow, its declared inputs, and which of the replies decide gates that are jobs of their own."""

    text: str
    inputs: dict[str, str]
    gates: frozenset[str]

    def decisions(self, asked: Sequence[Reply]) -> list[str]:
        """The decisions among some replies."""
        return [reply for unit, reply in asked if unit in self.gates]

    def answers(self, asked: Sequence[Reply]) -> list[Reply]:
        """The answers among some replies."""
        return [(unit, reply) for unit, reply in asked if unit not in self.gates]


def compare(trial: Trial) -> bool:
    """Run a case by act, which has no protected environments: a case whose gates are jobs is the engine's."""
    prepared = _prepared(trial)
    return prepared is not None and not prepared.gates and _at_once(trial, prepared, _by_act)


def compare_by_engine(trial: Trial) -> bool:
    """Run a case by the second engine."""
    prepared = _prepared(trial)
    return prepared is not None and _at_once(trial, prepared, _by_engine)


def compare_in_pieces(trial: Trial) -> bool:
    """Run a case by the second engine without answers; each begins a continuation of the run that waits for it."""
    prepared = _prepared(trial)
    return prepared is not None and _in_pieces(trial, prepared, _by_engine)


def _at_once(trial: Trial, prepared: Prepared, run: Run) -> bool:
    inputs = dict(prepared.inputs)
    if "      answers:\n" in prepared.text:
        inputs["answers"] = _written(prepared.answers(trial.asked))
    return _check(trial, prepared, run(trial, prepared.text, inputs, prepared.decisions(trial.asked)))


def _in_pieces(trial: Trial, prepared: Prepared, run: Run) -> bool:
    ran = run(trial, prepared.text, prepared.inputs, prepared.decisions(trial.asked))
    number = 1
    for place, (unit, reply) in enumerate(trial.asked):
        if unit in prepared.gates:
            continue
        same("what a run waits for", _ended(ran.summary), f"WAITING {unit}", ran.log)
        number += 1
        inputs = {**prepared.inputs, "resume": str(number - 1), "answers": _written([(unit, reply)])}
        ran = run(trial, prepared.text, inputs, prepared.decisions(trial.asked[place:]), number)
    return _check(trial, prepared, ran)


def _check(trial: Trial, prepared: Prepared, ran: Ran) -> bool:
    """The calls, the end as the last heading of the summary says it, and that the run fails where it must."""
    trial.said.extend([ran.log, ran.summary])
    trial.check_calls(ran.log)
    same("the end", _plain(_ended(ran.summary)), _plain(trial.end), ran.log)
    # GitHub itself fails a run in which somebody has rejected a job.
    fails = not trial.end.startswith("COMPLETE") or "rejected" in prepared.decisions(trial.asked)
    same("whether the run fails", bool(ran.exit_code), fails, ran.log)
    return True


def _prepared(trial: Trial) -> Prepared | None:
    """The workflow; None where GitHub could not run one."""
    agents, program = trial.agents, from_json(trial.case.text)
    options: dict[str, object] = {
        "checkout": False,
        "summary": True,
        "agents": {name: command for name, command in agents.items() if name},
        "tools": trial.tools,
        **({"agent": agents[""]} if "" in agents else {}),
    }
    emission = load("github").emit(program, options)
    if emission.text is None and {found.code for found in emission.diagnostics} <= REFUSALS:
        return None
    same("why the github target refuses", [found.message for found in emission.diagnostics], [])
    assert emission.text is not None
    names = input_names(program.inputs)
    inputs = {names[name]: value for name, value in trial.case.inputs.items() if name in names}
    return Prepared(emission.text, inputs, _gates(program))


def _gates(program: Program) -> frozenset[str]:
    """The gates outside of loops, each of which is a job."""
    places = make_routes(simplified(program)).places
    units = (node for place in places if place.kind == "unit" for node in place.nodes)
    return frozenset(node.id for node in units if isinstance(node.task, Gate))


def _written(asked: Sequence[Reply]) -> str:
    if all(is_plain(reply) for _, reply in asked):
        return "; ".join(f"{unit} {reply}" for unit, reply in asked)
    units = dict.fromkeys(unit for unit, _ in asked)
    return json.dumps({unit: [reply for other, reply in asked if other == unit] for unit in units})


def _by_act(trial: Trial, text: str, inputs: Mapping[str, str], decisions: Sequence[str], number: int = 1) -> Ran:
    del decisions  # act runs a job in an environment at once
    try:
        return act.run(trial.folder, text, inputs=inputs, env=trial.yardstick, run_id=number)
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"act after {late.timeout} s", "still running", "an end") from late


def _by_engine(trial: Trial, text: str, inputs: Mapping[str, str], decisions: Sequence[str], number: int = 1) -> Ran:
    try:
        return engine.run(
            trial.folder,
            text,
            history=trial.folder / "history",
            inputs=inputs,
            env=trial.yardstick,
            environments={"approval": decisions},
            run_id=number,
        )
    except engine.RefusedError as refused:
        raise DifferenceError("what the engine says", str(refused), "a walk") from refused


def _ended(summary: str) -> str:
    """How the run ended, by the last heading of the summary: each part of a workflow has one."""
    headings = re.findall(r"^### (.*)$", summary, re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", headings[-1]) if headings else ""


def _plain(text: str) -> str:
    """A message without blanks, and without what Markdown or a terminal does not show as it is."""
    return "".join(character for character in text if character.isprintable() and character not in " ?\\#")
