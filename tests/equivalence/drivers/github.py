"""The generated workflow, run by act: with one answer each time, or of an agent.

`engine.py` runs it in the same manner by another engine: `run` of these functions says by which.
"""

from __future__ import annotations

import re
import subprocess
import zlib
from collections.abc import Mapping
from typing import Protocol

from backends.github.workflow.inputs import input_names
from compiler.ir.tasks import Shell
from tests.equivalence.difference import DifferenceError, same
from tests.equivalence.execution import Trial, errors
from tests.equivalence.scenario import FOLDER_VARIABLE
from tests.support.actions_engine import EngineRun
from tests.support.github import act
from tests.support.github.ends import end_of

REFUSED, TOO_LARGE = "RD520", "RD521"
NOTHING: Mapping[str, str] = {}

NEXT_ANSWER = f'sh "${FOLDER_VARIABLE}/next-answer"'
AGENT = f"cat > /dev/null; {NEXT_ANSWER}"

Ran = act.ActRun | EngineRun
"""What an engine says of a run."""


class Run(Protocol):
    """An engine: runs a workflow in the folder of a trial."""

    def __call__(self, trial: Trial, text: str, *, inputs: Mapping[str, str] = NOTHING, run_id: int = 1) -> Ran: ...


def by_act(trial: Trial, text: str, *, inputs: Mapping[str, str] = NOTHING, run_id: int = 1) -> Ran:
    """Run a workflow by act."""
    env = {FOLDER_VARIABLE: str(trial.folder), "ARTIFACTS": str(trial.folder / "artifacts")}
    try:
        secrets = {**act.TOKEN, **trial.secrets}
        return act.run(trial.folder, text, inputs=inputs, env=env, secrets=secrets, run_id=run_id)
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"act after {late.timeout} s", "still running", "an end") from late


def compare(trial: Trial, run: Run = by_act) -> bool:
    """Run a case without answers, and continue it with one answer in another run each time."""
    text = workflow(trial)
    if text is None:
        return False
    ran = run(trial, text, inputs=inputs_of(trial))
    for number, (line, (step, _)) in enumerate(zip(trial.answer_lines, trial.asked, strict=True), 2):
        same("what a run waits for", str(end_of(text, ran)), f"WAITING {step}", ran.log)
        same("whether a run that waits fails", bool(ran.exit_code), True, ran.log)
        ran = run(trial, text, inputs={"answers": line, "resume": str(number - 1)}, run_id=number)
    return check(trial, text, ran)


def inputs_of(trial: Trial) -> dict[str, str]:
    """The inputs by the names that they have on GitHub."""
    names = input_names(trial.program.inputs)
    return {names[name]: value for name, value in trial.inputs.items()}


def compare_with_agent(trial: Trial, run: Run = by_act) -> bool:
    """Run a case whose prompts an agent answers, unless it and the program in it are too large together."""
    text = workflow(trial, {"prompts": "agent", "agent": AGENT})
    return text is not None and check(trial, text, run(trial, text, inputs=inputs_of(trial)))


def in_environments(trial: Trial) -> str | None:
    """The workflow whose commands have environments of their own, except for those in loops, which cannot.

    None where so many jobs and the program, which is in the workflow here, are too large together.
    """
    commands = [node.id for node in trial.documents.program.nodes if isinstance(node.task, Shell)]
    drawn = {name: zlib.crc32(name.encode()) % 4 for name in commands}
    steps = {name: {"environment": f"place-{number}"} for name, number in drawn.items() if number < 3}
    options = {
        "checkout": False,
        "runtime": "inline",
        "prompts": "agent",
        "agent": AGENT,
        "summary": _has_summary(trial),
    }
    while True:
        emission = trial.documents.emission("github", {**options, **({"steps": steps} if steps else {})})
        if emission.text is not None:
            return emission.text
        if {found.code for found in errors(emission)} == {TOO_LARGE}:
            return None
        same("why environments are refused", {found.code for found in errors(emission)}, {REFUSED})
        said = [found.message.partition(" cannot have")[0] for found in errors(emission)]
        refused = {
            name for name in steps for each in said if re.search(rf"(?:steps?|and) {re.escape(name)}(?: and |$)", each)
        }
        same("whether the refusal names a step", bool(refused), True)
        steps = {name: said for name, said in steps.items() if name not in refused}


def workflow(trial: Trial, options: Mapping[str, object] = NOTHING) -> str | None:
    """The workflow of a trial, which the target must not refuse; None where the program in it makes it too large."""
    usual = {"checkout": False, "runtime": "inline", "summary": _has_summary(trial), "prompts": "answers"}
    emission = trial.documents.emission("github", {**usual, **options})
    refused = [found.message for found in errors(emission) if found.code != TOO_LARGE]
    same("why the github target refuses", refused, [])
    return emission.text


def _has_summary(trial: Trial) -> bool:
    """Whether a workflow has a summary: that of every other document, and of those whose messages may show values."""
    return bool(trial.scenario.variables) or zlib.crc32(trial.documents.main.read_bytes()) % 2 == 0


def check(trial: Trial, text: str, run: Ran) -> bool:
    """Compare the log of the commands, the end and its message, the job's result, and the summary if there is one."""
    trial.check_log(run.log)
    end = end_of(text, run)
    if not trial.scenario.variables:  # a message that shows values does not stand in the workflow
        said = str(end).replace("# # [", "##[")
        same("the end", said, trial.end if end.is_said else trial.end.split(" ")[0], run.log)
        same("whether a message is said", end.is_said or " " not in trial.end, True, run.log)
    same("whether the job fails", bool(run.exit_code), bool(trial.exit_code), run.log)
    trial.check_secrets(run.log, run.summary)
    if not _has_summary(trial):
        return True
    same("the heading", _ended(run.summary), trial.end, run.log)
    rows = re.findall(r"\| (\d+) \| (PASS|YES|FAIL|NO)(?: \(.*\))? \| (?:\d+ s)? \|$", run.summary, re.MULTILINE)
    visits = trial.scenario.trace.visits
    shown = [(attempt, word in {"PASS", "YES"}) for attempt, word in rows]
    same("the summary", shown, [(str(visit.attempt), passed) for visit, passed in visits], run.log)
    return True


def _ended(summary: str) -> str:
    """How the run ended, by the heading of the summary. (The log of act may lack the last lines of a step.)

    What the runner would take for a command there has spaces in it.
    """
    headings = re.findall(r"^(?:### )?((?:WAITING|COMPLETE|STOP)\b.*)$", summary, re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", headings[-1]).replace("# # [", "##[") if headings else ""
