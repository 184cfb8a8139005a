"""The jobs of a runbook: places that conditions over outcomes lead to, cut at the approvals of its prompts."""

from __future__ import annotations

from collections.abc import Callable

from backends.github.condition import TRUE, Literal, expression, some
from backends.github.flow import APPROVAL
from backends.github.jobs import Jobs, Part
from backends.github.places import Place
from backends.github.plan import Plan
from backends.github.scalar import Expression
from compiler.ir.tasks import Ask


class Parts(Jobs):
    """A plan cut into jobs."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.gates = plan.flow.answers is APPROVAL
        levels: dict[str, int] = {}
        for place in plan.places:
            arcs = plan.flow.arcs[place.name]
            levels[place.name] = max((self._after(levels, arc.source) for arc in arcs), default=0)
        self._gate_steps = {plan.names.nodes[place.name] for place in plan.places if self.is_gate(place)}
        super().__init__(plan.names, levels, is_cut=bool(self._gate_steps))
        self._step_level = {plan.names.nodes[name]: level for name, level in levels.items()}
        self.parts = [self._part(level) for level in range(self.last + 1)]

    def is_gate(self, place: Place) -> bool:
        """Whether people decide about a place by approval."""
        return self.gates and place.kind == "unit" and isinstance(place.node.task, Ask)

    def condition(self, part: Part, place: Place) -> str:
        """When a place of a part is reached, as an expression; empty where that is whenever the part is."""
        reached = self.plan.flow.reached[place.name]
        return "" if reached in (TRUE, part.reached) else expression(reached, self.compare(part))

    def whole(self, part: Part) -> str:
        """When a part is reached, as an expression for its job."""
        return "" if part.reached == TRUE else expression(part.reached, self.compare(None))

    def asked(self, part: Part, place: Place) -> str:
        """People are to decide once the step has put the question."""
        name = self.names.nodes[place.name]
        self.outputs.setdefault(part.id, {})[f"{name}_asked"] = Expression(f"${{{{ steps.{name}.outcome }}}}")
        return f"needs.{part.id}.outputs.{name}_asked == 'success'"

    def compare(self, part: Part | None) -> Callable[[Literal], str]:
        """Writes comparisons for a part, or for a job beside the parts."""

        def shown(literal: Literal) -> str:
            known = self.fact(part, literal.step, literal.property)
            if known.startswith("needs.part") and (literal.operator, literal.value) == ("!=", "skipped"):
                return f"({known} == 'success' || {known} == 'failure')"  # a job that did not run knows no outcomes
            value = literal.value if isinstance(literal.value, int) else f"'{literal.value}'"
            return f"{known} {literal.operator} {value}"

        return shown

    def fact(self, part: Part | None, step: str, name: str) -> str:
        """A property of a step, as a part sees it; the job that the step belongs to has to hand it on."""
        if step in self._gate_steps:
            return f"needs.approve_{step}.{name}"
        job = self.id(self._step_level[step])
        return f"steps.{step}.{name}" if part and part.id == job else self.handed_on(job, step, name)

    def _after(self, levels: dict[str, int], source: str) -> int:
        return levels[source] + self.is_gate(self.plan.flow.named[source]) if source else 0

    def _part(self, level: int) -> Part:
        places = self.at(self.plan.places, level)
        arcs = [arc for place in places for arc in self.plan.flow.arcs[place.name]]
        entered = [arc.condition for arc in arcs if not arc.source or self.levels[arc.source] < level]
        questions = tuple(place for place in places if self.is_gate(place))
        return Part(self.id(level), places, some(*entered) if level else TRUE, questions)
