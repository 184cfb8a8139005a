"""The workflow of a runbook: nodes as native steps in jobs, ends as steps, and bookkeeping where it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from backends.github.continuation import handed_over, prepared, taken_over, waiting_saved
from backends.github.ends import Ends
from backends.github.filling import filled, values_of
from backends.github.identifiers import APPROVED
from backends.github.inputs import measured, taken
from backends.github.job import Job
from backends.github.jobs import Part
from backends.github.nodes import PREPARING, Nodes, title
from backends.github.parts import Environments, Parts
from backends.github.places import Place
from backends.github.plan import Plan
from backends.github.prompts import TOKEN, Agents
from backends.github.question import question
from backends.github.scalar import Expression, comment
from backends.github.seen import may_use
from backends.github.settings import environments_of
from backends.github.step import PLAIN_SHELL, Step
from backends.github.summary import onward, summary_step, waiting_step
from backends.github.templating import render
from backends.github.workflow import Workflow
from compiler.ir.tasks import Ask, Shell

_BEGINS, _ENDS = (f"{'=' * 30} The program {word} here {'=' * 30}" for word in ("begins", "ends"))

_GUIDE = """
The program stands between two lines that say where it begins and ends; the steps around these keep a run that waits
# for an answer, and go on with it. Such a run is shown as failed, and the run that goes on with it has its end.
# A run that is cancelled, or whose runner is lost, does not go on: what it has done stays, and a new run begins at the
# first step.
""".strip()


@dataclass(frozen=True)
class Runbook(Workflow[Parts]):
    """The workflow of a program whose steps are chosen by the outcomes of others, and which needs bash alone."""

    plan: Plan

    @property
    def _values(self) -> tuple[str, ...]:
        return values_of(self.program)

    def _cut(self) -> Parts:
        environments = Environments(environments_of(self.plan.program, self.options), self.options.approval_environment)
        return Parts(self.plan, environments, told=self.options.summary)

    def _part(self, parts: Parts, part: Part) -> Job:
        """The job, with expressions where the values of inputs stand in what its steps show."""
        job = super()._part(parts, part)
        shown = (replace(step, env={name: filled(text) for name, text in step.env.items()}) for step in job.steps)
        return replace(job, steps=tuple(shown)) if self.program.slots else job

    def _steps(self, parts: Parts, part: Part) -> Iterator[Step]:
        yield from self._looked_for(parts, part)
        if self.program.inputs:
            yield from measured(self.program.inputs, self._events, self.options, waits=self.prompts.waits)
            yield taken(self.program.inputs, self._events, self.options, waits=self.prompts.waits)
        gate = parts.approves(part)
        if gate:
            yield self._approved(parts, part, gate)
        if not part.places:  # nothing but the approval
            if self.options.summary:
                yield summary_step(parts.plan, "")
            return
        known: set[str] = set()
        for place in part.questions:
            if parts.reviews(place) not in known:
                known.add(parts.reviews(place))
                yield self._reviewed(parts, place)
        yield from self._begun(parts, part)
        if _acts(part):
            yield from self._set_up()
        yield from self._path(parts, part)
        yield from self._kept(parts, part)

    def _reviewed(self, parts: Parts, place: Place) -> Step:
        env = {"TOKEN": TOKEN, "ENVIRONMENT": parts.environment_of(place)}
        return replace(self._reviews(), id=parts.reviews(place), env=env)

    def _approved(self, parts: Parts, part: Part, gate: Place) -> Step:
        """Makes sure that somebody has approved what follows, before anything of it runs."""
        decision = parts.decision(gate)
        env: dict[str, str] = {
            "PROMPT": question(gate.node),
            "TOKEN": TOKEN,
            "ENVIRONMENT": parts.environment_of(gate),
            "BEFORE": decision.before,
        }
        summary = self.options.summary
        if summary:
            env["ATTEMPT"] = str(parts.asks_in(gate).index(part.id) + 1)
        run = render("approved.sh.jinja", step=decision.step, summary=summary)
        return Step(f"Approved: {title(gate.node)}", APPROVED, shell=PLAIN_SHELL, env=env, run=run, helper="approved")

    def _why(self, parts: Parts, part: Part) -> Iterator[str]:
        gate = parts.approves(part)
        if gate:
            number = parts.asks_in(gate).index(part.id) + 1
            yield comment(
                f"What follows when {title(gate.node)} is approved{f', asked {number} times' if number > 1 else ''}."
            )
        for place in parts.rejections(part):
            yield comment(f"What follows when {title(place.node)} is rejected.")

    def _begun(self, parts: Parts, part: Part) -> Iterator[Step]:
        if part is not parts.parts[0]:
            earlier = [other.id for other in parts.parts[: parts.parts.index(part)] if other.places and _acts(other)]
            rejections = [(parts.decision(place), parts.environment_of(place)) for place in parts.rejections(part)]
            if _acts(part) or rejections:
                yield from taken_over(earlier if _acts(part) else [], rejections, summary=self.options.summary)
        elif self.options.checkout:
            yield self._checkout()
        if self.prompts.waits:
            yield from prepared(self.plan, self.options, valued=bool(self._values))

    @property
    def _guide(self) -> str:
        if not self.prompts.waits:
            return ""
        return _GUIDE

    @property
    def _shell_says(self) -> str:
        return self.prompts.shell_says

    def _shell(self, part: Part) -> str:
        return self.prompts.shell("bash") if _acts(part) or self.prompts.waits else PLAIN_SHELL

    def _own_variables(self, part: Part) -> dict[str, str]:
        """What M4 gives to each command, where a command may look at it, or rdc does."""
        tasks = [node.task for place in part.places for node in place.nodes]
        commands = [str(task.command) for task in tasks if isinstance(task, Shell)]
        agents = isinstance(self.prompts, Agents) and any(isinstance(task, Ask) for task in tasks)
        if not (self.prompts.waits or agents or any(may_use(command, "RDC_") for command in commands)):
            return {}
        return {**super()._own_variables(part), "RDC_ATTEMPT": Expression("1")}

    def _path(self, parts: Parts, part: Part) -> Iterator[Step]:
        steps = list(Nodes(parts, part, self.prompts, self._secrets, self._values).steps())
        first = sum(step.name in PREPARING for step in steps)
        if self.prompts.waits and steps[first:]:
            steps[first] = replace(steps[first], comments=(_BEGINS, *steps[first].comments))
        yield from steps
        summary = self.options.summary
        # To GitHub a run fails where somebody rejects a deployment, whatever the runbook says of that.
        is_rejected = any(any(parts.rejections(other)) for other in parts.parts[: parts.parts.index(part) + 1])
        certain = self.prompts.waits or is_rejected or not _acts(part)
        ends = list(Ends(parts, part, told=summary, certain=certain).steps())
        yield from ends
        if not (steps or ends):  # GitHub takes no job without a step
            yield Step("Go on", run="true")
        if self.prompts.waits:
            waits = waiting_step(ends, self.program.kind)
            yield replace(waits, comments=(_ENDS, *waits.comments))
        if summary:
            yield summary_step(parts.plan, self.flow if part is parts.parts[0] else "")

    def _kept(self, parts: Parts, part: Part) -> Iterator[Step]:
        if self.prompts.waits:
            yield from waiting_saved(self._secrets_in(part), self.events, summary=self.options.summary)
        elif part is not parts.parts[-1] and (when := onward(parts, part)) != "false":
            yield from handed_over(part.id, self._secrets_in(part), when=when)


def _acts(part: Part) -> bool:
    """Whether a part has more than ends, so that it needs the workspace."""
    return any(place.kind in {"step", "loop"} for place in part.places)
