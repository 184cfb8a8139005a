"""Run GitHub workflows with act, on this machine and without Docker."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
from msgspec import Struct

from rdc.trials.process import Finished

# Without these, act needs a Git repository. SHA_REF sets `github.sha`.
REPOSITORY = {"GITHUB_REPOSITORY": "owner/repository", "GITHUB_REF": "refs/heads/main", "SHA_REF": "0123456789" * 4}

OPTIONS = (
    "--json",
    "--verbose",  # needed to see skipped steps
    "--platform=ubuntu-latest=-self-hosted",
    "--container-daemon-socket=-",
    "--no-cache-server",
    *(f"--{kind}-file=/dev/null" for kind in ("env", "input", "secret", "var")),
)

Event = dict[str, Any]


class ActStep(Struct, frozen=True):
    """The result of a step."""

    job: str
    """The id of its job."""
    id: str
    """Its id, or its number from 0."""
    name: str
    outcome: str
    """`success`, `failure` (also with continue-on-error) or `skipped`."""
    outputs: Mapping[str, str]


class ActRun(Struct, frozen=True):
    """The result of a run."""

    exit_code: int
    log: str
    """The output of the steps and of act, without colors."""
    steps: tuple[ActStep, ...]
    """The steps of all jobs in the order in which they ended, without skipped jobs."""
    jobs: Mapping[str, str]
    """The results of the jobs by id: `success`, `failure` or `skipped`."""
    summaries: tuple[tuple[str, str], ...]
    """The text that steps wrote to `$GITHUB_STEP_SUMMARY`, each with the id of its step."""

    @property
    def summary(self) -> str:
        """The whole summary."""
        return "".join(text for _, text in self.summaries)

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcomes of the steps by name."""
        return {step.name: step.outcome for step in self.steps}


def read_run(done: Finished) -> ActRun:
    """Return the run from the output of act, which must be called with `OPTIONS`."""
    events = _events(done.out)
    return ActRun(
        exit_code=done.code,
        log=_log(events, _events(done.err)),
        steps=tuple(_steps(events)),
        jobs={event["jobID"]: event["jobResult"] for event in events if "jobResult" in event},
        summaries=tuple(
            (event["stepID"][0], event["content"]) for event in events if event.get("command") == "summary"
        ),
    )


def _events(text: str) -> list[Event]:
    """Return act's output lines as events. All lines but the last ones are JSON."""
    lines = filter(None, text.split("\n"))
    return [json.loads(line) if line.startswith("{") else {"level": "error", "msg": line} for line in lines]


def _log(said: Sequence[Event], complained: Sequence[Event]) -> str:
    """Return the log for people, without complaints about Docker or a missing repository."""
    told = [event for event in said if event["level"] != "debug"]
    told += [event for event in complained if event["level"] == "error"]
    texts = [str(event["raw"] if "raw" in event else event["msg"]) for event in told]
    return "".join(click.unstyle(text).removesuffix("\n") + "\n" for text in texts)


def _steps(events: Sequence[Event]) -> Iterator[ActStep]:
    """Yield the workflow's own steps, without act's setup steps and steps of composite actions."""
    main = [event for event in events if event.get("stage") == "Main" and len(event["stepID"]) == 1]
    for event in main:
        if "stepResult" in event:
            place = (event["job"], event["stepID"])
            outputs = {
                other["name"]: other["arg"]
                for other in main
                if other.get("command") == "set-output" and (other["job"], other["stepID"]) == place
            }
            yield ActStep(event["jobID"], event["stepID"][0], event["step"], event["stepResult"], outputs)
