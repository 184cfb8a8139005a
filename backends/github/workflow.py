"""A whole workflow: its triggers, and everything else around its jobs."""

from __future__ import annotations

import json
import re
from abc import ABCMeta, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct, StructMeta
from msgspec.structs import replace

from backends.base import MARK
from backends.command import canonical_command
from backends.companions import Companion
from backends.github.events import written_by
from backends.github.inputs import with_declared
from backends.github.job import Job
from backends.github.options import Bound, Concurrency, GithubOptions, SetupStep
from backends.github.pins import pinned, pins
from backends.github.required import secrets_step
from backends.github.scalar import FILTERS, Expression, label
from backends.github.settings import StepSecrets
from backends.github.step import PLAIN_SHELL, Step
from backends.github.triggers import lines, value, with_secrets
from backends.templating import render
from compiler.ir.program import Node, Program
from compiler.version import __version__

REASON_TO_ASK = "see who reviewed this run"
"""Why a token may read a run on GitHub: a comment on its permission."""

_REASONS = {"contents": "check out the repository", "actions": "check the waiting run and load its state"}


class _AbstractMeta(StructMeta, ABCMeta):
    """The type of structs with abstract methods."""


class Written(Struct, metaclass=_AbstractMeta, frozen=True, dict=True):
    """The parts that every workflow has."""

    program: Program
    options: GithubOptions

    @property
    @abstractmethod
    def jobs(self) -> Sequence[Job]:
        """The jobs in order."""

    @property
    @abstractmethod
    def names(self) -> Mapping[str, Node]:
        """The nodes by the ids of their steps."""

    @property
    def loader(self) -> str:
        """The shell of all jobs that set no other; "" for none."""
        return ""

    @property
    def waits(self) -> bool:
        """Whether a run may wait, and another run continue it."""
        return False

    def text(self) -> str:
        """The whole file."""
        options = self.options
        return render(
            "github/workflow.yml",
            FILTERS,
            program=self.program,
            mark=MARK,
            command=canonical_command("github", self.program, options),
            version=__version__,
            name=self._title,
            triggers=lines(self.events),
            concurrency=options.concurrency or self._concurrency,
            runs_on=value(options.runs_on, 6),
            timeout=options.timeout_minutes,
            jobs=pinned(list(self._guarded()), options.actions),
            guide=self._guide,
            shell_says=self._shell_says,
            plain_shell=PLAIN_SHELL,
            loader=self.loader,
        )

    def _guarded(self) -> Iterator[Job]:
        """Yield the jobs. Only the authors that may start the workflow start its first jobs, which others need."""
        authors = self.options.if_author
        guard = all_of(*written_by(authors, list(self.events))) if authors else ""
        for job in self.jobs:
            yield replace(job, condition=guard) if guard and not job.needs else job

    @property
    def companions(self) -> tuple[Companion, ...]:
        """The files beside the workflow that its steps call."""
        return ()

    @property
    def events(self) -> Mapping[str, Any]:
        """The events that start the workflow, with their settings, inputs and secrets."""
        events = with_declared(self._events, self.program.inputs)
        return with_secrets(events, self._secrets.stored) if self.program.secrets else events

    @property
    def _events(self) -> Mapping[str, Any]:
        return self.options.triggers()

    @property
    def _guide(self) -> str:
        """The lines at the top of the file that explain it; "" for none."""
        return ""

    @property
    def _shell_says(self) -> str:
        return ""

    @property
    def _title(self) -> str:
        return label(self.program.title or self.program.name)

    @property
    def _concurrency(self) -> Concurrency:
        """One run at a time for each workflow's file and branch, and for each continued run (T-28).

        When a run joins a group, GitHub cancels the run of that group that waits to start. A continuation has a
        separate group, so that a new run does not cancel it. Workflows of other documents may have the same title.
        """
        workflow = _plain(self.program.name) + "-called" * (
            "workflow_call" in self.events
        )  # its caller may be a namesake
        resume = "-${{ inputs.resume || 'new' }}" if self.waits else ""
        return Concurrency(group=Expression(f"{workflow}-${{{{ github.ref }}}}{resume}"))

    def _set_up(self) -> Iterator[Step]:
        yield from map(set_up, self.options.setup)

    @cached_property
    def _secrets(self) -> StepSecrets:
        """The secrets that nodes get and that the steps around them don't."""
        return StepSecrets(self.program, self.options)

    @property
    def stored_secrets(self) -> Mapping[str, str]:
        """The names of all secrets on GitHub, by their variables."""
        return self._secrets.stored

    def _check_secrets(self, environment: str, names: Collection[str]) -> Iterator[Step]:
        found = {name: self._secrets.stored[name] for name in self.program.secrets if name in names}
        if found:
            yield secrets_step(found.values(), environment, self.events)

    def _permissions(self, *, asks: bool = False) -> Iterator[tuple[str, str, str]]:
        """Yield the permissions of a job's token. A job that `asks` reads the reviews of the run."""
        granted = dict(self.options.permissions)
        if (self.waits or asks) and granted.get("actions") != "write":
            granted["actions"] = "read"
        reasons = {**_REASONS, "actions": REASON_TO_ASK} if asks else _REASONS
        for scope, access in granted.items():
            yield scope, access, reasons.get(scope, "set by the option `permissions`")

    def _checkout(self) -> Step:
        compares = any(isinstance(value, Bound) for value in self.options.bind.values())  # as `git diff` does
        pin = pins()["checkout"]
        return Step(
            name="Check out",
            uses=pin.reference,
            version=pin.version,
            inputs={"persist-credentials": Expression("false")}
            | ({"fetch-depth": Expression("0")} if compares else {}),
        )

    def _environment(self) -> dict[str, str]:
        """Return the variables that the option `env` sets for all steps."""
        return {name: as_shown(value) for name, value in self.options.env.items()}


def _plain(path: str) -> str:
    """Return a path as part of a group's name."""
    return re.sub(r"[^A-Za-z0-9._/-]+", "-", path)


def set_up(step: SetupStep) -> Step:
    """Return a step of the options as a step of a job."""
    return Step(
        name=step.name or step.uses or "Set up",
        uses=step.uses or "",
        inputs={name: as_shown(value) for name, value in step.inputs.items()},
        shell=step.shell or ("bash" if step.run else ""),  # GitHub's default shell, not the shell of the nodes
        env={name: as_shown(value) for name, value in step.env.items()},
        run=step.run or "",
    )


def as_shown(value: object) -> str:
    """Return an option's value for display. Numbers and booleans have no quotes."""
    return value if isinstance(value, str) else Expression(json.dumps(value))


def all_of(*conditions: str) -> str:
    """Return expressions joined to one, for an `if:` with a status function."""
    return "${{ " + " && ".join(f"({text})" if "||" in text else text for text in conditions if text) + " }}"
