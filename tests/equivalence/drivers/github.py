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
from tests.equivalence.execution import Workspace, errors
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
    """An engine: runs a workflow in the folder of a workspace."""

    def __call__(
        self, workspace: Workspace, text: str, *, inputs: Mapping[str, str] = NOTHING, run_id: int = 1
    ) -> Ran: ...


def by_act(workspace: Workspace, text: str, *, inputs: Mapping[str, str] = NOTHING, run_id: int = 1) -> Ran:
    """Run a workflow by act."""
    env = {FOLDER_VARIABLE: str(workspace.folder), "ARTIFACTS": str(workspace.folder / "artifacts")}
    try:
        secrets = {**act.TOKEN, **workspace.secrets}
        return act.run(workspace.folder, text, inputs=inputs, env=env, secrets=secrets, run_id=run_id)
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"act after {late.timeout} s", "still running", "an end") from late


def compare(workspace: Workspace, run: Run = by_act) -> bool:
    """Run a case without answers, and continue it with one answer in another run each time."""
    text = workflow(workspace)
    if text is None:
        return False
    ran = run(workspace, text, inputs=inputs_of(workspace))
    for number, (line, (step, _)) in enumerate(zip(workspace.answer_lines, workspace.asked, strict=True), 2):
        same("what a run waits for", str(end_of(text, ran)), f"WAITING {step}", ran.log)
        same("whether a run that waits fails", bool(ran.exit_code), True, ran.log)
        ran = run(workspace, text, inputs={"answers": line, "resume": str(number - 1)}, run_id=number)
    return check(workspace, text, ran)


def inputs_of(workspace: Workspace) -> dict[str, str]:
    """The inputs by the names that they have on GitHub."""
    names = input_names(workspace.program.inputs)
    return {names[name]: value for name, value in workspace.inputs.items()}


def compare_with_agent(workspace: Workspace, run: Run = by_act) -> bool:
    """Run a case whose prompts an agent answers, unless it and the program in it are too large together."""
    text = workflow(workspace, {"prompts": "agent", "agent": AGENT})
    return text is not None and check(workspace, text, run(workspace, text, inputs=inputs_of(workspace)))


def in_environments(workspace: Workspace) -> str | None:
    """The workflow whose commands have environments of their own, except for those in loops, which cannot.

    None where so many jobs and the program, which is in the workflow here, are too large together.
    """
    commands = [node.id for node in workspace.documents.program.nodes if isinstance(node.task, Shell)]
    drawn = {name: zlib.crc32(name.encode()) % 4 for name in commands}
    steps = {name: {"environment": f"place-{number}"} for name, number in drawn.items() if number < 3}
    options = {
        "checkout": False,
        "runtime": "inline",
        "prompts": "agent",
        "agent": AGENT,
        "summary": _has_summary(workspace),
    }
    while True:
        emission = workspace.documents.emission("github", {**options, **({"steps": steps} if steps else {})})
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


def workflow(workspace: Workspace, options: Mapping[str, object] = NOTHING) -> str | None:
    """The workflow of a workspace, which the target must not refuse; None where its program makes it too large."""
    usual = {"checkout": False, "runtime": "inline", "summary": _has_summary(workspace), "prompts": "answers"}
    emission = workspace.documents.emission("github", {**usual, **options})
    refused = [found.message for found in errors(emission) if found.code != TOO_LARGE]
    same("why the github target refuses", refused, [])
    return emission.text


def _has_summary(workspace: Workspace) -> bool:
    """Whether a workflow has a summary: that of every other document, and of those whose messages may show values."""
    return bool(workspace.scenario.variables) or zlib.crc32(workspace.documents.main.read_bytes()) % 2 == 0


def check(workspace: Workspace, text: str, run: Ran) -> bool:
    """Compare the log of the commands, the end and its message, the job's result, and the summary if there is one."""
    workspace.check_log(run.log)
    end = end_of(text, run)
    if not workspace.scenario.variables:  # a message that shows values does not stand in the workflow
        said = str(end).replace("# # [", "##[")
        same("the end", said, workspace.end if end.is_said else workspace.end.split(" ")[0], run.log)
        same("whether a message is said", end.is_said or " " not in workspace.end, True, run.log)
    same("whether the job fails", bool(run.exit_code), bool(workspace.exit_code), run.log)
    workspace.check_secrets(run.log, run.summary)
    if not _has_summary(workspace):
        return True
    same("the heading", _ended(run.summary), workspace.end, run.log)
    rows = re.findall(r"\| (\d+) \| (PASS|YES|FAIL|NO)(?: \(.*\))? \| (?:\d+ s)? \|$", run.summary, re.MULTILINE)
    visits = workspace.scenario.trace.visits
    shown = [(attempt, word in {"PASS", "YES"}) for attempt, word in rows]
    same("the summary", shown, [(str(visit.attempt), passed) for visit, passed in visits], run.log)
    return True


def _ended(summary: str) -> str:
    """How the run ended, by the heading of the summary. (The log of act may lack the last lines of a step.)

    What the runner would take for a command there has spaces in it.
    """
    headings = re.findall(r"^(?:### )?((?:WAITING|COMPLETE|STOP)\b.*)$", summary, re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", headings[-1]).replace("# # [", "##[") if headings else ""
