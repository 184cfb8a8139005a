"""Where a run may go from each place of a program that steps read from a table: each place has exits, which have names.

A step says by the name of a place where the run goes on (`next`). Registers and texts are known to the runtime only, so
that no condition compares what a person or an agent has written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from backends.github.branching import is_routing, labels, routing
from backends.github.condition import TRUE, Condition, Literal, expression, some
from backends.github.identifiers import BEGIN, HANDED, RESULT, Identifiers, identifiers_of
from backends.github.jobs import Jobs, Part
from backends.github.places import Place, find_places
from compiler.ir.edges import Edge, OutcomeTest, SlotTest
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Branch, End, Gate, Parallel

_NEXT = "outputs.next"


@dataclass(frozen=True)
class Routes:
    """A simplified program as places in the order of their steps.

    `exits` has for each place the nodes outside of it where a run may stand next, `start` those where it may begin;
    `home` has the place of each node that is no branch, `routing` names the branches that are steps of their own.
    """

    program: Program
    ids: Identifiers
    places: tuple[Place, ...]
    start: frozenset[str]
    exits: Mapping[str, frozenset[str]]
    home: Mapping[str, Place]
    nodes: Mapping[str, Node]
    routing: frozenset[str]

    def labels(self, node: Node) -> dict[str, str]:
        """What a routing step says for each place where a run may stand behind it, by what steps call that."""
        return labels(node, {name: self.ids.nodes[name] for name in sorted(self.exits[node.id])})

    @cached_property
    def reasons(self) -> Mapping[str, Sequence[str]]:
        """For each node what leads to it, as people read it: `review: REJECT`, `issue_type == "bug"`."""
        found: dict[str, dict[str, None]] = {}
        for node in self.nodes.values():
            words: dict[str, list[str]] = {}
            for edge in node.edges:
                tests = [test for test in edge.guard if isinstance(test, SlotTest)]
                said = " and ".join(f'{test.slot} {test.operator} "{test.text}"' for test in tests)
                if said:
                    found.setdefault(edge.target, {})[said] = None
                words.setdefault(edge.target, []).extend(_words(edge))
            for target, several in words.items():
                if several and len(words) > 1:
                    found.setdefault(target, {})[f"{node.id}: {', '.join(dict.fromkeys(several))}"] = None
        return {target: tuple(said) for target, said in found.items()}

    def may_ask(self, node: Node) -> bool:
        """Whether a node asks; a gate outside of loops is a job that waits for an approval instead."""
        return isinstance(node.task, Ask) or (isinstance(node.task, Gate) and self.home[node.id].kind == "loop")


def make_routes(program: Program) -> Routes:
    """The routes of a simplified program."""
    index = program.index()
    places = find_places(program, repeats=False)
    named = routing(program)
    routes = frozenset(place.name for place in places if is_routing(place, named))
    settled = _Settled(index, routes)
    found = tuple(place for place in places if place.kind != "branch" or place.name in routes)
    home = {node.id: place for place in found for node in place.nodes}
    exits = {}
    for place in found:
        own = {node.id for node in place.nodes}
        targets = {edge.target for node in place.nodes for edge in node.edges}
        exits[place.name] = frozenset(settled.of(targets - own)) - own
    return Routes(
        program,
        identifiers_of(program, [BEGIN, HANDED]),
        found,
        settled.of({program.entry}),
        exits,
        home,
        index,
        routes,
    )


class _Settled:
    """Where a run stands once it has passed through branches."""

    def __init__(self, index: Mapping[str, Node], routes: frozenset[str]) -> None:
        self._index = index
        self._routes = routes
        self._known: dict[str, frozenset[str]] = {}

    def of(self, names: Iterable[str]) -> frozenset[str]:
        """The nodes that are no branches to which some nodes lead."""
        found: set[str] = set()
        seen: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            if isinstance(self._index[name].task, Branch) and name not in self._routes:
                pending += [edge.target for edge in self._index[name].edges]
            else:
                found.add(name)
        return frozenset(found)


class RoutedParts(Jobs):
    """Routes cut into jobs: at gates, approvals and matrices, and where an environment begins or ends.

    `approvals` and `matrices` say whether they are, `waits` whether a run may have to wait for an answer, and be
    continued by another one, whose first job hands it on to where it has waited. `environments` are those of nodes.
    """

    def __init__(
        self, routes: Routes, *, approvals: bool, waits: bool, matrices: bool, environments: Mapping[str, str]
    ) -> None:
        self.routes = routes
        self.approvals = approvals
        self._has_matrices = matrices
        self.environments = environments
        self._of_level: dict[int, str] = {}
        self._leading = _leading(routes)
        levels = self._levels()
        super().__init__(routes.ids, levels, routes.program.kind, is_cut=any(map(self.is_apart, routes.places)))
        self._level_of = {name: levels[place.name] for name, place in routes.home.items()}
        self._resumed = {name for name in routes.home if waits and self._may_wait(name)}
        self._arrivals: list[AbstractSet[str]] = []
        self._onward: list[AbstractSet[str]] = []
        self._completing: list[bool] = []
        for level in range(self.last + 1):
            self._follow(level)
        self.parts = [self._part(level) for level in range(self.last + 1)]
        self._certain = {name for level in range(self.last + 1) for name in self._unavoidable(level)}

    def is_gate(self, place: Place) -> bool:
        """Whether people decide about a place by approval."""
        if place.kind != "step":
            return False
        return isinstance(place.node.task, Gate) or (self.approvals and isinstance(place.node.task, Ask))

    def is_apart(self, place: Place) -> bool:
        """Whether a job of its own, between two parts, decides about a place: people, or agents that are jobs."""
        return self.is_gate(place) or self.is_matrix(place)

    def is_matrix(self, place: Place) -> bool:
        """Whether the agents of a place are jobs of their own, which they cannot be in a loop: a job happens once."""
        return self._has_matrices and place.kind == "step" and isinstance(place.node.task, Parallel)

    def _levels(self) -> dict[str, int]:
        """The level of each place: behind what leads to it, and in a job with its environment.

        An end has no step, so it does not matter whose it is.
        """
        levels: dict[str, int] = {}
        for place in self.routes.places:
            before = {name for node in place.nodes for name in self._leading.get(node.id, ())}
            level = max((levels[n] + self.is_apart(self.routes.home[n]) for n in before), default=0)
            while place.kind != "end" and not self._takes(level, place):
                level += 1
            levels[place.name] = level
        return levels

    def _takes(self, level: int, place: Place) -> bool:
        """Whether a place can be at a level; the part behind a place apart is where a run goes on from there."""
        if place.kind == "branch":
            return True  # it needs nothing
        wanted = {level: self._environment(place)}
        if self.is_apart(place):
            found = {self._environment(self.routes.home[name]) for name in self._goes_on(place)}
            wanted = {level: "", level + 1: found.pop() if len(found) == 1 else ""}
        if any(self._of_level.get(number, said) != said for number, said in wanted.items()):
            return False
        self._of_level |= wanted
        return True

    def _environment(self, place: Place) -> str:
        is_own = place.kind == "step" and not self.is_apart(place)
        return self.environments.get(place.name, "") if is_own else ""

    def _goes_on(self, place: Place) -> Iterator[str]:
        return (name for name in self.routes.exits[place.name] if not self._is_end(name))

    def condition(self, part: Part, place: Place) -> str:
        """When a place of a part is reached: what the steps have said that may lead there, nothing if all do."""
        if place.name in self._certain:
            return ""
        level = self.parts.index(part)
        leading: list[Condition] = []
        for name in (node.id for node in place.nodes):
            before = [other for other in self._leading.get(name, ()) if self.levels[other] == level]
            begun = [BEGIN] if name in self._arrivals[level] else []
            leading += [self._said(step, name) for step in begun]
            leading += [self._led(other, name) for other in before]
        return expression(some(*leading), lambda literal: f"steps.{literal.step}.{_compared(literal)}")

    def whole(self, part: Part) -> str:
        """When a part is reached: an earlier one hands the run on to it, or others have decided just before."""
        level = self.parts.index(part)
        if level == 0:
            return ""
        tests: list[Condition] = []
        for earlier in range(level):
            entered = [name for name in self.routes.home if name in self._onward[earlier]]
            tests += [self._said(self.id(earlier), name) for name in entered if self._level_of[name] == level]
        before = self.parts[level - 1]
        for place in before.questions:
            tests += [Literal(self.gate(place), "result", "==", result) for result in ("success", "failure")]
        tests += [Literal(self.entries(place), "result", "!=", "skipped") for place in before.matrices]
        return expression(some(*tests), self._known)

    def asked(self, part: Part, place: Place) -> str:
        """Others are to decide where the run stands at the place when the job ends."""
        return self._known(self._said(part.id, place.name))

    def completing(self) -> list[Part]:
        """The parts in which a run can come to the good end: agents of no other part can have something published."""
        found = [part for part, is_completing in zip(self.parts, self._completing, strict=True) if is_completing]
        return found or list(self.parts)

    def onward(self, part: Part) -> list[str]:
        """The names of the places where a job may leave the run for later ones, or for others to decide."""
        found = {*self._onward[self.parts.index(part)], *(place.name for place in part.apart)}
        return [self.ids.nodes[name] for name in self.routes.home if name in found]

    def _led(self, other: str, name: str) -> Literal:
        """That another place has led to one."""
        if other not in self.routes.routing:
            return self._said(self.ids.nodes[other], name)
        label = self.routes.labels(self.routes.nodes[other])[self.ids.nodes[name]]
        return Literal(self.ids.nodes[other], "outputs.branch", "==", label)

    def _said(self, step: str, name: str) -> Literal:
        return Literal(step, _NEXT, "==", self.ids.nodes[name])

    def _known(self, literal: Literal) -> str:
        if literal.property == _NEXT:
            return f"{self.handed_on(literal.step, RESULT, _NEXT)} == '{literal.value}'"
        return f"needs.{literal.step}.{_compared(literal)}"

    def _may_wait(self, name: str) -> bool:
        return isinstance(self.routes.nodes[name].task, (Ask, Gate)) and not self.is_gate(self.routes.home[name])

    def _follow(self, level: int) -> None:
        """Where a run may stand when the job of a level begins, and when it leaves it for a later one."""
        handed = {name for found in self._onward for name in found if self._level_of[name] == level}
        apart = [place for place in self.at(self.routes.places, level - 1) if self.is_apart(place)]
        decided = {name for place in apart for name in self.routes.exits[place.name]}
        arrivals = {*handed, *decided} if level else set(self.routes.start)
        here = [place for place in self.at(self.routes.places, level) if not self.is_apart(place)]
        left = {*arrivals, *(name for place in here for name in self.routes.exits[place.name]), *self._resumed}
        self._arrivals.append(arrivals)
        self._onward.append({name for name in left if self._level_of[name] > level and not self._is_end(name)})

        self._completing.append(any(self._is_end(name) and not self._is_stop(name) for name in left))

    def _is_end(self, name: str) -> bool:
        return isinstance(self.routes.nodes[name].task, End)

    def _unavoidable(self, level: int) -> Iterator[str]:
        """The places of a part that no path leads past.

        An end by STOP fails the job, so nothing is asked for it. A run that comes to a place apart leaves the job.
        """
        ahead = {name for name in self._arrivals[level] if not self._is_stop(name)}
        for place in self.parts[level].places:
            if place.kind != "end":
                others = ahead - {node.id for node in place.nodes}
                if not others:
                    yield place.name
                if not self.is_apart(place):
                    ahead = others | {name for name in self.routes.exits[place.name] if not self._is_stop(name)}

    def _is_stop(self, name: str) -> bool:
        task = self.routes.nodes[name].task
        return isinstance(task, End) and task.result == "stop"

    def _part(self, level: int) -> Part:
        places = self.at(self.routes.places, level)
        questions, matrices = filter(self.is_gate, places), filter(self.is_matrix, places)
        return Part(self.id(level), places, TRUE, tuple(questions), tuple(matrices), self._of_level.get(level, ""))


def _leading(routes: Routes) -> dict[str, list[str]]:
    """For each node the places that may lead to it."""
    found: dict[str, list[str]] = {}
    for place in routes.places:
        for name in routes.exits[place.name]:
            found.setdefault(name, []).append(place.name)
    return found


def _words(edge: Edge) -> Iterator[str]:
    """The outcomes that an edge asks for, as people read them."""
    for test in edge.guard:
        if isinstance(test, OutcomeTest):
            yield test.word.upper() if test.word in {"pass", "fail"} else test.word


def _compared(literal: Literal) -> str:
    return f"{literal.property} {literal.operator} '{literal.value}'"
