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
- `environment` means nothing: `reviews.py` lets people decide. `gh` is a stub that asks `api_url`.
- `github.run_id` is 1 unless `run_id` says otherwise; artifacts (`$ARTIFACTS`, see `actions/`) are told apart by it.
- There is no network: an action that is neither checkout nor in `actions` is an error."""

import atexit
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from msgspec import Struct

from rdc.testing.process import Finished
from rdc.testing.targets.github import OPTIONS, REPOSITORY, events_of, log_of, summaries
from tests.support import warm
from tests.support.actions_engine import PROGRAMS, EngineRun
from tests.support.github.api import FACTS, Api, answering
from tests.support.github.compiling import LOADER
from tests.support.github.lint import program

ACTIONS = Path(__file__).parent / "actions"
STUBS = {f"actions/{name}": ACTIONS / name for name in ("upload-artifact", "download-artifact")}
TOKEN = {"GITHUB_TOKEN": "the-token-of-the-run"}

LOCAL = ("--pull=false", "--action-offline-mode")


class ActRun(Struct, frozen=True):
    """The result of a run."""

    exit_code: int
    log: str
    """The output of the steps and of act, without colors."""
    summary: str
    """What steps wrote to `$GITHUB_STEP_SUMMARY`."""


def run(
    folder: Path,
    workflow: Path | str,
    *,
    inputs: Mapping[str, str] = {},
    env: Mapping[str, str] = {},
    secrets: Mapping[str, str] = TOKEN,
    actions: Mapping[str, Path] = STUBS,
    run_id: int = 1,
    api_url: str = "",
    timeout: float = 60,
) -> ActRun:
    """Run a workflow, given as a file or as its text, in a folder. A file is run just as it is.

    `api_url` is where GitHub's API answers; without one it is a stub that takes every run for one of the workflow.
    `actions` has the folders to take actions from, by `owner/repository`.
    After the timeout, in seconds, everything is killed and `subprocess.TimeoutExpired` raised.
    """
    text = workflow if isinstance(workflow, str) else workflow.read_text(encoding="utf-8")
    reported = {**REPOSITORY, **FACTS, "GITHUB_API_URL": api_url or _friendly_api(), "GITHUB_RUN_ID": str(run_id)}
    with tempfile.TemporaryDirectory(prefix="act-", ignore_cleanup_errors=True) as private:
        home = Path(private, "home")
        home.mkdir()
        if isinstance(workflow, str):
            workflow = Path(private, "workflow.yml")
            workflow.write_text(warm.forked_steps(text), encoding="utf-8")
        command = [
            program("act"),
            "workflow_dispatch",
            *OPTIONS,
            *LOCAL,
            f"--workflows={workflow.resolve()}",
            f"--action-cache-path={private}/cache",
            *(f"--env={name}={value}" for name, value in reported.items()),
            *(f"--input={name}={value}" for name, value in inputs.items()),
            *(f"--secret={name}={value}" for name, value in secrets.items()),
            *(f"--local-repository={used}={at}" for used, at in _replaced(text, actions)),
        ]
        foreign = ("XDG_", "DOCKER_", "GITHUB_", "RUNNER_")
        saved = {name: value for name, value in env.items() if not name.startswith(foreign)}
        path = f"{PROGRAMS}:{saved.get('PATH', os.environ['PATH'])}"
        return _execute(command, folder, {**saved, "PATH": path, "HOME": str(home)}, timeout)


_RUNNING = ExitStack()
atexit.register(_RUNNING.close)


@cache
def _friendly_api() -> str:
    """One for all runs of these tests, until they end."""
    return _RUNNING.enter_context(answering(Api()))


def _replaced(text: str, actions: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """The actions that a workflow uses, and the folders to take them from."""
    jobs = yaml.load(text, LOADER)["jobs"].values()
    used = {part["uses"] for job in jobs for part in (job, *job.get("steps", ())) if "uses" in part}
    for action in sorted(used):
        name = action.partition("@")[0]
        if name == "actions/checkout" or action.startswith("./"):
            continue
        if name not in actions:
            raise ValueError(f"no stub for {action}")
        yield action, actions[name].resolve()


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
            printed, complained = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            os.killpg(process.pid, signal.SIGKILL)
            late.add_note(log_of(Finished(-1, *process.communicate())))
            raise
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    done = Finished(process.returncode, printed, complained)
    return ActRun(done.code, log_of(done), "".join(text for _, text in summaries(events_of(done.out))))


class End(NamedTuple):
    """The end and its message, and whether the summary has it."""

    word: str
    message: str
    is_said: bool

    def __str__(self) -> str:
        return f"{self.word} {self.message}".strip()


def end_of(_text: str, ran: ActRun | EngineRun) -> End:
    """The end of a run of a workflow, given as its text."""
    printed = re.findall(r"^(?:### )?(WAITING|COMPLETE|STOP)(?: (.*))?$", ran.summary, re.MULTILINE)
    if printed:
        word, message = printed[-1]
        return End(word, re.sub(r"\\(.)", r"\1", message), True)
    return End("STOP" if ran.exit_code else "COMPLETE", "", False)
