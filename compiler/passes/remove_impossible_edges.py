"""Remove edges that counters rule out, and tests that always hold.

A run is a path from the start. It also continues wherever one of the program's operator jumps leads.
"""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from compiler.analyses.exploration import explore
from compiler.ir.edges import Edge, OutcomeTest, Test, output_names
from compiler.ir.program import Node, Program
from compiler.ir.tasks import alphabet


def remove_impossible_edges(program: Program) -> Program:
    """Return the program without edges that no run can take; unreachable nodes keep their edges."""
    possible = explore(program).edges
    if not possible:
        return program
    nodes = [_narrowed(node, possible[node.id]) if node.id in possible else node for node in program.nodes]
    is_same = all(old is new for old, new in zip(program.nodes, nodes, strict=True))
    return program if is_same else replace(program, nodes=tuple(nodes))


def _narrowed(node: Node, possible: Mapping[int, frozenset[Test]]) -> Node:
    """Return the node with its possible edges, and the edges that the verifier needs to see a complete choice."""
    # Edges that keep a value declare which names a command may set (I9), so the last edge with a name stays too.
    remaining = {place: _relaxed(node.edges[place], tests) for place, tests in possible.items()}
    words: set[str | None] = {*alphabet(node.task)} or {None}
    missing = words.difference(*(_plain_words(edge, words) for edge in remaining.values()))
    for place, edge in enumerate(node.edges):
        if missing and not missing.isdisjoint(_plain_words(edge, words)):
            remaining.setdefault(place, edge)
    named = {*output_names(remaining.values())}
    for place, edge in enumerate(node.edges):
        if not named.issuperset(names := output_names([edge])):
            remaining[place] = edge
            named.update(names)
    edges = tuple(remaining[place] for place in sorted(remaining))
    return node if edges == node.edges else replace(node, edges=edges)


def _plain_words(edge: Edge, words: set[str | None]) -> Collection[str | None]:
    if not edge.guard:
        return words
    first, *others = edge.guard
    if isinstance(first, OutcomeTest) and first.word in words and all(test == first for test in others):
        return (first.word,)
    return ()


def _relaxed(edge: Edge, undecided: frozenset[Test]) -> Edge:
    guard = tuple(test for test in edge.guard if isinstance(test, OutcomeTest) or test in undecided)
    return edge if guard == edge.guard else replace(edge, guard=guard)
