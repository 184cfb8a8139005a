"""Limit how often a run visits a step: a counter, and a branch in front of the step (I4).

All targets support counters and branches, so a limit needs nothing else from them. RETRY and the operator's jumps don't
pass the branch: an attempt doesn't start a visit, and an operator decides. Like other ends, this one is in no group.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.edges import Add, CounterTest, Edge, Written
from compiler.ir.graph import loop_regions
from compiler.ir.program import Counter, Node, Program, jumps_of, work_of
from compiler.ir.tasks import Branch, End
from compiler.ir.texts import Text, text


class VisitLimit(Struct, frozen=True):
    """The most visits of a step, and the message of the STOP instead of another visit."""

    step: str
    most: int
    message: str = ""

    @property
    def stops(self) -> str:
        """Return the message of the STOP, or one that names the step."""
        return self.message or f"step {self.step} reached its limit of {self.most} visit{'s' * (self.most > 1)}"


def with_visit_limits(program: Program, limits: Iterable[VisitLimit]) -> tuple[Program, set[str]]:
    """Return the program with these limits, and the steps that no transition leads back to.

    Only an operator can lead a run back to these, but not in a program with a contract.
    """
    jumps, again = jumps_of(program), _repeated(program)
    entries = {jumps[limit.step].target: limit for limit in limits if limit.step not in most_visits(program)}
    useless = {limit.step for entry, limit in entries.items() if entry not in again}
    if not entries or program.stepspec is not None:
        return program, useless
    counts = {entry: f"{limit.step}/visits" for entry, limit in entries.items()}
    nodes: list[Node] = []
    for node in program.nodes:
        edges = tuple(
            replace(edge, target=counts[edge.target]) if edge.target in counts and not _is_retry(node, edge) else edge
            for edge in node.edges
        )
        nodes.append(node if edges == node.edges else replace(node, edges=edges))
        if node.id in entries:  # below it, because a jump to a group leads to the first node
            nodes += _counting(node, entries[node.id])
    counters = (Counter(_counter(limit), "", role="visits", of=limit.step) for limit in entries.values())
    entry = counts.get(program.entry, program.entry)
    return replace(program, entry=entry, nodes=tuple(nodes), counters=(*program.counters, *counters)), useless


def limits_of(program: Program) -> Mapping[str, tuple[str, int]]:
    """Return the branches that limit visits, each with its step and the most visits."""
    found = {counter.name: counter.of for counter in program.counters if counter.role == "visits"}
    edges = ((node.id, edge) for node in program.nodes for edge in node.edges) if found else ()
    tests = ((name, test) for name, edge in edges for test in edge.guard if test.kind == "counter")
    return {name: (found[test.register], test.value) for name, test in tests if test.register in found}


def most_visits(program: Program) -> Mapping[str, int]:
    """Return the limits of a program by step."""
    return dict(limits_of(program).values())


def _repeated(program: Program) -> set[str]:
    """Return the nodes that a path leads back to, apart from RETRY."""
    graph = {node.id: {edge.target: None for edge in node.edges if not _is_retry(node, edge)} for node in program.nodes}
    return {name for region in loop_regions(graph) for name in region}


def _is_retry(node: Node, edge: Edge) -> bool:
    return (
        edge.target in (node.id, work_of(node.id)) and node.retries is not None and Add(node.retries, 1) in edge.effects
    )


def _counter(limit: VisitLimit) -> str:
    return f"{limit.step} visits"


def _counting(entry: Node, limit: VisitLimit) -> Iterator[Node]:
    counter, name = _counter(limit), f"{limit.step}/visits"
    visit = Edge((CounterTest(counter, "<", limit.most),), (Add(counter, 1),), entry.id)
    stop = Edge((), (), f"{name}/STOP", (Written("STOP"),))
    yield Node(name, Text(), entry.origin, Branch(), (visit, stop), entry.group)
    yield Node(stop.target, Text(), entry.origin, End("stop", text(limit.stops)), ())
