"""Values that jobs hand to later jobs: inputs, outputs, and the place of a run (T-25).

Outputs of commands are outputs of their steps and jobs, without a script around the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from backends.github.native.decisions import Decided, Part, command_of, setters
from backends.github.native.shell import may_use
from backends.github.workflow.filling import as_written, filled_with, marked_title, quoted
from backends.github.yaml.model import Step, compare
from backends.github.yaml.scalar import evaluated, label
from backends.scheduling.condition import FALSE, expression
from backends.scheduling.plan import Plan
from compiler.ir.program import Node, Program
from runtime_shim.targets.naming import name_in_words

_LONGEST_NAME = 200


class Carried(Struct, frozen=True, dict=True):
    """The values of a workflow, and the ids of its jobs: `jobs` run parts, and `decisions` decide whether they run."""

    program: Program
    jobs: Mapping[Part, str]
    decisions: Mapping[Decided, str]
    plans: Mapping[Part, Plan]

    @cached_property
    def inputs(self) -> Mapping[str, str]:
        """The inputs as outputs of the first job, which has checked them."""
        first = next(iter(self.jobs.values()))
        return {declared.name: evaluated(f"needs.{first}.outputs.{declared.name}") for declared in self.program.inputs}

    @cached_property
    def _setters(self) -> Mapping[str, frozenset[str]]:
        return setters(self.program)

    def _sets(self, part: Part, name: str) -> bool:
        return any(node.id in self._setters[name] for node in part.commands)

    def value(self, part: Part, name: str, before: str = "", *, own: bool = True) -> str:
        """Return an output as it is in a part: set by its steps before a node, or by the last job that sets it."""
        terms: list[str] = []
        for place in self.plans[part].places if own else ():
            if place.name == before:
                break
            if place.name in self._setters[name]:
                terms.insert(0, f"steps.{self.plans[part].ids.nodes[place.name]}.outputs.{name}")
        earlier = (one for one in part.path if one is not part and self._sets(one, name))
        return " || ".join([*terms, *(f"needs.{self.jobs[one]}.outputs.{name}" for one in earlier)])

    def shown(self, part: Part, *, own: bool = True) -> dict[str, str]:
        """Return outputs as expressions for messages. One without a value is in braces."""
        found = {name: (self.value(part, name, own=own), quoted(f"{{{{{name}}}}}")) for name in self._setters}
        return {name: evaluated(" || ".join(filter(None, terms))) for name, terms in found.items()}

    def set_by(self, part: Part) -> dict[str, str]:
        """Return the outputs that a part may set."""
        return {name: evaluated(self.value(part, name)) for name in self._setters if self._sets(part, name)}

    def when(self, to: Decided) -> str:
        """Return the expression for when a run comes to the question in front of a part; `true` if it always does."""
        return expression(self.plans[to.above].flow.reached.get(to.after.id, FALSE), compare)

    def title(self, node: Node) -> str:
        """Return a node's id and title, with marks."""
        known = self.program.index()[node.id]
        return label(name_in_words(known.id, marked_title(known, self.program)), _LONGEST_NAME)

    def name(self, part: Part, node: Node) -> str:
        """Return the name of a job, which can have outputs of other jobs, but no variables (T-25)."""
        is_first = not isinstance(part, Decided)
        inputs = {name: f"{{{{{name}}}}}" if is_first else value for name, value in self.inputs.items()}
        return filled_with(self.title(node), {**inputs, **self.shown(part, own=False)})

    def handed(self, part: Part, node: Node, step: Step) -> Step:
        """Return a node's step with outputs: as variables, in its name, and as `RDC_OUTPUT` if it may set some."""
        title, command = self.title(node), command_of(node)
        values = {name: self.value(part, name, node.id) for name in self._setters}
        env = {name: evaluated(value) for name, value in values.items() if value and may_use(command, name)}
        shown = {name: evaluated(value or quoted(f"{{{{{name}}}}}")) for name, value in values.items()}
        shown |= {name: evaluated(f"env.{name}") for name in self.inputs}
        sets = any(node.id in found for found in self._setters.values())
        run = f'export RDC_OUTPUT="$GITHUB_OUTPUT"\n{step.run.rstrip()}\n' if sets else step.run
        name = filled_with(title, shown) if step.name == label(as_written(title)) else step.name
        return replace(step, name=name, run=run, env={**env, **step.env})

    def inputs_in(self, steps: Iterable[Step]) -> dict[str, str]:
        """Return the inputs that the messages of some steps show."""
        text = " ".join(step.run for step in steps)
        return {name: value for name, value in self.inputs.items() if re.search(rf"\$\{{?{name}\b", text)}
