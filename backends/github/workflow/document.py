"""A whole workflow: its triggers, everything else around its jobs, and what `rdc.lock` lists of it."""

import re
from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any
from urllib.parse import quote

from msgspec import Struct, StructMeta
from msgspec.structs import replace

from backends.base import MARK, Companion, about_node
from backends.common.command import canonical_command
from backends.common.remarks import listed
from backends.common.templates import render
from backends.github.options.model import USUAL_PYTHON, Bound, Called, Concurrency, GithubOptions, SetupStep, command_of
from backends.github.options.steps import StepSecrets
from backends.github.options.triggers import OF_PULL_REQUESTS, lines, value, with_secrets, written_by
from backends.github.workflow.header import facts
from backends.github.workflow.inputs import with_declared
from backends.github.yaml.model import PLAIN_SHELL, Job, Step
from backends.github.yaml.pins import pinned, pins
from backends.github.yaml.scalar import FILTERS, Expression, comment, evaluated, label
from compiler.diagnostics.model import Diagnostic
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Gate
from compiler.text.regex import Regex
from compiler.version import __version__

REASON_TO_ASK = "see who reviewed this run"
"""Why a token may read a run on GitHub: a comment on its permission."""

OPTION = "option permissions"
"""Why a token has a permission that no step of rdc needs."""

_EXPRESSION = Regex(r"\$\{\{(.*?)\}\}(?!\})")
_FACT = Regex(r"\b(steps|needs)\.(\w+)\.(?:outputs\.(\w+))?")
"""A reference to a step or job, and to its output, in an expression."""


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
    def shell(self) -> str:
        """The shell of all jobs that set no other; "" for none."""
        return ""

    @property
    def minutes(self) -> int:
        """The time limit of a job (T-29)."""
        return self.options.timeout_minutes or 60

    @property
    def waits(self) -> bool:
        """Whether a run may wait, and another run continue it."""
        return False

    @property
    def _gates(self) -> Sequence[str]:
        """The nodes that reviewers of an environment decide about. In native steps, these are all questions (T-20)."""
        return [node.id for node in self.program.nodes if isinstance(node.task, Ask)]

    def text(self) -> str:
        """The whole file."""
        options, jobs = self.options, pinned(list(self._guarded()), self.options.actions)
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
            timeout=self.minutes,
            jobs=jobs,
            facts=[*facts(self.program, options, jobs, self._gates)],
            guide=self._guide,
            plain_shell=PLAIN_SHELL,
            shell=self.shell,
        )

    def _guarded(self) -> Iterator[Job]:
        """Yield the jobs. Only the authors that may start the workflow start its first jobs, which others need."""
        authors = self.options.if_author
        guard = list(written_by(authors, list(self.events))) if authors else []
        for job in referring(*self.jobs):
            yield replace(job, condition=all_of(job.condition, *guard)) if guard and not job.needs else job

    @property
    def companions(self) -> tuple[Companion, ...]:
        """The files beside the workflow that its steps call."""
        return ()

    @property
    def events(self) -> Mapping[str, Any]:
        """The events that start the workflow, with their settings, inputs and secrets."""
        events = with_declared(self._events, self.program.inputs)
        return with_secrets(events, self.secrets.stored) if self.program.secrets else events

    @property
    def _events(self) -> Mapping[str, Any]:
        return self.options.triggers()

    @property
    def _guide(self) -> str:
        """The lines at the top of the file that explain it; "" for none."""
        return ""

    @property
    def _title(self) -> str:
        return label(self.program.title or self.program.name)

    @property
    def _concurrency(self) -> Concurrency:
        """One run at a time on all branches: also one that continues another (T-28). Pull requests don't wait."""
        # When a run joins a group, GitHub cancels the run of that group that waits to start.
        workflow = re.sub(r"[^A-Za-z0-9._/-]+", "-", self.program.name) + "-called" * (
            "workflow_call" in self.events
        )  # its caller may be a namesake
        if OF_PULL_REQUESTS.isdisjoint(self.events):
            return Concurrency.model_construct(group=workflow)
        each = "-${{ github.event.pull_request.number || 'other' }}"
        return Concurrency.model_construct(group=Expression(f"{workflow}{each}"))

    def _set_up(self) -> Iterator[Step]:
        yield from map(set_up, self.options.setup)

    @cached_property
    def secrets(self) -> StepSecrets:
        """The secrets of nodes."""
        return StepSecrets(self.program, self.options)

    def _permissions(self, steps: Iterable[Step], **needed: str) -> Iterator[tuple[str, str, str]]:
        """Yield the permissions of a job: of the options, and to read the scopes that it needs, each with a reason.

        Its steps may check out the repository by rdc's own step or by one of the option `setup`.
        """
        checks_out = any(step.uses.lower().startswith("actions/checkout@") for step in steps)
        reasons = {"contents": "check out the repository"} | needed if checks_out else needed
        for scope, access in (dict.fromkeys(reasons, "read") | self.options.permissions).items():
            yield scope, access, reasons.get(scope, OPTION) if access == "read" else OPTION

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


def referring(*jobs: Job) -> Sequence[Job]:
    """Return jobs that need the jobs whose outputs they use, without outputs and step ids that nothing uses."""
    facts = {job.id: set(_facts(job)) for job in jobs}
    used = {(of, output) for found in facts.values() for kind, of, output in found if kind == "needs"}
    return [_referring(job, [job.id for job in jobs], used) for job in jobs]


def _referring(job: Job, ids: Iterable[str], used: AbstractSet[tuple[str, str]]) -> Job:
    outputs = {name: value for name, value in job.outputs.items() if (job.id, name) in used}
    facts = set(_facts(replace(job, outputs=outputs)))
    needed = {*job.needs, *(of for kind, of, _ in facts if kind == "needs")}
    read = {of for kind, of, _ in facts if kind == "steps"}
    journals = any("rdc-journal" in step.shell + step.run for step in job.steps)
    steps = (step if step.id in read or journals else replace(step, id="") for step in job.steps)
    return replace(job, needs=tuple(name for name in ids if name in needed), outputs=outputs, steps=tuple(steps))


def _facts(job: Job) -> Iterator[tuple[str, str, str]]:
    """Yield the references in the expressions of a job. The author's text is never in one."""
    mappings = (job.outputs, job.env, *(step.env for step in job.steps), *(step.inputs for step in job.steps))
    shown = [job.name, *(step.name for step in job.steps), *(text for each in mappings for text in each.values())]
    inside = [text for each in shown if isinstance(each, Expression) for text in _EXPRESSION.findall(each)]
    for text in (job.condition, *(step.condition for step in job.steps), *inside):
        yield from _FACT.findall(text)


def set_up(step: SetupStep) -> Step:
    """Return a step of the options as a step of a job."""
    return Step(
        name=step.name or step.uses or "Set up",
        uses=step.uses or "",
        inputs=step.inputs,
        shell=step.shell or ("bash" if step.run else ""),  # GitHub's default shell, not the shell of the nodes
        env=step.env,
        run=step.run or "",
    )


def all_of(*conditions: str) -> str:
    """Return expressions joined to one, for an `if:` with a status function."""
    return "${{ " + " && ".join(f"({text})" if "||" in text else text for text in conditions if text) + " }}"


def missing(names: Iterable[str], environment: str, events: Iterable[str]) -> dict[str, str]:
    """Return the variables that tell which secrets are missing, by their names on GitHub. They have no values."""
    found = "".join(f"${{{{ secrets.{name} == '' && '{name} ' || '' }}}}" for name in names)
    env: dict[str, str] = {"MISSING": Expression(found)}
    if environment:
        env["PLACE"] = f"repository, or of the environment {environment}"
    if not OF_PULL_REQUESTS.isdisjoint(events):
        pull = "github.event.pull_request"
        env["FORK"] = evaluated(f"{pull} && {pull}.head.repo.full_name != github.repository || false")
    return env


def reviewers_step(environments: Iterable[str], other: str = "") -> Step:
    """Return the first step of a workflow with decisions (T-21). `other` tells what the author can do instead."""
    names = {quote(name, safe=""): told(name) for name in environments}
    return Step(
        name="Stop if no one would be asked",
        env={"GH_TOKEN": evaluated("github.token")},
        run=render("github/reviewers.sh", names=names, other=other),
    )


def told(name: str) -> str:
    """Return an environment's name for a command to the runner, in single quotes of bash."""
    return name.replace("%", "%25").replace("'", "'\\''")


def deciding(environments: Sequence[str]) -> str:
    """Return what a workflow with decisions needs, for its header."""
    one = "environments" if environments[1:] else "an environment"
    return f"Deciding needs {one} named {_named(environments)} with required reviewers (Settings > Environments)."


def needs_reviewers(first: Node, environments: Sequence[str], other: str = "") -> Diagnostic:
    """Return the diagnostic about the environments that need reviewers (T-27)."""
    what, plural = "gate" if isinstance(first.task, Gate) else "step", "s" if environments[1:] else ""
    problem = f"{what} {first.id} waits for a reviewer: the workflow needs the environment{plural} "
    remedy = (
        "on GitHub, create it under Settings > Environments with required reviewers (in a private repository only "
        f"with GitHub Enterprise){other}"
    )
    return about_node(first, "RD527", problem + _named(environments), remedy)


def _named(environments: Sequence[str]) -> str:
    return listed([f"`{comment(name)}`" for name in environments])


BY_HAND = "workflow_dispatch"
USUAL = GithubOptions()
"""The usual values, which are not listed: starts by hand, on GitHub's runners, with replies from people."""


def items(workflow: Written) -> tuple[str, ...]:
    """Return the permissions, calls and other items of a workflow, each once, as a kind and a value."""
    return tuple(dict.fromkeys((*_of_jobs(workflow), *_of_options(workflow))))


def _of_jobs(workflow: Written) -> Iterator[str]:
    for job in pinned(workflow.jobs, workflow.options.actions):
        yield from (f"permission {scope}: {access}" for scope, access, _ in job.permissions)
        if job.environment:
            yield f"environment {job.environment}"
        for step in job.steps:
            if step.uses:
                yield f"action {step.uses}{f' # {step.version}' if step.version else ''}"


def _of_options(workflow: Written) -> Iterator[str]:
    options = workflow.options
    yield from (f"secret {name}" for name in workflow.secrets.stored.values())
    for (kind, *names), caller in options.callers():
        word = {"agents": "agent", "tools": "tool"}.get(kind, kind)
        yield f"{' '.join((word, *names))}: {command_of(caller).strip()}"
        if isinstance(caller, Called):
            yield from (f"{' '.join((word, *names))} gets secret {name}" for name in caller.secrets)
            yield from (item for step in caller.setup for item in _of_setup(step))
    for name, bound in options.bind.items():
        if options.is_of_event(name):
            yield f"input {name} from event.{options.event_field(name)}"
        elif isinstance(bound, Bound):
            yield f"script {bound.run.strip()}"
    yield from (f"trigger {event}" for event in workflow.events if event != BY_HAND)
    yield from (item for step in options.setup for item in _of_setup(step))
    yield from (f"env {name}: {text}" for name, text in options.env.items())
    if options.prompts != USUAL.prompts and any(isinstance(node.task, Ask) for node in workflow.program.nodes):
        yield f"prompts {options.prompts}"
    if options.python != USUAL_PYTHON:
        yield f"python {options.python}"
    labels = [options.runs_on] if isinstance(options.runs_on, str) else options.runs_on
    yield from (f"runner {runner}" for runner in labels if runner != USUAL.runs_on)


def _of_setup(step: SetupStep) -> Iterator[str]:
    """Yield the script, shell, inputs and variables of a set-up step. Its action is in the jobs."""
    if step.run:
        yield f"script {step.run.strip()}"
    if step.shell:
        yield f"shell {step.shell}"
    action = (step.uses or "").partition("@")[0]
    yield from (f"with {action} {name}: {text}" for name, text in step.inputs.items())
    yield from (f"env {name}: {text}" for name, text in step.env.items())
