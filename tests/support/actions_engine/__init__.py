"""A second engine for workflows, beside act: GitHub's own parser and expression engine, and a simulator of the rest.

The modules beside this one read a workflow by `@actions/workflow-parser`, evaluate what it says by
`@actions/expressions`, and do what GitHub does around that: jobs by their `needs` and `if`, steps with outcome and
conclusion, environments of three levels, the files of a step, artifacts, approvals, and the API about runs. Scripts are
run by the shell that the workflow names. What the simulator does not know is an error.

Unlike act it has GitHub's rules for what act leaves out: a job that needs a skipped one is skipped too, wherever that
one stands above it; environments let a job in or not; tokens may only do what `permissions` says; the words of a
`shell` are split as .NET does it; outputs that hold something masked are not handed on.

What it does not do: two jobs never run at the same time, and a step has no time limit of its own.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.node import MissingError, Server, serving

HERE = Path(__file__).parent
NOTHING: Mapping[str, Any] = {}
PATIENCE = 60.0
PROGRAMS = HERE / "programs"
"""Programs that GitHub's runners bring: `gh`, which asks the API of the engine."""


class RejectedError(Exception):
    """GitHub would not run this, or the simulator does not know how; the message says what."""


@dataclass(frozen=True)
class Step:
    """What became of a step; `id` is what `$GITHUB_ACTION` says."""

    id: str
    name: str
    outcome: str
    conclusion: str
    outputs: Mapping[str, str]
    summary: str


@dataclass(frozen=True)
class Job:
    """What became of a job: `result` is what `needs` says of it."""

    result: str
    outputs: Mapping[str, str]
    steps: tuple[Step, ...]
    log: str
    annotations: tuple[tuple[str, str, str], ...]
    """Level, title and message."""
    name: str = ""
    matrix: tuple[Job, ...] = ()
    """The jobs of a matrix, in order."""

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcomes of the steps by their ids."""
        return {step.id: step.outcome for step in self.steps}


@dataclass(frozen=True)
class EngineRun:
    """What became of a run."""

    conclusion: str
    concurrency: str
    """The group."""
    jobs: Mapping[str, Job]

    @property
    def exit_code(self) -> int:
        """0 for success, as act ends."""
        return int(self.conclusion != "success")

    @property
    def log(self) -> str:
        """What the steps of all jobs have said."""
        return "".join(job.log for job in self.jobs.values())

    @property
    def summary(self) -> str:
        """What all steps have written to `$GITHUB_STEP_SUMMARY`."""
        return "".join(step.summary for job in self.jobs.values() for step in job.steps)


def complaints(workflow: str) -> list[str]:
    """What GitHub's parser complains about in a workflow."""
    found: list[str] = _ask({"task": "complaints", "workflow": workflow})["complaints"]
    return found


def run(
    folder: Path,
    workflow: str,
    *,
    history: Path,
    event: str = "workflow_dispatch",
    inputs: Mapping[str, str] = NOTHING,
    env: Mapping[str, str] = NOTHING,
    secrets: Mapping[str, str] = NOTHING,
    github: Mapping[str, str] = NOTHING,
    payload: Mapping[str, Any] | None = None,
    environments: Mapping[str, Sequence[str]] = NOTHING,
    unprotected: Sequence[str] = (),
    failing: Mapping[str, int] = NOTHING,
    cancel: str = "",
    expire: str = "",
    run_id: int = 1,
    rerun: bool | str = False,
    meddler: str = "",
    fresh: bool = False,
) -> EngineRun:
    """Walk through a workflow; `folder` is what checkout gives.

    `history` keeps what runs leave behind: `<run id>/run.json`, which is what the API tells, and `<run id>/artifacts`.
    `env` is what a runner has around a step, besides `PATH`. `github` are facts of that context, such as `ref`;
    with `api_url` another API is asked than that of the engine.
    `environments` has those with required reviewers, each with a decision for each job that comes to them, in order:
    `approved`, `rejected`, `refused`, which is a refusal that no person has made (a branch policy, 30 days),
    `bypassed`, where an administrator lets the job in without a review, or `late`, an approval after the artifacts have
    expired. `unprotected` are environments without reviewers; others are made by the first job that names them.
    `failing` has what the API does not answer (`runs`, `approvals`, `artifacts`, `environments`) with a status; 0
    closes the connection, 200 gives a page for people. `cancel` names a step as `job/step` during which somebody
    cancels the run, or a job that waits for a decision then; `expire` names a step during which the time of its job is
    over. `rerun` is a further attempt of that run: True runs the jobs again that have failed, and what needs
    them, the id of a job runs that one and what needs it, and `all` runs all. `meddler` is a Python script that runs
    just before an artifact is kept, as a process may that an earlier step has left behind. With `fresh` each call of a
    program is a Python that really starts.
    """
    answer = _ask(
        {
            "task": "walk",
            "workflow": workflow if fresh else warm.forked_steps(workflow),
            "repository": str(folder),
            "history": str(history),
            "event": event,
            "inputs": dict(inputs),
            "env": {**env, "PATH": f"{PROGRAMS}:{env.get('PATH', os.environ['PATH'])}"},
            "secrets": dict(secrets),
            "vars": {},
            "github": {"repository": "owner/repository", "run_id": str(run_id), **github},
            "payload": payload,
            "environments": {name: list(decisions) for name, decisions in environments.items()},
            "unprotected": list(unprotected),
            "failing": dict(failing),
            "cancel": cancel,
            "expire": expire,
            "patience": PATIENCE,
            "rerun": rerun,
            "meddler": meddler,
        }
    )
    jobs = {name: _job(found) for name, found in answer["jobs"].items()}
    return EngineRun(answer["conclusion"], answer["concurrency"], jobs)


def missing() -> str:
    """Why there is no engine on this machine; empty where there is one."""
    try:
        _server()
    except MissingError as why:
        return str(why)
    return ""


def _job(found: Mapping[str, Any]) -> Job:
    steps = tuple(Step(**step) for step in found["steps"])
    annotations = tuple((printed["level"], printed["title"], printed["message"]) for printed in found["annotations"])
    matrix = tuple(map(_job, found.get("matrix", ())))
    return Job(found["result"], found["outputs"], steps, found["log"], annotations, found.get("name", ""), matrix)


def _ask(question: Mapping[str, Any]) -> dict[str, Any]:
    try:
        answer = _server().ask(question)
    except MissingError as why:
        pytest.skip(str(why))
    if "error" in answer:
        error = RejectedError(answer["error"])
        error.add_note(answer["stack"])
        raise error
    return answer


def _server() -> Server:
    return _server_of(threading.get_ident())


@cache
def _server_of(thread: int) -> Server:
    """One process for all runs of a thread."""
    stack = ExitStack()
    server = stack.enter_context(serving(HERE))
    atexit.register(stack.close)
    return server
