"""The conditions under which a run reaches each place, and the values of counters there.

If a node's failure stops the run (`halts`), later conditions need not test it: they are only evaluated if the node
passed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import assert_never

from msgspec import Struct

from backends.scheduling.condition import FALSE, TRUE, Condition, Literal, every, literals, negation, some
from backends.scheduling.places import Place, changed_by, scopes_of
from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    CounterTest,
    Edge,
    Effect,
    Keep,
    Reset,
    Set,
    counter_tests,
    may_follow,
)
from compiler.ir.program import Node, Program
from compiler.ir.tasks import End, Shell, Verdict

LARGEST = 60  # the most comparisons for the value of a counter; beyond that, its places become one loop

_START = ""


class Identifiers(Struct, frozen=True):
    """Identifiers of nodes by their ids, and of counters by their names."""

    nodes: Mapping[str, str]
    counters: Mapping[str, str]


class Words(Struct, frozen=True):
    """A target's words: the property for a step's outcome with its values, and the beginning of its outputs."""

    outcome: str
    passed: str
    failed: str
    skipped: str
    outputs: str

    def output(self, ids: Identifiers, counter: str) -> str:
        """Return the property of a loop's step that reports a counter."""
        return f"{self.outputs}{ids.counters[counter].removeprefix('rdc_')}"

    @property
    def next(self) -> str:
        """The property of a loop's step that names the next step."""
        return f"{self.outputs}next"


class Report(Struct, frozen=True):
    """The value that a loop reports for a counter at its exit."""

    place: str
    register: str


Value = int | Report
Values = tuple[tuple[Condition, Value], ...]


class Arc(Struct, frozen=True):
    """A transition into a place: its source, its edge, and its condition."""

    source: str
    edge: Edge
    condition: Condition


class TangledError(Exception):
    """The value of a counter cannot be derived from the outcomes of earlier steps."""

    def __init__(self, register: str, place: Place) -> None:
        super().__init__(register, place.name)
        self.register = register
        self.place = place


class Flow:
    """The conditions of a program whose places are in topological order.

    Args:
        program: The program.
        places: All of its places.
        ids: A step id for each node, and a variable for each counter.
        words: The target's words.
    """

    def __init__(self, program: Program, places: Sequence[Place], ids: Identifiers, words: Words) -> None:
        self.ids = ids
        self.words = words
        self._steps = ids.nodes
        self.places = places
        self.arcs: dict[str, list[Arc]] = {place.name: [] for place in places}
        self.halts: dict[str, list[Literal]] = {}
        self.reached: dict[str, Condition] = {}
        self._initial = {counter.name: counter.initial for counter in program.counters}
        self._scopes = scopes_of(program)
        self._stops = {node.id for node in program.nodes if _is_plain_stop(node)}
        self.named = {place.name: place for place in places}
        self._position = {place.name: index for index, place in enumerate(places)}
        self._leaving: dict[str, int] = {}
        self._values: dict[str, dict[str, Values | None]] = {}
        self._sources: dict[str, list[str]] = {}
        home = {node.id: place.name for place in places for node in place.nodes}
        self.arcs[home[program.entry]].append(Arc(_START, Edge((), (), program.entry), TRUE))
        for place in places:
            self.reached[place.name] = self._arrival(place)
            arcs = [arc for arc in self._arcs_on(place) if arc.condition != FALSE]
            self._leaving[place.name] = len(arcs)
            for arc in arcs:
                self.arcs[home[arc.edge.target]].append(arc)

    def values(self, place: Place, register: str) -> Values:
        """Return the possible values of a counter on arrival at a place. Exactly one condition holds there.

        Raises:
            TangledError: This needs too many comparisons, or sums that no condition can express.
        """
        found = self._value(place.name, register)
        if found is None:
            raise TangledError(register, place)
        return found

    def constant(self, place: Place, register: str) -> int:
        """Return the value of a counter that is the same on all paths to a place. Raises `TangledError`."""
        match self.values(place, register):
            case ((_, int(value)),):
                return value
            case _:
                raise TangledError(register, place)

    def entries(self, place: Place) -> dict[str, Condition]:
        """Return the condition of each node by which a run can enter a place."""
        found: dict[str, Condition] = {}
        for arc in self.arcs[place.name]:
            found[arc.edge.target] = some(found.get(arc.edge.target, FALSE), arc.condition)
        return found

    def halt(self, node: Node) -> str | None:
        """Return the STOP end that a command always leads to if it fails: then the job simply fails at its step."""
        if not isinstance(node.task, Shell):
            return None
        targets = {edge.target for edge in node.edges if edge.target != node.id and may_follow(edge, Verdict.FAIL)}
        return targets.pop() if len(targets) == 1 and targets <= self._stops else None

    # --- When a place is reached --------------------------------------------------------------------------------------

    def _arrival(self, place: Place) -> Condition:
        transitions: dict[str, list[Arc]] = {}
        for arc in self.arcs[place.name]:
            transitions.setdefault(arc.source, []).append(arc)
        return some(*(self._any_of(source, arcs) for source, arcs in transitions.items()))

    def _any_of(self, source: str, arcs: list[Arc]) -> Condition:
        """Return when one of a place's transitions is taken. If these are all, this is when the place is done."""
        always = len(arcs) > 1 and len(arcs) == self._leaving[source]
        if not always or self.named[source].kind == "loop":
            return some(*(arc.condition for arc in arcs))
        place = self.named[source]
        if place.kind == "branch" or self.reached[source] == TRUE:
            return self.reached[source]
        return Literal(self._steps[source], self.words.outcome, "!=", self.words.skipped)

    # --- Where a run goes from a place --------------------------------------------------------------------------------

    def _arcs_on(self, place: Place) -> Iterator[Arc]:
        if self.reached[place.name] == FALSE:
            return
        if place.kind == "loop":
            yield from self._exits(place)
        elif place.kind == "branch":
            for edge, condition in self._choices(place, None):
                yield Arc(place.name, edge, every(self.reached[place.name], condition))
        elif place.kind == "step":
            yield from self._outcomes(place)

    def _exits(self, place: Place) -> Iterator[Arc]:
        own = {node.id for node in place.nodes}
        edges = {edge.target: edge for node in place.nodes for edge in node.edges if edge.target not in own}
        for target, edge in edges.items():
            yield Arc(place.name, edge, Literal(self._steps[place.name], self.words.next, "==", self._steps[target]))

    def _outcomes(self, place: Place) -> Iterator[Arc]:
        stop = self.halt(place.node)
        step = self._steps[place.name]
        passed: Condition = Literal(step, self.words.outcome, "==", self.words.passed)
        failed = Literal(step, self.words.outcome, "==", self.words.failed)
        if stop:
            self.halts.setdefault(stop, []).append(failed)
            passed = TRUE if self.reached[place.name] == TRUE else passed
        else:
            for edge, condition in self._choices(place, Verdict.FAIL):
                yield Arc(place.name, edge, every(failed, condition))
        for edge, condition in self._choices(place, Verdict.PASS):
            yield Arc(place.name, edge, every(passed, condition))

    def _choices(self, place: Place, verdict: Verdict | None) -> Iterator[tuple[Edge, Condition]]:
        earlier: Condition = TRUE
        for group in _groups(place.node, verdict):
            holds = some(*(self._tests(place, edge) for edge in group))
            condition = every(earlier, holds)
            if condition != FALSE:
                yield group[0], condition
            if holds == TRUE:
                return
            earlier = every(earlier, negation(holds))

    def _tests(self, place: Place, edge: Edge) -> Condition:
        return every(*(self._test(place, test) for test in counter_tests(edge)))

    def _test(self, place: Place, test: CounterTest) -> Condition:
        return some(*(every(when, self._compare(value, test)) for when, value in self.values(place, test.register)))

    def _compare(self, value: Value, test: CounterTest) -> Condition:
        if isinstance(value, int):
            holds = {"<": value < test.value, ">=": value >= test.value, "=": value == test.value}[test.operator]
            return TRUE if holds else FALSE
        operator = "==" if test.operator == "=" else test.operator
        return Literal(self._steps[value.place], self.words.output(self.ids, value.register), operator, test.value)

    # --- The values of counters ---------------------------------------------------------------------------------------

    def _value(self, name: str, register: str) -> Values | None:
        """Return the values of a counter at a place. Before the first change, it has its initial value."""
        first = self._first_changes.get(register, len(self.places))
        if self._position[name] <= first:
            return ((TRUE, self._initial[register]),)
        known = self._values.setdefault(register, {})
        for earlier in self.places[first + 1 + len(known) : self._position[name] + 1]:
            # All its arcs are known before its counters are needed.
            if earlier.name not in self._sources:
                self._sources[earlier.name] = list(dict.fromkeys(arc.source for arc in self.arcs[earlier.name]))
            sources = self._sources[earlier.name]
            values = known.get(sources[0]) if sources else None
            is_carried = values is not None and not any(
                known.get(source) is not values or register in self._changed_in[source] for source in sources
            )
            known[earlier.name] = values if is_carried else self._arriving(earlier, register)
        return known[name]

    @cached_property
    def _first_changes(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for index, place in enumerate(self.places):
            for name in self._changed_in[place.name]:
                found.setdefault(name, index)
        return found

    @cached_property
    def _changed_in(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {place.name: set() for place in self.places}
        for place in self.places:
            for effect in {effect for node in place.nodes for edge in node.edges for effect in edge.effects}:
                found[place.name] |= changed_by(effect, self._scopes)
        return found

    def _arriving(self, place: Place, register: str) -> Values | None:
        arrivals: list[tuple[Condition, Values]] = []
        for arc in self.arcs[place.name]:
            values = self._after(arc, register)
            if values is None:
                return None
            arrivals.append((arc.condition, values))
        if not arrivals or all(values == arrivals[0][1] for _, values in arrivals):
            return arrivals[0][1] if arrivals else ((TRUE, self._initial[register]),)
        found = _merged((every(taken, when), value) for taken, values in arrivals for when, value in values)
        return found if sum(1 for when, _ in found for _ in literals(when)) <= LARGEST else None

    def _after(self, arc: Arc, register: str) -> Values | None:
        if arc.source == _START:
            return ((TRUE, self._initial[register]),)
        source = self.named[arc.source]
        if source.kind == "loop" and register in self._changed_in[source.name]:
            return ((TRUE, self._left_with(arc, register)),)
        values = self._value(arc.source, register)
        if values is None:
            return None
        changed = [(when, self._changed(value, register, arc.edge.effects)) for when, value in values]
        after = [(when, value) for when, value in changed if value is not None]
        if len(after) < len(changed):
            return None
        merged = _merged(after)
        return merged if merged[1:] else ((TRUE, merged[0][1]),)

    def _left_with(self, arc: Arc, register: str) -> Value:
        """Return the value of a counter after a loop. It is known if every edge to the exit sets the same value."""
        report = Report(arc.source, register)
        edges = [edge for node in self.named[arc.source].nodes for edge in node.edges if edge.target == arc.edge.target]
        found = {self._changed(report, register, edge.effects) for edge in edges}
        value = found.pop() if len(found) == 1 else None
        return value if isinstance(value, int) else report

    def _changed(self, value: Value | None, register: str, effects: Iterable[Effect]) -> Value | None:
        for effect in effects:
            if register not in changed_by(effect, self._scopes):
                continue
            match effect:
                case Set(_, number):
                    value = number
                case Reset():
                    value = self._initial[register]
                case Add(_, amount):
                    value = value + amount if isinstance(value, int) and isinstance(amount, int) else None
                case AtLeast(_, least):
                    value = max(value, least) if isinstance(value, int) else None
                case Keep() | Clear():
                    continue  # changes no counter
                case _:
                    assert_never(effect)
        return value


def _merged(values: Iterable[tuple[Condition, Value]]) -> Values:
    merged: dict[Value, Condition] = {}
    for when, value in values:
        merged[value] = some(merged.get(value, FALSE), when)
    return tuple((when, value) for value, when in merged.items())


def _is_plain_stop(node: Node) -> bool:
    if not isinstance(node.task, End) or node.task.result != "stop":
        return False
    return not any(node.task.message.references)


def _groups(node: Node, verdict: str | None) -> list[list[Edge]]:
    groups: list[list[Edge]] = []
    for edge in node.edges:
        if edge.target == node.id or not may_follow(edge, verdict):
            continue
        if groups and (groups[-1][0].target, groups[-1][0].effects) == (edge.target, edge.effects):
            groups[-1].append(edge)
        else:
            groups.append([edge])
    return groups
