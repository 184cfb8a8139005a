"""The workflow of a program with texts, values, agents, tools or gates: its steps call the runtime (`rdc.py`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from backends.github import matrix
from backends.github.calls import RUNTIME, STEP_SHELL, Calls
from backends.github.changes import proposes_changes
from backends.github.continuation import (
    CALLS_KEPT,
    REPORTS,
    calls_kept,
    entries_taken,
    fetched,
    handed_over,
    identity,
    left_behind,
    of_earlier,
    waiting_saved,
)
from backends.github.identifiers import ARTIFACT, BEGIN, HANDED, RESULT
from backends.github.inputs import given, measured, said, variable_names
from backends.github.job import Job
from backends.github.jobs import Part, all_of
from backends.github.nodes import title
from backends.github.options import Called, Concurrency, SetupStep
from backends.github.places import Place
from backends.github.prompts import TOKEN, Approvals
from backends.github.publishing import ABOUT_ISSUES, publications
from backends.github.question import question
from backends.github.routes import RoutedParts, Routes
from backends.github.runtime import Runtime, delimiter, job_variables, plain_name, runtime
from backends.github.scalar import Expression
from backends.github.settings import agent_types, callers_of, environments_of
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from backends.github.workflow import REASON_TO_ASK, Workflow, set_up
from backends.remarks import of_contexts
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Node
from compiler.ir.tasks import Agent, Gate, Parallel, Shell, Tool
from compiler.version import __version__


@dataclass(frozen=True)
class RoutedWorkflow(Workflow[RoutedParts]):
    """The workflow of a program whose steps say by the name of a place where the run goes on."""

    plan: Routes

    @cached_property
    def _talks(self) -> bool:
        """Whether nodes call agents or tools."""
        return any(isinstance(node.task, Agent | Tool | Parallel) for node in self.plan.program.nodes)

    @property
    def _beside_state(self) -> tuple[str, ...]:
        """What is kept with the state of a run: prompts, answers and counts of calls, and reports."""
        has_reports = Feature.REPORTS in features_of(self.plan.program)
        return (*(CALLS_KEPT if self._talks else ()), *((REPORTS,) if has_reports else ()))

    @property
    def _proposes(self) -> bool:
        """Whether what agents change in the workspace is published."""
        return proposes_changes(self.program, self.options)

    @cached_property
    def _runtime(self) -> Runtime:
        parts = self._cut().parts if self.options.parallel == "matrix" else ()
        matrices = [name for part in parts for name in self._names(part.matrices)]
        return runtime(self.plan, self.options, self.options.prompts, matrices)

    @property
    def _concurrency(self) -> Concurrency:
        """One run at a time for each issue: GitHub would cancel those of others that wait to begin."""
        usual = super()._concurrency
        if not self._talks or not ABOUT_ISSUES & set(self.events):
            return usual
        each = "-${{ github.event.issue.number || github.run_id }}"
        return Concurrency.model_construct(group=Expression(f"{usual.group}{each}"))

    def _cut(self) -> RoutedParts:
        return RoutedParts(
            self.plan,
            approvals=isinstance(self.prompts, Approvals),
            waits=self.prompts.waits,
            matrices=self.options.parallel == "matrix",
            environments=environments_of(self.program, self.options),
        )

    @property
    def _guide(self) -> str:
        begins = (
            "The program begins at the step `Prepare`. The step before it is the runtime of rdc, which all others call."
        )
        return " ".join([begins, *of_contexts(self.plan.program, "`contexts` in the program")])

    def _shell(self, part: Part) -> str:
        """Commands stand in their steps as they are, and the shell gives them to the runtime."""
        has_commands = any(place.kind == "step" and isinstance(place.node.task, Shell) for place in part.places)
        return STEP_SHELL if has_commands else PLAIN_SHELL

    def _environment(self, part: Part) -> dict[str, str]:
        env = {name: value for name, value in super()._environment(part).items() if name != "RDC_AGENT"}
        return env | job_variables(self.plan, self.options, self.options.prompts)

    def _question(self, node: Node) -> str:
        return str(node.task.reason) if isinstance(node.task, Gate) else question(node)

    def _begun(self, parts: RoutedParts, part: Part) -> Iterator[Step]:
        before = parts.just_before(part)
        yield from self._taken_over(parts, before) if before else self._fetched()
        env = self._left(parts, part, before) if before else self._given()
        earlier, places = parts.before(part)
        script = render(
            "begin.sh.jinja",
            routed=True,
            beside=self._beside_state,
            summary=False,
            entry=False,
            earlier=earlier,
            decisions=[parts.decision(place).step for place in places],
            joined=self._names(before.matrices if before else ()),
            waits=self.prompts.waits,
            part=part.id,
            table=self._runtime.table,
            delimiter=delimiter(self._runtime.table),
            digest=self._runtime.digest,
        )
        program = {"PROGRAM": identity(self.program, self.options)} if self.prompts.waits else {}
        yield Step("Prepare", BEGIN, shell=PLAIN_SHELL, env=env | program, run=script)

    def _fetched(self) -> Iterator[Step]:
        """The files of the repository, the run that has waited, and the runtime."""
        if self.options.checkout:
            yield self._checkout()
        if self.prompts.waits:
            yield from fetched(self.options)
        yield from measured(self.program.inputs, self._events, self.options, waits=self.prompts.waits)
        yield from said(self.program.inputs, self._events, self.options, waits=self.prompts.waits)
        yield self._written()

    def _given(self) -> dict[str, str]:
        """What a run is begun with: answers and inputs."""
        asked = {"RDC_ANSWERS": Expression("${{ inputs.answers }}"), "RESUME": Expression("${{ inputs.resume }}")}
        is_given = not {"workflow_dispatch", "workflow_call"}.isdisjoint(self._events)
        declared = tuple(item for item in self.program.inputs if is_given or self.options.is_of_event(item.name))
        names = variable_names(self.program.inputs)
        return (asked if self.prompts.waits else {}) | given(declared, self._events, self.options, names)

    def _taken_over(self, parts: RoutedParts, before: Part) -> Iterator[Step]:
        """What the last of the earlier jobs has handed on, and what agents that are jobs of their own have kept."""
        yield of_earlier([part.id for part in parts.parts[: parts.parts.index(before) + 1]])
        for place, name in zip(before.matrices, self._names(before.matrices), strict=True):
            yield from entries_taken(parts.entries(place), name, len(agent_types(place.node)))

    def _left(self, parts: RoutedParts, part: Part, before: Part) -> dict[str, str]:
        """How the jobs between the parts have ended."""
        decisions = [parts.decision(place) for place in parts.before(part)[1]]
        env: dict[str, str] = {"TOKEN": TOKEN, "ENVIRONMENT": self.options.approval_environment} if decisions else {}
        for decision in decisions:
            env[f"RDC_DECISION_{decision.step}"] = decision.ended
            env[f"BEFORE_{decision.step}"] = decision.before
        for place, name in zip(before.matrices, self._names(before.matrices), strict=True):
            env[f"RDC_ENTRIES_{name}"] = Expression(f"${{{{ needs.{parts.entries(place)}.result }}}}")
        for variable, places in {"RDC_ASKED": before.questions, "RDC_JOINED": before.matrices}.items():
            env |= {variable: " ".join(self._names(places))} if places else {}
        return env

    def _names(self, places: Iterable[Place]) -> list[str]:
        return [self.plan.ids.nodes[place.name] for place in places]

    def _beside(self, parts: RoutedParts, part: Part) -> Iterator[Job]:
        yield from (self._approval(parts, part, place) for place in part.questions)
        yield from (self._matrix(parts, part, place) for place in part.matrices)

    def _approval(self, parts: RoutedParts, part: Part, place: Place) -> Job:
        """The job that people approve or reject."""
        node = place.node
        asked = parts.asked(part, place)
        env = {
            "PROMPT": self._question(node),
            "TOKEN": TOKEN,
            "ENVIRONMENT": self.options.approval_environment,
            "BEFORE": parts.decision(place).before,
        }
        step = Step(
            name=title(node),
            shell=PLAIN_SHELL,
            env=env,
            run=render("approved.sh.jinja", step=""),
            helper="approved",
        )
        return Job(
            id=parts.gate(place),
            name=f"Approve {title(node)}",
            steps=(step,),
            condition=all_of("!cancelled()", asked),
            needs=(part.id,),
            environment=self.options.approval_environment,
            permissions=(("actions", "read", REASON_TO_ASK),),
        )

    def _used(self, parts: RoutedParts) -> Iterator[tuple[str, Collection[str]]]:
        yield from super()._used(parts)
        for part in parts.parts:
            for place in part.matrices:
                yield self._environment_of_entries(parts, place), self._secrets.of(place.node)

    def _environment_of_entries(self, parts: RoutedParts, place: Place) -> str:
        return parts.environments.get(place.name) or self.options.environment or ""

    def _matrix(self, parts: RoutedParts, part: Part, place: Place) -> Job:
        environment = self._environment_of_entries(parts, place)
        is_elsewhere = environment != self._environment_of(parts.parts[0])
        checked = self._check_secrets(environment, self._secrets.of(place.node) if is_elsewhere else ())
        step = self._calls(parts, part).entry(place)
        job = parts.entries(place)
        taken = matrix.Taken(part.id, self._runtime.digest, self._beside_state)
        return Job(
            id=job,
            name=matrix.name(place.node),
            steps=(*checked, *matrix.steps(job, taken, self._all_set_up(place.node), step)),
            condition=all_of("!cancelled()", f"needs.{part.id}.result == 'success'", parts.asked(part, place)),
            needs=(part.id,),
            environment=environment,
            permissions=tuple(self._permissions(False)),
            env=self._environment(part),
            shell=PLAIN_SHELL,
            matrix=matrix.labels(place.node),
        )

    def _all_set_up(self, node: Node) -> Iterator[Step]:
        yield from self._set_up()
        yield from self._installed([node])

    def _written(self) -> Step:
        """The step that writes the runtime, by itself, so that whoever reads the program can pass over it."""
        modules = self._runtime.modules
        says = f"The runtime of rdc {__version__}. Nothing of the program is in it: that begins at the step `Prepare`."
        script = render("modules.sh.jinja", modules=modules, delimiter=delimiter(modules))
        return Step("Write the runtime", comments=(says,), shell=PLAIN_SHELL, run=script, helper="runtime")

    def _installed(self, nodes: Iterable[Node]) -> Iterator[Step]:
        callers = (caller for node in nodes for caller in callers_of(node, self.options))
        steps = (step for caller in callers if isinstance(caller, Called) for step in caller.setup)
        found: list[SetupStep] = []
        for step in steps:
            if step not in found and step not in self.options.setup:
                found.append(step)
        return map(set_up, found)

    def _published(self, parts: RoutedParts) -> Iterator[Job]:
        if self.program.artifact is not None or self._proposes:
            name = plain_name(self.program.name)
            yield from publications(parts, self.options, self._events, self.program, name)

    def _calls(self, parts: RoutedParts, part: Part) -> Calls:
        return Calls(parts, part, self._secrets, self.prompts.answerer, self.options)

    def _path(self, parts: RoutedParts, part: Part) -> Iterator[Step]:
        yield from self._calls(parts, part).steps()
        env: dict[str, str] = {"RDC_JOB": Expression("${{ job.status }}")}
        onward = parts.onward(part)
        if onward:
            env["RDC_ONWARD"] = " ".join(onward)
        if self.flow and part is parts.parts[0]:
            env["RDC_FLOW"] = self.flow
        yield Step(
            name="Result",
            id=RESULT,
            comments=("The end that was reached gives the job its result.",),
            condition=all_of("!cancelled()", f"steps.{BEGIN}.outputs.next"),
            shell=PLAIN_SHELL,
            env=env,
            run=f"{RUNTIME} result\n",
        )

    def _kept(self, parts: RoutedParts, part: Part) -> Iterator[Step]:
        if self._talks:
            yield calls_kept()
        if part in parts.completing():
            yield from self._left_behind(part, f"steps.{RESULT}.outputs.next == ''" if parts.onward(part) else "")
        if self.prompts.waits:
            yield from waiting_saved(self._secrets_in(part), self.events, routed=True, beside=self._beside_state)
        if parts.onward(part):
            yield from handed_over(
                part.id,
                self._secrets_in(part),
                HANDED,
                when="steps.result.outputs.next",
                routed=True,
                beside=self._beside_state,
            )

    def _left_behind(self, part: Part, when: str) -> Iterator[Step]:
        """What a complete run leaves: its last output, and what was changed in the workspace."""
        if self.program.artifact is not None:
            run = f"{RUNTIME} artifact\n"
            yield Step("Write the last output", ARTIFACT, condition=when, shell=PLAIN_SHELL, run=run)
            yield left_behind()
        if self._proposes:
            given = self._secrets_in(part)
            env = {**given, "RDC_SECRETS": " ".join(given)} if given else {}
            says = ("Against the commit that was checked out; files that git ignores are left out.",)
            run = f"{RUNTIME} changes\n"
            yield Step("Collect what was changed", condition=when, comments=says, shell=PLAIN_SHELL, run=run)
            says = ("Nothing goes out that holds a secret. Git has run in a step that knows none.",)
            run = f"{RUNTIME} release-changes\n"
            name = "Look for secrets in it"
            yield Step(name, ARTIFACT, condition=when, comments=says, shell=PLAIN_SHELL, env=env, run=run)
            yield left_behind("Keep what was changed", "For the job that asks for it to be taken over.")
