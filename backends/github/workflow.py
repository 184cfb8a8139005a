"""A whole workflow: its triggers, and its jobs with their setup, nodes and results."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from backends.base import MARK
from backends.command import canonical_command
from backends.companions import Companion
from backends.github.helpers import files, shared
from backends.github.identifiers import REVIEWS
from backends.github.inputs import with_declared
from backends.github.job import Job
from backends.github.jobs import Jobs, Part, all_of
from backends.github.line import Line
from backends.github.options import Bound, Concurrency, GithubOptions, SetupStep, command_of
from backends.github.pins import pins
from backends.github.plan import Plan
from backends.github.prompts import TOKEN, Agents, Prompts
from backends.github.question import example
from backends.github.required import secrets_step
from backends.github.routes import Routes
from backends.github.scalar import Expression, label
from backends.github.settings import StepSecrets
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from backends.github.triggers import lines, value, with_inputs, with_secrets
from compiler.ir.program import Node, Program
from compiler.version import __version__

REASON_TO_ASK = "see who has reviewed this run"
"""Why a token may read what GitHub knows of a run: a comment on its permission."""
_REASONS = {"contents": "check out the repository", "actions": "check the run that waited, and take over its state"}


JobsType = TypeVar("JobsType", bound=Jobs)


@dataclass(frozen=True)
class Written(ABC):
    """What every workflow is made of; `flow` is the graph as Mermaid, empty for none."""

    program: Program
    plan: Plan | Routes | Line
    options: GithubOptions
    prompts: Prompts
    flow: str

    @property
    @abstractmethod
    def jobs(self) -> Sequence[Job]:
        """The jobs in order."""

    def text(self) -> str:
        """The whole file."""
        options = self.options
        return render(
            "workflow.yml.jinja",
            program=self.program,
            mark=MARK,
            command=canonical_command("github", self.program, options),
            version=__version__,
            name=self._title,
            triggers=lines(self.events),
            concurrency=options.concurrency or self._concurrency,
            runs_on=value(options.runs_on, 6),
            timeout=options.timeout_minutes,
            jobs=[self._shared(job) for job in self.jobs],
            guide=self._guide,
            shell_says=self._shell_says,
            plain_shell=PLAIN_SHELL,
            needs=lambda job: value(list(job.needs), 6),
        )

    @property
    def companions(self) -> tuple[Companion, ...]:
        """The files that the steps call beside the workflow."""
        is_shared = self.options.helpers == "action"
        return tuple(files(self.jobs, self.options.helpers_folder)) if is_shared else ()

    def _shared(self, job: Job) -> Job:
        is_shared = self.options.helpers == "action"
        return shared(job, self._checkout(), self.options.helpers_folder) if is_shared else job

    @property
    def events(self) -> Mapping[str, Any]:
        """What starts the workflow: each event with what is said of it, and with the inputs and secrets it gives."""
        events = with_declared(self._events, self.program.inputs)
        return with_secrets(events, self._secrets.stored) if self.program.secrets else events

    @property
    def _events(self) -> Mapping[str, Any]:
        events = self.options.triggers()
        return with_inputs(events, example(self.program)) if self.prompts.waits else events

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
        resume = "-${{ inputs.resume || 'new' }}" if self.prompts.waits else ""
        return Concurrency.model_construct(group=Expression(f"{workflow}-${{{{ github.ref }}}}{resume}"))

    def _set_up(self) -> Iterator[Step]:
        """The steps of the option `setup`, which each job begins with."""
        yield from map(set_up, self.options.setup)

    @cached_property
    def _secrets(self) -> StepSecrets:
        """The secrets that nodes get, and what surrounds them does not."""
        return StepSecrets(self.plan.program, self.options)

    def _check_secrets(self, environment: str, names: Collection[str]) -> Iterator[Step]:
        found = {name: self._secrets.stored[name] for name in self.program.secrets if name in names}
        if found:
            yield secrets_step(found.values(), environment, self.events)

    def _permissions(self, first: bool, *, asks: bool = False, waits: bool = False) -> Iterator[tuple[str, str, str]]:
        """What the token of a job may do. One that `asks` looks at the reviews of the run."""
        granted = dict(self.options.permissions)
        if not first and granted == {"contents": "read"}:
            granted = {}
        if (waits or asks) and granted.get("actions") != "write":
            granted["actions"] = "read"
        reasons = {**_REASONS, "actions": REASON_TO_ASK} if asks else _REASONS
        for scope, access in granted.items():
            yield scope, access, reasons.get(scope, "asked for by the option `permissions`")

    def _checkout(self) -> Step:
        compares = any(isinstance(value, Bound) for value in self.options.bind.values())  # as `git diff` does
        pin = pins()["checkout"]
        return Step(
            name="Check out",
            condition="${{ !inputs.resume }}" if self.prompts.waits else "",
            uses=pin.reference,
            version=pin.version,
            inputs={"persist-credentials": Expression("false")}
            | ({"fetch-depth": Expression("0")} if compares else {}),
        )


@dataclass(frozen=True)
class Workflow(Written, Generic[JobsType]):
    """A workflow whose places are cut into parts, between which others decide."""

    plan: Plan | Routes

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs in order; what each hands on is known only when all others are written."""
        parts = self._cut()
        found: list[Job] = []
        for part in parts.parts:
            found += [self._part(parts, part), *self._beside(parts, part)]
        found += self._published(parts)
        return tuple(replace(job, outputs=parts.outputs.get(job.id, {})) for job in found)

    @abstractmethod
    def _cut(self) -> JobsType:
        """The places in jobs."""

    @abstractmethod
    def _begun(self, parts: JobsType, part: Part) -> Iterator[Step]:
        """The steps by which a job begins, or goes on with the run of another."""

    @abstractmethod
    def _path(self, parts: JobsType, part: Part) -> Iterator[Step]:
        """The steps of the nodes, and the one that says how the job ends."""

    @abstractmethod
    def _kept(self, parts: JobsType, part: Part) -> Iterator[Step]:
        """The steps by which a job keeps the run for another."""

    def _beside(self, parts: JobsType, part: Part) -> Iterator[Job]:  # noqa: ARG002 (a runbook has none)
        """The jobs that decide about places of a part, between it and the next."""
        return iter(())

    def _published(self, parts: JobsType) -> Iterator[Job]:  # noqa: ARG002 (a runbook has no output)
        """The jobs that write what a run has put out where people see it."""
        return iter(())

    def _why(self, parts: JobsType, part: Part) -> Iterator[str]:  # noqa: ARG002 (not all have something to say)
        """What a part is there for, as comments on its job."""
        return iter(())

    @abstractmethod
    def _shell(self, part: Part) -> str:
        """The shell of the steps of a job that name none."""

    def _part(self, parts: JobsType, part: Part) -> Job:
        earlier = parts.before(part)[0]
        condition = ""
        if earlier:
            reached = parts.whole(part)
            condition = all_of("!cancelled()", *parts.fine(part), reached)
        return Job(
            id=part.id,
            name=self._title if len(parts.parts) == 1 else f"{self._title}, part {parts.parts.index(part) + 1}",
            steps=tuple(self._steps(parts, part)),
            condition=condition,
            needs=tuple(parts.needs(part)),
            environment=self._environment_of(part),
            permissions=tuple(self._permissions(not earlier, asks=parts.asks(part), waits=self.prompts.waits)),
            env=self._environment(part),
            shell=self._shell(part),
            comments=tuple(self._why(parts, part)),
        )

    def _steps(self, parts: JobsType, part: Part) -> Iterator[Step]:
        yield from self._looked_for(parts, part)
        if part.questions:
            yield self._reviews()
        yield from self._begun(parts, part)
        yield from self._set_up()
        yield from self._installed(node for place in part.places if place not in part.matrices for node in place.nodes)
        yield from self._path(parts, part)
        yield from self._kept(parts, part)

    def _installed(self, nodes: Iterable[Node]) -> Iterator[Step]:  # noqa: ARG002 (native steps call nothing)
        """The steps that install what some nodes call."""
        return iter(())

    def _reviews(self) -> Step:
        env = {"TOKEN": TOKEN, "ENVIRONMENT": self.options.approval_environment}
        return Step(
            "Note the reviews until now",
            REVIEWS,
            shell=PLAIN_SHELL,
            env=env,
            run=render("before.sh.jinja"),
            helper="reviews",
        )

    def _secrets_in(self, part: Part) -> Mapping[str, str]:
        """What the nodes of a job get, and so what it may not keep: the other secrets do not come to its runner."""
        return self._secrets.of(*(node for place in part.places if place not in part.matrices for node in place.nodes))

    def _looked_for(self, parts: JobsType, part: Part) -> Iterator[Step]:
        """The step that makes sure of the secrets which the document needs (I26).

        The first job looks for all that it can see. A secret that only jobs in another environment use may belong to
        that environment, so each of these looks for its own.
        """
        first, here = self._environment_of(parts.parts[0]), self._environment_of(part)
        used = list(self._used(parts))
        elsewhere = {name for _, names in used for name in names}
        elsewhere -= {name for environment, names in used if environment == first for name in names}
        if part is parts.parts[0]:
            yield from self._check_secrets(here, set(self.program.secrets) - elsewhere)
        elif here != first:
            yield from self._check_secrets(here, elsewhere.intersection(self._secrets_in(part)))

    def _used(self, parts: JobsType) -> Iterator[tuple[str, Collection[str]]]:
        """The environments of jobs, and the secrets that their nodes get."""
        return ((self._environment_of(part), self._secrets_in(part)) for part in parts.parts)

    def _environment_of(self, part: Part) -> str:
        return part.environment or self.options.environment or ""

    def _own_variables(self, part: Part) -> dict[str, str]:  # noqa: ARG002 (the same for all)
        """What a called process is told of the run."""
        return {"RDC_RUN_ID": Expression("${{ github.run_id }}")}

    def _environment(self, part: Part) -> dict[str, str]:
        options = self.options
        env = self._own_variables(part)
        env |= {name: as_shown(value) for name, value in options.env.items()}
        if isinstance(self.prompts, Agents):
            env["RDC_AGENT"] = command_of(options.agent, options.agent_model)
        return env


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
    """A value of an option; numbers and truth values stand without quotes."""
    return value if isinstance(value, str) else Expression(json.dumps(value))
