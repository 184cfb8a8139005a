"""Runs of workflows by act, on this machine and without Docker.

What a workflow finds there (act 0.2.89, `-self-hosted`):

- The workspace of each job is an empty folder of its own. `actions/checkout` is passed over: the step copies the
  folder of the run there, with what is not committed and without what `.gitignore` names; it need not be a Git
  repository. The folder itself never changes, and the workspace is gone afterwards (`--bind` and `--reuse` do not
  alter that): commands whose effect a test wants to see write to a folder that a variable of `env` names, or the
  workflow uploads an artifact.
- `$RUNNER_TEMP` and `$HOME` are empty folders, the first one for each job, the second one for each run.
- Commands have `PATH`, the variables of `env` and the ones that GitHub sets. The workflow, the job, `$GITHUB_ENV` and
  the step override those of `env`, in this order. Unlike on GitHub the `env` of expressions has them all.
- The log may lack the last lines of a step that ends right after them: tests look into files and the summary, or wait.
- Standard input and output of a step are a terminal, unlike on GitHub: a command that reads waits until the timeout.
- The `env` of a job is interpolated twice: a `${{` that is the value of an expression is an expression again. That of
  a step is interpolated once, as on GitHub.
- `github.run_id` is 1 unless `run_id` says otherwise; artifacts (`$ARTIFACTS`, see `actions/`) are told apart by it.
- There is no network: an action that is neither checkout nor in `actions` is an error.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from tests.workflows.lint import program

ACTIONS = Path(__file__).parent / "actions"
STAND_INS = {f"actions/{name}": ACTIONS / name for name in ("upload-artifact", "download-artifact")}
TOKEN = {"GITHUB_TOKEN": "the-token-of-the-run"}

# Without these act would look for a Git repository; the last one is where it takes `github.sha` from.
REPOSITORY = {"GITHUB_REPOSITORY": "owner/repository", "GITHUB_REF": "refs/heads/main", "SHA_REF": "0123456789" * 4}

OPTIONS = (
    "--json",
    "--verbose",  # only then does it speak of what is skipped
    "--platform=ubuntu-latest=-self-hosted",
    "--container-daemon-socket=-",
    "--pull=false",
    "--no-cache-server",
    "--action-offline-mode",
    *(f"--{kind}-file={os.devnull}" for kind in ("env", "input", "secret", "var")),
)

Event = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """What became of a step."""

    job: str
    """The id of its job."""
    id: str
    """Its id, or its number from 0."""
    name: str
    outcome: str
    """`success`, `failure` (with continue-on-error too) or `skipped`."""
    outputs: Mapping[str, str]


@dataclass(frozen=True)
class ActRun:
    """What became of a run."""

    exit_code: int
    log: str
    """What the steps and act have said, without colours."""
    steps: tuple[Step, ...]
    """The steps of all jobs in the order in which they ended; those of skipped jobs are not there."""
    jobs: Mapping[str, str]
    """The results of the jobs by their ids: `success`, `failure` or `skipped`."""
    summary: str
    """What the steps have written to `$GITHUB_STEP_SUMMARY`."""

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcomes of the steps by their names."""
        return {step.name: step.outcome for step in self.steps}


def run(
    folder: Path,
    workflow: Path | str,
    *,
    event: str = "workflow_dispatch",
    inputs: Mapping[str, str] = {},
    env: Mapping[str, str] = {},
    secrets: Mapping[str, str] = TOKEN,
    actions: Mapping[str, Path] = STAND_INS,
    run_id: int = 1,
    run_attempt: int = 1,
    timeout: float = 60,
) -> ActRun:
    """Run a workflow, given as a file or as its text, in a folder.

    `actions` has the folders to take actions from, by `owner/repository@ref` or, for any ref, `owner/repository`.
    After the timeout, in seconds, everything is killed and `subprocess.TimeoutExpired` raised.
    """
    text = workflow if isinstance(workflow, str) else workflow.read_text(encoding="utf-8")
    told = REPOSITORY | {"GITHUB_RUN_ID": str(run_id), "GITHUB_RUN_ATTEMPT": str(run_attempt)}
    with tempfile.TemporaryDirectory(prefix="act-", ignore_cleanup_errors=True) as private:
        home = Path(private, "home")
        home.mkdir()
        if isinstance(workflow, str):
            workflow = Path(private, "workflow.yml")
            workflow.write_text(text, encoding="utf-8")
        command = [
            program("act"),
            event,
            *OPTIONS,
            f"--workflows={workflow.resolve()}",
            f"--action-cache-path={private}/cache",
            *(f"--env={name}={value}" for name, value in told.items()),
            *(f"--input={name}={value}" for name, value in inputs.items()),
            *(f"--secret={name}={value}" for name, value in secrets.items()),
            *(f"--local-repository={used}={at}" for used, at in _replaced(text, actions)),
        ]
        foreign = ("XDG_", "DOCKER_", "GITHUB_", "RUNNER_")
        kept = {name: value for name, value in env.items() if not name.startswith(foreign)}
        return _execute(command, folder, {"PATH": os.environ["PATH"], **kept, "HOME": str(home)}, timeout)


def _replaced(text: str, actions: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """The actions that a workflow uses, and the folders to take them from."""
    jobs = yaml.safe_load(text)["jobs"].values()
    used = {part["uses"] for job in jobs for part in (job, *job.get("steps", ())) if "uses" in part}
    for action in sorted(used):
        name = action.partition("@")[0]
        if name == "actions/checkout" or action.startswith("./"):
            continue
        at = actions.get(action) or actions.get(name)
        if at is None:
            raise ValueError(f"no stand-in for {action}")
        yield action, at.resolve()


def _execute(command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float) -> ActRun:
    """Run act. When it is killed the steps, which have sessions of their own, lose their terminals and end too."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            said, complained = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            os.killpg(process.pid, signal.SIGKILL)
            late.add_note(_log(*map(_events, process.communicate())))
            raise
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    events = _events(said)
    return ActRun(
        exit_code=process.returncode,
        log=_log(events, _events(complained)),
        steps=tuple(_steps(events)),
        jobs={event["jobID"]: event["jobResult"] for event in events if "jobResult" in event},
        summary="".join(event["content"] for event in events if event.get("command") == "summary"),
    )


def _events(text: str) -> list[Event]:
    """The lines of act, which are JSON but for its last words."""
    lines = filter(None, text.split("\n"))
    return [json.loads(line) if line.startswith("{") else {"level": "error", "msg": line} for line in lines]


def _log(said: Sequence[Event], complained: Sequence[Event]) -> str:
    """What people are told; that there is neither Docker nor a repository does not matter."""
    told = [event for event in said if event["level"] != "debug"]
    told += [event for event in complained if event["level"] == "error"]
    texts = [str(event["raw"] if "raw" in event else event["msg"]) for event in told]
    return "".join(click.unstyle(text).removesuffix("\n") + "\n" for text in texts)


def _steps(events: Sequence[Event]) -> Iterator[Step]:
    """The steps of the workflow: not what act does before and after, nor the steps in composite actions."""
    main = [event for event in events if event.get("stage") == "Main" and len(event["stepID"]) == 1]
    for event in main:
        if "stepResult" in event:
            place = (event["job"], event["stepID"])
            outputs = {
                other["name"]: other["arg"]
                for other in main
                if other.get("command") == "set-output" and (other["job"], other["stepID"]) == place
            }
            yield Step(event["jobID"], event["stepID"][0], event["step"], event["stepResult"], outputs)
