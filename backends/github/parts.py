"""The parts of a run: one job, or several where people decide by approving or rejecting a deployment in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backends.github.condition import TRUE, Condition, Literal, expression, some
from backends.github.flow import APPROVAL
from backends.github.names import REVIEWS
from backends.github.places import Place
from backends.github.plan import Plan
from backends.github.prompts import Decision
from backends.github.scalar import Expression
from compiler.ir.tasks import Ask


@dataclass(frozen=True, slots=True)
class Part:
    """The places of one job in order, and when the job is reached. `questions` are for people to decide after it."""

    id: str
    places: tuple[Place, ...]
    reached: Condition
    questions: tuple[Place, ...] = ()


class Parts:
    """A plan cut into jobs. Remembers which facts about its steps each job must hand on to later ones.

    A place comes after all decisions that lead to it: its level is the number of decisions on the longest way there.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.gates = plan.flow.answers is APPROVAL
        self._level: dict[str, int] = {}
        for place in plan.places:
            arcs = plan.flow.arcs[place.name]
            self._level[place.name] = max((self._after(arc.source) for arc in arcs), default=0)
        self._step_level = {plan.names.nodes[name]: level for name, level in self._level.items()}
        self._gates = {plan.names.nodes[place.name] for place in plan.places if self.is_gate(place)}
        self.outputs: dict[str, dict[str, Expression]] = {}
        last = max(self._level.values())
        self._single = last == 0 and not self._gates
        self.parts = [self._part(level) for level in range(last + 1)]

    def is_gate(self, place: Place) -> bool:
        """Whether people decide about a place by approval."""
        return self.gates and place.kind == "unit" and isinstance(place.node.task, Ask)

    def gate(self, place: Place) -> str:
        """The id of the job that waits for the approval of a place."""
        return f"approve_{self.plan.names.nodes[place.name]}"

    def decision(self, place: Place) -> Decision:
        """What people decide about a place; the job that asks them hands on the reviews before."""
        step = self.plan.names.nodes[place.name]
        before = self._handed_on(self._id(self._step_level[step]), REVIEWS, "outputs.until_now")
        return Decision(step, self.gate(place), Expression(f"${{{{ {before} }}}}"))

    def before(self, part: Part) -> tuple[list[str], list[Place]]:
        """The parts and the decisions before a part."""
        level = self.parts.index(part)
        earlier = self.parts[:level]
        return [other.id for other in earlier], [place for other in earlier for place in other.questions]

    def condition(self, part: Part, place: Place) -> str:
        """When a place of a part is reached, as an expression; empty where that is whenever the part is."""
        reached = self.plan.flow.reached[place.name]
        return "" if reached in (TRUE, part.reached) else expression(reached, self.compare(part))

    def whole(self, part: Part) -> str:
        """When a part is reached, as an expression for its job."""
        return "" if part.reached == TRUE else expression(part.reached, self.compare(None))

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
        if step in self._gates:
            return f"needs.approve_{step}.{name}"
        job = self._id(self._step_level[step])
        if part and part.id == job:
            return f"steps.{step}.{name}"
        return self._handed_on(job, step, name)

    def _handed_on(self, job: str, step: str, name: str) -> str:
        """A property of a step as later jobs see it."""
        output = f"{step}_{name.removeprefix('outputs.')}"
        self.outputs.setdefault(job, {})[output] = Expression(f"${{{{ steps.{step}.{name} }}}}")
        return f"needs.{job}.outputs.{output}"

    def _after(self, source: str) -> int:
        if not source:
            return 0
        return self._level[source] + self.is_gate(self.plan.flow.named[source])

    def _id(self, level: int) -> str:
        return "runbook" if self._single else f"part_{level + 1}"

    def _part(self, level: int) -> Part:
        places = tuple(place for place in self.plan.places if self._level[place.name] == level)
        arcs = [arc for place in places for arc in self.plan.flow.arcs[place.name]]
        entered = [arc.condition for arc in arcs if not arc.source or self._level[arc.source] < level]
        questions: Sequence[Place] = [place for place in places if self.is_gate(place)]
        return Part(self._id(level), places, some(*entered) if level else TRUE, tuple(questions))


def all_of(*conditions: str) -> str:
    """Some expressions joined to one, for an `if:` that says when it runs itself."""
    return "${{ " + " && ".join(f"({text})" if "||" in text else text for text in conditions if text) + " }}"
