"""The generated workflow, run by act and by GitHub's own parser and expression engine, with all answers at once.

How agents, tools and inputs are given is what `design/interface.md` says; a target that does not carry them sees no
program that has them.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping

from backends.registry import load
from compiler.ir.serialise import from_json
from tests.equivalence.difference import DifferenceError, same
from tests.equivalence.ways.github import Ran
from tests.programs.trial import Trial, is_plain
from tests.workflows import act, engine

Run = Callable[[Trial, str, Mapping[str, str]], Ran]

REFUSALS = {"RD520"}
"""Codes of what a workflow cannot say at all, whatever the features."""


def compare(trial: Trial) -> bool:
    """Run a case by act."""
    return _compare(trial, _by_act)


def compare_by_engine(trial: Trial) -> bool:
    """Run a case by the second engine."""
    return _compare(trial, _by_engine)


def _compare(trial: Trial, run: Run) -> bool:
    text = _workflow(trial)
    if text is None:
        return False
    inputs = dict(trial.case.inputs)
    if "      answers:\n" in text:
        inputs["answers"] = _answers(trial)
    ran = run(trial, text, inputs)
    trial.said.extend([ran.log, ran.summary])
    trial.check_calls(ran.log)
    same("the end", _plain(_ended(ran.summary)), _plain(trial.end), ran.log)
    same("whether the job fails", bool(ran.exit_code), not trial.end.startswith("COMPLETE"), ran.log)
    rows = re.findall(r"\| (\d+) \| [^|]* \| (?:\d+ s)? \|$", ran.summary, re.MULTILINE)
    same("the attempts in the summary", rows, [str(visit.attempt) for visit in trial.walk.visits], ran.log)
    return True


def _workflow(trial: Trial) -> str | None:
    """The workflow; None where GitHub could not run one."""
    options: dict[str, object] = {"checkout": False}
    agents = trial.agents
    if "" in agents:
        options["agent"] = agents[""]
    if named := {name: command for name, command in agents.items() if name}:
        options["agents"] = named
    if trial.tools:
        options["tools"] = trial.tools
    emission = load("github").emit(from_json(trial.case.text), options)
    if emission.text is None and {found.code for found in emission.diagnostics} <= REFUSALS:
        return None
    same("why the github target refuses", [found.message for found in emission.diagnostics], [])
    return emission.text


def _answers(trial: Trial) -> str:
    if all(is_plain(reply) for _, reply in trial.asked):
        return "; ".join(f"{unit} {reply}" for unit, reply in trial.asked)
    units = dict.fromkeys(unit for unit, _ in trial.asked)
    return json.dumps({unit: [reply for other, reply in trial.asked if other == unit] for unit in units})


def _by_act(trial: Trial, text: str, inputs: Mapping[str, str]) -> Ran:
    try:
        return act.run(trial.folder, text, inputs=inputs, env=trial.yardstick)
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"act after {late.timeout} s", "still running", "an end") from late


def _by_engine(trial: Trial, text: str, inputs: Mapping[str, str]) -> Ran:
    try:
        history = trial.folder / "history"
        return engine.run(trial.folder, text, history=history, inputs=inputs, env=trial.yardstick)
    except engine.RefusedError as refused:
        raise DifferenceError("what the engine says", str(refused), "a walk") from refused


def _ended(summary: str) -> str:
    """How the run ended, by the heading of the summary."""
    heading = re.search(r"^### (.*)$", summary, re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", heading[1]) if heading else ""


def _plain(text: str) -> str:
    """A message without blanks, and without what Markdown or a terminal does not show as it is."""
    return "".join(character for character in text if character.isprintable() and character not in " ?\\#")
