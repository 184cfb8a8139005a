"""A whole workflow: its triggers, and what surrounds its jobs."""

from __future__ import annotations

import json
import re
from abc import ABCMeta, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct, StructMeta

from backends.base import MARK
from backends.command import canonical_command
from backends.companions import Companion
from backends.github.inputs import with_declared
from backends.github.job import Job
from backends.github.options import Bound, Concurrency, GithubOptions, SetupStep
from backends.github.pins import pinned, pins
from backends.github.rendering import workflow_yml
from backends.github.required import secrets_step
from backends.github.scalar import Expression, label
from backends.github.settings import StepSecrets
from backends.github.step import PLAIN_SHELL, Step
from backends.github.triggers import lines, value, with_secrets
from compiler.ir.program import Node, Program
from compiler.version import __version__

REASON_TO_ASK = "see who has reviewed this run"
"""Why a token may read what GitHub knows of a run: a comment on its permission."""

_REASONS = {"contents": "check out the repository", "actions": "check the run that waited, and take over its state"}


class _AbstractMeta(StructMeta, ABCMeta):
    """The type of structs that have abstract methods."""


class Written(Struct, metaclass=_AbstractMeta, frozen=True, dict=True):
    """What every workflow is made of."""

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
        """The shell of all jobs that name no other; "" for none."""
        return ""

    @property
    def waits(self) -> bool:
        """Whether a run may have to wait, and be continued by another one."""
        return False

    def text(self) -> str:
        """The whole file."""
        options = self.options
        return workflow_yml(
            program=self.program,
            mark=MARK,
            command=canonical_command("github", self.program, options),
            version=__version__,
            name=self._title,
            triggers=lines(self.events),
            concurrency=options.concurrency or self._concurrency,
            runs_on=value(options.runs_on, 6),
            timeout=options.timeout_minutes,
            jobs=pinned(self.jobs, options.actions),
            guide=self._guide,
            shell_says=self._shell_says,
            plain_shell=PLAIN_SHELL,
            loader=self.loader,
        )

    @property
    def companions(self) -> tuple[Companion, ...]:
        """The files that the steps call beside the workflow."""
        return ()

    @property
    def events(self) -> Mapping[str, Any]:
        """What starts the workflow: each event with what is said of it, and with the inputs and secrets it gives."""
        events = with_declared(self._events, self.program.inputs)
        return with_secrets(events, self._secrets.stored) if self.program.secrets else events

    @property
    def _events(self) -> Mapping[str, Any]:
        return self.options.triggers()

    @property
    def _guide(self) -> str:
        """What whoever opens the file is told of its order, if that needs a word."""
        return ""

    @property
    def _shell_says(self) -> str:
        return ""

    @property
    def _title(self) -> str:
        return label(self.program.title or self.program.name)

    @property
    def _concurrency(self) -> Concurrency:
        """One run at a time for each workflow and branch, and for each run that waited.

        When a run comes to a group, GitHub cancels the one that waits there to begin. A continuation has a group of its
        own, so that no new run does that to it. A workflow that is called does not know its own name.
        """
        called = "workflow_call" in self.events
        workflow = _plain(self.program.sources[0].path) if called else "${{ github.workflow }}"
        resume = "-${{ inputs.resume || 'new' }}" if self.waits else ""
        return Concurrency(group=Expression(f"{workflow}-${{{{ github.ref }}}}{resume}"))

    def _set_up(self) -> Iterator[Step]:
        """The steps of the option `setup`, which each job begins with."""
        yield from map(set_up, self.options.setup)

    @cached_property
    def _secrets(self) -> StepSecrets:
        """The secrets that nodes get, and what surrounds them does not."""
        return StepSecrets(self.program, self.options)

    @property
    def stored_secrets(self) -> Mapping[str, str]:
        """The names on GitHub of all secrets, by the variables that have them."""
        return self._secrets.stored

    def _check_secrets(self, environment: str, names: Collection[str]) -> Iterator[Step]:
        found = {name: self._secrets.stored[name] for name in self.program.secrets if name in names}
        if found:
            yield secrets_step(found.values(), environment, self.events)

    def _permissions(self, *, asks: bool = False) -> Iterator[tuple[str, str, str]]:
        """What the token of a job may do. One that `asks` looks at the reviews of the run."""
        granted = dict(self.options.permissions)
        if (self.waits or asks) and granted.get("actions") != "write":
            granted["actions"] = "read"
        reasons = {**_REASONS, "actions": REASON_TO_ASK} if asks else _REASONS
        for scope, access in granted.items():
            yield scope, access, reasons.get(scope, "asked for by the option `permissions`")

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
        """The variables of all steps that the option `env` gives."""
        return {name: as_shown(value) for name, value in self.options.env.items()}


def _plain(path: str) -> str:
    """A path as a part of the name of a group."""
    return re.sub(r"[^A-Za-z0-9._/-]+", "-", path)


def set_up(step: SetupStep) -> Step:
    """A step of the options as a step of a job."""
    return Step(
        name=step.name or step.uses or "Set up",
        uses=step.uses or "",
        inputs={name: as_shown(value) for name, value in step.inputs.items()},
        shell=step.shell or ("bash" if step.run else ""),  # as GitHub has it, and not that of the nodes
        env={name: as_shown(value) for name, value in step.env.items()},
        run=step.run or "",
    )


def as_shown(value: object) -> str:
    """A value of an option; numbers and booleans stand without quotes."""
    return value if isinstance(value, str) else Expression(json.dumps(value))


def all_of(*conditions: str) -> str:
    """Some expressions joined to one, for an `if:` that says when it runs itself."""
    return "${{ " + " && ".join(f"({text})" if "||" in text else text for text in conditions if text) + " }}"
