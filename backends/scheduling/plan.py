"""The plan of a program: its places with their conditions, and the counters of each loop."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from backends.scheduling.condition import FALSE, Literal, literals
from backends.scheduling.flow import Flow, Identifiers, Report, TangledError, Values, Words
from backends.scheduling.places import Place, changed_by, find_places, scopes_of
from compiler.ir.edges import CounterTest, feeding
from compiler.ir.graph import between, reached_from, to_graph
from compiler.ir.program import Node, Program, Variable, texts_of
from compiler.ir.tasks import Ask, End, Shell


class Plan(Struct, frozen=True):
    """A simplified program as places in the order of their steps, without unreachable ones.

    `counters` has the counters of each loop with their values at its start. `reports` has the counters that later steps
    read from a loop. `instances` has the instance numbers of each node outside of loops.
    """

    program: Program
    ids: Identifiers
    places: Sequence[Place]
    flow: Flow
    counters: dict[str, dict[str, Values]]
    reports: dict[str, list[str]]
    instances: dict[str, dict[str, int]]

    def numbers(self, node: Node) -> dict[str, str]:
        """Return the instance numbers of a node outside of loops, by their counters."""
        return {name: str(number) for name, number in self.instances.get(node.id, {}).items()}


def make_plan(program: Program, ids: Identifiers, words: Words, *, repeats: bool = True) -> Plan:
    """Return the plan of a simplified program. With `repeats`, a step may retry its node itself.

    If conditions on outcomes cannot express a counter, the nodes between its changes and its use become one loop, which
    can follow any counter.
    """
    together: list[frozenset[str]] = []
    while True:
        places = find_places(program, together, repeats=repeats)
        try:
            flow = Flow(program, places, ids, words)
            places = [place for place in places if flow.reached[place.name] != FALSE]
            counters, reports = _followed(program, places, flow, ids)
            instances = {place.name: _instances(place, flow) for place in places if place.kind != "loop"}
        except TangledError as error:
            together.append(_tangle(program, error))
            continue
        return Plan(program, ids, places, flow, counters, reports, instances)


def _tangle(program: Program, error: TangledError) -> frozenset[str]:
    scopes, register = scopes_of(program), error.register
    effects = ((node.id, effect) for node in program.nodes for edge in node.edges for effect in edge.effects)
    changing = {name for name, effect in effects if register in changed_by(effect, scopes)}
    return between(to_graph(program), changing, {node.id for node in error.place.nodes})


def _followed(
    program: Program, places: Sequence[Place], flow: Flow, ids: Identifiers
) -> tuple[dict[str, dict[str, Values]], dict[str, list[str]]]:
    wanted: dict[str, set[str]] = {place.name: set() for place in places if place.kind == "loop"}
    of_step = {ids.nodes[name]: name for name in wanted}
    of_variable = {flow.words.output(ids, counter): counter for counter in ids.counters}

    def demand(found: Iterable[Literal]) -> None:
        for literal in found:
            if literal.step in of_step and literal.property in of_variable:
                wanted[of_step[literal.step]].add(of_variable[literal.property])

    for arcs in flow.arcs.values():
        demand(literal for arc in arcs for literal in literals(arc.condition))
    counters: dict[str, dict[str, Values]] = {}
    for place in reversed(places):
        if place.kind != "loop":
            continue
        follows = counters_read(place.nodes, wanted[place.name])
        counters[place.name] = {r.name: flow.values(place, r.name) for r in program.counters if r.name in follows}
        for register, values in counters[place.name].items():
            for condition, value in values:
                demand(literals(condition))
                if isinstance(value, Report):
                    wanted[value.place].add(register)
    reports = {name: [r.name for r in program.counters if r.name in found] for name, found in wanted.items()}
    return counters, reports


def counters_read(nodes: Sequence[Node], wanted: Iterable[str] = ()) -> set[str]:
    """Return the counters that some nodes or others need, including counters that are added to these."""
    found = {*wanted, *(variable.register for node in nodes for variable in node.variables if _needs(node, variable))}
    found |= {node.retries for node in nodes if node.retries}
    for edge in (edge for node in nodes for edge in node.edges):
        found |= {test.register for test in edge.guard if isinstance(test, CounterTest)}
    feeds = feeding(edge.effects for node in nodes for edge in node.edges)
    return {*reached_from(found, lambda name: feeds.get(name, ()))}


def _instances(place: Place, flow: Flow) -> dict[str, int]:
    """Return the instance numbers that a node outside of loops needs. They must be known here."""
    node = place.node
    return {
        variable.register: flow.constant(place, variable.register)
        for variable in node.variables
        if isinstance(node.task, Shell) or variable.register in _shown(node)
    }


def _needs(node: Node, variable: Variable) -> bool:
    if isinstance(node.task, End):
        return variable.register in _shown(node)
    return isinstance(node.task, (Ask, Shell))


def _shown(node: Node) -> set[str]:
    return {reference.register for text in texts_of(node) for reference in text.references}
