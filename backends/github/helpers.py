"""The option `helpers: action`: what is no part of a runbook stands in files that the workflows of a repository share.

A file is called by what it does and a digest of its text. So workflows of one version share it, and one of another
version beside them has its own. Each job copies the files from the repository before anything of the runbook runs, and
goes on only if they are what the workflow was compiled with: a token that may change any other file of a repository
may not change its workflows.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import replace

from backends.base import MARK
from backends.companions import Companion
from backends.github.job import Job
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from compiler.version import __version__

WORKFLOWS = ".github/workflows"
"""Where GitHub looks for workflows, and so where the folder of the option leads from."""

_COPIES = "$RUNNER_TEMP/rdc-helpers"
_READ = ("contents", "read", "check out the helpers")


def shared(job: Job, checkout: Step, folder: str) -> Job:
    """A job whose helpers are called from files."""
    if not any(step.helper for step in job.steps):
        return job
    others = [_called(step) for step in job.steps if step != checkout]
    permissions = job.permissions
    if not any(scope == "contents" for scope, _, _ in permissions):
        permissions = (_READ, *permissions)
    steps = (replace(checkout, condition=""), _taken(job, folder), *others)
    return replace(job, steps=steps, permissions=permissions)


def files(jobs: Iterable[Job], folder: str) -> Iterator[Companion]:
    """The files of the helpers of some jobs as they are without this option, each once."""
    found = dict.fromkeys((_name(step), step.run) for job in jobs for step in job.steps if step.helper)
    for name, run in found:
        yield Companion(f"{folder}/{name}", _text(run), "helpers-folder")


def _taken(job: Job, folder: str) -> Step:
    """Copies the helpers, and holds those that the job calls against what they were."""
    digests = {_name(step): _digest(step) for step in job.steps if step.helper}
    place = posixpath.normpath(posixpath.join(WORKFLOWS, folder))
    return Step(
        "Take the helpers",
        comments=("The files that the steps of this workflow share with others; nothing of the document is in them.",),
        shell=PLAIN_SHELL,
        env={"HELPERS": "".join(f"{digest}  {name}\n" for name, digest in digests.items())},
        run=render("helpers.sh.jinja", place=place, copies=_COPIES),
    )


def _called(step: Step) -> Step:
    return replace(step, run=f'. "{_COPIES}/{_name(step)}"') if step.helper else step


def _name(step: Step) -> str:
    return f"{step.helper}-{_digest(step)[:8]}.sh"


def _digest(step: Step) -> str:
    return hashlib.sha256(_text(step.run).encode()).hexdigest()


def _text(run: str) -> str:
    about = f"{MARK} {__version__} for the workflows that name this file. Do not edit."
    return f"# shellcheck shell=bash\n# {about}\n{run}"
