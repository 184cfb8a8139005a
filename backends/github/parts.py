"""The jobs of a runbook: places that conditions over outcomes lead to, cut where an environment begins or ends.

An environment belongs to a job, and GitHub asks its reviewers before the job begins. So the part that follows the
approval of a prompt has the environment itself, and with it its secrets: a rejection is its failure before its first
step. What a rejection leads to, and what other paths lead to as well, is in jobs without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backends.github.condition import TRUE, Literal, expression, some
from backends.github.flow import APPROVAL, Arc
from backends.github.identifiers import APPROVED, REVIEWS
from backends.github.jobs import Jobs, Part
from backends.github.places import Place, retry_of
from backends.github.plan import Plan
from backends.github.prompts import Decision
from backends.github.scalar import Expression
from compiler.ir.edges import may_follow
from compiler.ir.tasks import Ask, End, Verdict


class Key(NamedTuple):
    """Where a part stands: behind those of lower levels, and on its level behind those that have a `tag`.

    A tag says whose approval it follows, or which environment it is in.
    """

    level: int
    is_last: bool
    tag: str


def _key(level: int, tag: str = "") -> Key:
    return Key(level, not tag, tag)


@dataclass(frozen=True)
class Environments:
    """The environments of nodes by their ids, and the one that approves where these say nothing."""

    steps: Mapping[str, str] = field(default_factory=dict)
    approval: str = ""


class Parts(Jobs):
    """A plan cut into jobs. `told` says whether each end is said by a step."""

    def __init__(self, plan: Plan, environments: Environments | None = None, *, told: bool = False) -> None:
        self.plan = plan
        self.environments = environments or Environments()
        self.gates = plan.flow.answers is APPROVAL
        self._names = plan.ids.nodes
        keys: dict[str, Key] = {}
        for place in plan.places:
            keys[place.name] = self._key(keys, place)
        gates = [place for place in plan.places if self.is_gate(place)]
        self._attempts = {
            place.name: [self._next(keys, place, number) for number in range(_attempts(place))] for place in gates
        }
        silent = {place.name for place in plan.places if not told and self._is_silent(place)}
        places = [place for place in plan.places if place.name not in silent]
        order = sorted(
            {*(keys[place.name] for place in places), *(key for found in self._attempts.values() for key in found)}
        )
        levels = {place.name: order.index(keys[place.name]) for place in places}
        is_cut = bool(gates) or len(order) > 1
        super().__init__(plan.ids, levels | dict.fromkeys(silent, 0), plan.program.kind, is_cut=is_cut)
        self.last = len(order) - 1
        self._gate_steps = {self._names[place.name]: place for place in gates}
        self._step_level = {self._names[name]: level for name, level in levels.items()}
        self._approves = {order.index(key): name for name, found in self._attempts.items() for key in found}
        self._order = order
        self.parts = [self._part(level, places) for level in range(len(order))]

    # --- Which part a place is in -------------------------------------------------------------------------------------

    def _key(self, keys: Mapping[str, Key], place: Place) -> Key:
        arrivals = {self._arrival(keys, arc) for arc in self.plan.flow.arcs[place.name]} or {_key(0)}
        wanted = self._wanted(place)
        (key, *others) = sorted(arrivals)
        if not others and place.kind == "end":
            return key  # it runs nothing that the environment could give anything to
        if not others and self._environment(key) == (wanted or self._of_approval(key)):
            return key
        last = max(arrivals)
        if wanted:
            return _key(last.level + bool(keys), f"in {wanted}")
        return _key(last.level + any(key.tag.startswith("in ") for key in arrivals))

    def _arrival(self, keys: Mapping[str, Key], arc: Arc) -> Key:
        source = self.plan.flow.named.get(arc.source)
        if source is None:
            return _key(0)
        key = keys[source.name]
        if not self.is_gate(source):
            return key
        if may_follow(arc.edge, Verdict.PASS) and _attempts(source) == 1:
            return self._next(keys, source, 0)
        return _key(key.level + 1)

    def _next(self, keys: Mapping[str, Key], gate: Place, attempt: int) -> Key:
        return _key(keys[gate.name].level + 1, f"after {gate.name} {attempt}")

    def _wanted(self, place: Place) -> str:
        return (
            self.environments.steps.get(place.node.id, "") if place.kind == "step" and not self.is_gate(place) else ""
        )

    def _environment(self, key: Key) -> str:
        return key.tag.removeprefix("in ") if key.tag.startswith("in ") else self._of_approval(key)

    def _of_approval(self, key: Key) -> str:
        """The environment of the part behind an approval: that of the node which it leads to, else the usual one."""
        if not key.tag.startswith("after "):
            return ""
        gate = self.plan.flow.named[key.tag.removeprefix("after ").rpartition(" ")[0]]
        if _attempts(gate) > 1:
            return self.environments.approval
        targets = {edge.target for edge in gate.node.edges if may_follow(edge, Verdict.PASS)}
        found = {self.environments.steps.get(target, "") for target in targets}
        return (found.pop() if len(found) == 1 else "") or self.environments.approval

    def _is_silent(self, place: Place) -> bool:
        """Whether an end has nothing to say, and a job has failed where it is reached: by a rejection alone."""
        task = place.node.task
        if not isinstance(task, End) or task.result != "stop" or task.message or place.kind == "loop":
            return False
        sources = [self.plan.flow.named.get(arc.source) for arc in self.plan.flow.arcs[place.name]]
        return all(source is not None and self.is_gate(source) for source in sources)

    def _part(self, level: int, all_places: Sequence[Place]) -> Part:
        places = tuple(place for place in all_places if self.levels[place.name] == level)
        arcs = [arc for place in places for arc in self.plan.flow.arcs[place.name]]
        entered = [arc.condition for arc in arcs if not arc.source or self.levels[arc.source] < level]
        questions = tuple(place for place in places if self.is_gate(place))
        reached = some(*entered) if level else TRUE
        return Part(self.id(level), places, reached, questions, environment=self._environment(self._order[level]))

    # --- What is asked between the parts ------------------------------------------------------------------------------

    def is_gate(self, place: Place) -> bool:
        """Whether people decide about a place by approval."""
        return self.gates and place.kind == "step" and isinstance(place.node.task, Ask)

    def approves(self, part: Part) -> Place | None:
        """The prompt that is approved where a part begins."""
        name = self._approves.get(self.parts.index(part))
        return self.plan.flow.named[name] if name else None

    def rejections(self, part: Part) -> list[Place]:
        """The prompts whose rejection leads into a part."""
        arcs = [arc for place in part.places for arc in self.plan.flow.arcs[place.name]]
        found = {arc.source for arc in arcs if not may_follow(arc.edge, Verdict.PASS)}
        return [place for place in self._gate_steps.values() if place.name in found]

    def asks_in(self, place: Place) -> list[str]:
        """The ids of the parts that begin with the approval of a prompt, one for each attempt."""
        return [self.id(self._order.index(key)) for key in self._attempts[place.name]]

    def environment_of(self, place: Place) -> str:
        """The environment whose reviewers decide about a prompt."""
        return self._environment(self._attempts[place.name][0])

    def reviews(self, place: Place) -> str:
        """The id of the step that notes the reviews before a prompt."""
        known = dict.fromkeys(self.environment_of(gate) for gate in self._gate_steps.values())
        number = list(known).index(self.environment_of(place)) + 1
        return REVIEWS if number == 1 else f"{REVIEWS}_{number}"

    def decision(self, place: Place) -> Decision:
        """What people decide about a prompt; the job that puts it hands on the reviews before."""
        before = self.handed_on(self.id(self.levels[place.name]), self.reviews(place), "outputs.until_now")
        jobs = self.asks_in(place)
        rejected = Expression(f"${{{{ {self._rejected(jobs[-1])} }}}}")
        return Decision(self._names[place.name], rejected, Expression(f"${{{{ {before} }}}}"), len(jobs))

    def before(self, part: Part) -> tuple[list[str], list[Place]]:
        """The parts before a part, and the prompts whose rejection leads into it."""
        return [other.id for other in self.parts[: self.parts.index(part)]], self.rejections(part)

    # --- Conditions ---------------------------------------------------------------------------------------------------

    def condition(self, part: Part, place: Place) -> str:
        """When a place of a part is reached, as an expression; empty where that is whenever the part is."""
        reached = self.plan.flow.reached[place.name]
        return "" if reached in (TRUE, part.reached) else expression(reached, self.compare(part))

    def whole(self, part: Part) -> str:
        """When a part is reached, as an expression for its job."""
        gate = self.approves(part)
        if gate:
            jobs = self.asks_in(gate)
            number = jobs.index(part.id)
            return self._rejected(jobs[number - 1]) if number else self.asked(self.parts[self.levels[gate.name]], gate)
        return "" if part.reached == TRUE else expression(part.reached, self.compare(None))

    def asks(self, part: Part) -> bool:
        """Whether a part looks at the reviews of the run."""
        return super().asks(part) or self.approves(part) is not None

    def needs(self, part: Part) -> list[str]:
        """All parts before a part."""
        return self.before(part)[0]

    def fine(self, part: Part) -> Iterator[str]:
        """That each earlier job has come to its end, but for those that were rejected."""
        reached = self.whole(part)
        for other in self.parts[: self.parts.index(part)]:
            rejected = self._rejected(other.id) if self.approves(other) else ""
            if not rejected:
                yield self.is_done(other.id)
            elif reached != rejected:
                yield f"{self.is_done(other.id)} || {rejected}"

    def asked(self, part: Part, place: Place) -> str:
        """People are to decide once the step has put the question."""
        return f"{self.handed_on(part.id, self._names[place.name], 'outcome')} == 'success'"

    def compare(self, part: Part | None) -> Callable[[Literal], str]:
        """Writes comparisons for a part, or for a job beside the parts."""

        def shown(literal: Literal) -> str:
            if literal.step in self._gate_steps:
                return self._decided(part, literal)
            known = self.fact(part, literal.step, literal.property)
            if known.startswith("needs.part") and (literal.operator, literal.value) == ("!=", "skipped"):
                return f"({known} == 'success' || {known} == 'failure')"  # a job that did not run knows no outcomes
            value = literal.value if isinstance(literal.value, int) else f"'{literal.value}'"
            return f"{known} {literal.operator} {value}"

        return shown

    def fact(self, part: Part | None, step: str, name: str) -> str:
        """A property of a step, as a part sees it; the job that the step belongs to has to hand it on."""
        job = self.id(self._step_level[step])
        return f"steps.{step}.{name}" if part and part.id == job else self.handed_on(job, step, name)

    def _decided(self, part: Part | None, literal: Literal) -> str:
        """How people have decided about a prompt."""
        gate = self._gate_steps[literal.step]
        jobs = self.asks_in(gate)
        if part and self.approves(part) is gate and len(jobs) == 1:
            return "true" if (literal.value == APPROVAL.failed) == (literal.operator == "!=") else "false"
        approved = " || ".join(f"{self._approved(job)} == 'true'" for job in jobs)
        if literal.value == APPROVAL.absent:
            return f"needs.{jobs[0]}.result {literal.operator} 'skipped'"
        text = approved if literal.value == APPROVAL.passed else self._rejected(jobs[-1])
        if literal.operator == "!=":
            return f"!({text})"
        return f"({text})" if "||" in text else text

    def _rejected(self, job: str) -> str:
        return f"needs.{job}.result == 'failure' && {self._approved(job)} != 'true'"

    def _approved(self, job: str) -> str:
        """Whether a part has begun because somebody approved."""
        self.outputs.setdefault(job, {})[APPROVED] = Expression(f"${{{{ steps.{APPROVED}.outputs.approved }}}}")
        return f"needs.{job}.outputs.{APPROVED}"


def _attempts(gate: Place) -> int:
    """How often people may be asked about a prompt in one visit (M9)."""
    retry = retry_of(gate.node)
    return (retry.on_fail or 0) + 1 if retry else 1
