"""The workflow of a runbook with native steps: one job, whose steps depend on the outcomes of earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from backends.github.ends import Ends
from backends.github.filling import filled, values_of
from backends.github.inputs import measured, taken
from backends.github.job import Job
from backends.github.nodes import Nodes
from backends.github.scalar import Expression
from backends.github.seen import may_use
from backends.github.settings import StepSecrets
from backends.github.shells import Shells
from backends.github.step import PLAIN_SHELL, Step
from backends.github.summary import summary_step
from backends.github.workflow import Written
from backends.scheduling.plan import Plan
from compiler.ir.program import Node
from compiler.ir.tasks import Shell


class Runbook(Written, frozen=True, dict=True):
    """The workflow; `flow` is the graph as Mermaid, empty for none."""

    plan: Plan
    flow: str = ""

    @property
    def names(self) -> Mapping[str, Node]:
        """The nodes by the ids of their steps."""
        return {self.plan.ids.nodes[node.id]: node for node in self.plan.program.nodes}

    @cached_property
    def jobs(self) -> Sequence[Job]:
        """The only job."""
        steps = tuple(self._filled(step) for step in self._steps())
        return (
            Job(
                id=self.program.kind,
                name=self._title,
                steps=steps,
                environment=self.options.environment or "",
                permissions=tuple(self._permissions()),
                env={**self._own_variables(), **self._environment()},
                shell=self._shells.shell("bash") if self._acts else PLAIN_SHELL,
            ),
        )

    @cached_property
    def _secrets(self) -> StepSecrets:
        return StepSecrets(self.plan.program, self.options)

    @property
    def _shells(self) -> Shells:
        return Shells(self.options.summary)

    @property
    def _shell_says(self) -> str:
        return self._shells.says

    @property
    def _acts(self) -> bool:
        """Whether the job has more than ends."""
        return any(place.kind in {"step", "loop"} for place in self.plan.places)

    def _filled(self, step: Step) -> Step:
        """Return a step with expressions instead of input values."""
        if not self.program.slots:
            return step
        return replace(step, env={name: filled(text) for name, text in step.env.items()})

    def _steps(self) -> Iterator[Step]:
        yield from self._check_secrets(self.options.environment or "", set(self.program.secrets))
        if self.program.inputs:
            yield from measured(self.program.inputs, self._events, self.options, waits=False)
            yield taken(self.program.inputs, self._events, self.options)
        if self.options.checkout:
            yield self._checkout()
        if self._acts:
            yield from self._set_up()
        steps = [
            *Nodes(self.plan, self._shells, self._secrets, values_of(self.program)).steps(),
            *Ends(self.plan, told=self.options.summary, certain=not self._acts).steps(),
        ]
        yield from steps or [Step("Continue", run="true")]  # GitHub needs a step in each job
        if self.options.summary:
            yield summary_step(self.plan, self.flow)

    def _own_variables(self) -> dict[str, str]:
        """Return the variables that M4 gives each command, if a command may read them."""
        tasks = [node.task for place in self.plan.places for node in place.nodes]
        commands = [str(task.command) for task in tasks if isinstance(task, Shell)]
        if not any(may_use(command, "RDC_") for command in commands):
            return {}
        return {"RDC_RUN_ID": Expression("${{ github.run_id }}"), "RDC_ATTEMPT": Expression("1")}
