"""The workflow of a program with texts, values, agents, tools or gates: its steps call the runtime (`rdc.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from backends.github.calls import RUNTIME, UNIT_SHELL, Calls
from backends.github.continuation import fetched, handed_over, identity, of_earlier, waiting_saved
from backends.github.inputs import given, with_declared
from backends.github.jobs import Part, all_of
from backends.github.names import BEGIN, HANDED, RESULT
from backends.github.prompts import TOKEN, Approvals
from backends.github.question import question
from backends.github.routes import RoutedParts, Routes
from backends.github.runtime import Runtime, callers, delimiter, runtime
from backends.github.scalar import Expression
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from backends.github.workflow import Workflow
from compiler.ir.program import Node
from compiler.ir.tasks import Gate, Shell
from compiler.version import __version__


@dataclass(frozen=True)
class RoutedWorkflow(Workflow[RoutedParts]):
    """The workflow of a program whose steps say by the name of a place where the run goes on."""

    plan: Routes

    @property
    def events(self) -> Mapping[str, Any]:
        """What starts the workflow, with the inputs of the program."""
        return with_declared(super().events, self.program.inputs)

    @cached_property
    def _runtime(self) -> Runtime:
        return runtime(self.plan, self.options, self.options.prompts)

    def _cut(self) -> RoutedParts:
        return RoutedParts(self.plan, approvals=isinstance(self.prompts, Approvals), waits=self.prompts.waits)

    @property
    def _guide(self) -> str:
        return (
            "The program begins at the step `Prepare`. The step before it is the runtime of rdc, which all others call."
        )

    def _shell(self, part: Part) -> str:
        """Commands stand in their steps as they are, and the shell gives them to the runtime."""
        has_commands = any(place.kind == "unit" and isinstance(place.node.task, Shell) for place in part.places)
        return UNIT_SHELL if has_commands else PLAIN_SHELL

    def _environment(self, part: Part) -> dict[str, str]:
        agents, tools = callers(self.options)
        env = {name: value for name, value in super()._environment(part).items() if name != "RDC_AGENT"}
        return env | dict([*agents.values(), *tools.values()])

    def _question(self, node: Node) -> str:
        return str(node.task.reason) if isinstance(node.task, Gate) else question(node)

    def _begun(self, parts: RoutedParts, part: Part) -> Iterator[Step]:
        earlier, places = parts.before(part)
        decisions = [parts.decision(place) for place in places]
        env: dict[str, str] = {}
        if earlier:
            yield of_earlier(earlier)
            env |= {"TOKEN": TOKEN, "ENVIRONMENT": self.options.approval_environment} if decisions else {}
            for decision in decisions:
                env[f"RDC_DECISION_{decision.step}"] = Expression(f"${{{{ needs.{decision.job}.result }}}}")
                env[f"BEFORE_{decision.step}"] = decision.before
            just_asked = [self.plan.names.nodes[place.name] for place in parts.just_before(part)]
            env |= {"RDC_ASKED": " ".join(just_asked)} if just_asked else {}
        else:
            if self.options.checkout:
                yield self._checkout()
            if self.prompts.waits:
                yield from fetched(self.options)
                env["RDC_ANSWERS"] = Expression("${{ inputs.answers }}")
                env["RESUME"] = Expression("${{ inputs.resume }}")
            env |= given(self.program.inputs, super().events)
            yield self._written()
        if self.prompts.waits:
            env["PROGRAM"] = identity(self.program, self.options)
        script = render(
            "begin.sh.jinja",
            routed=True,
            summary=False,
            earlier=earlier,
            decisions=[decision.step for decision in decisions],
            waits=self.prompts.waits,
            part=part.id,
            table=self._runtime.table,
            delimiter=delimiter(self._runtime.table),
            digest=self._runtime.digest,
        )
        yield Step("Prepare", BEGIN, shell=PLAIN_SHELL, env=env, run=script)

    def _written(self) -> Step:
        """The step that writes the runtime, by itself, so that whoever reads the program can pass over it."""
        modules = self._runtime.modules
        says = f"The runtime of rdc {__version__}. Nothing of the program is in it: that begins at the step `Prepare`."
        script = render("modules.sh.jinja", modules=modules, delimiter=delimiter(modules))
        return Step("Write the runtime", comments=(says,), shell=PLAIN_SHELL, run=script)

    def _walked(self, parts: RoutedParts, part: Part) -> Iterator[Step]:
        yield from Calls(parts, part, self.options, self._secrets(), self.options.prompts).steps()
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
        if self.prompts.waits:
            yield from waiting_saved(self._secrets(), self.events, routed=True)
        if parts.onward(part):
            yield from handed_over(part.id, self._secrets(), HANDED, when="steps.result.outputs.next", routed=True)
