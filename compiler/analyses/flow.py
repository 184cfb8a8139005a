"""Warnings from the graph: unreachable steps, steps without a path out, transitions that never fire (V12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.analyses.possible import PossibleTransition, possible
from compiler.diagnostic import Diagnostic
from compiler.ir.edges import Origin
from compiler.ir.graph import reachable, to_graph, with_path_out
from compiler.ir.program import Node, Program, without_jumps
from compiler.ir.tasks import Branch, End
from compiler.source import Source, Span

Said = tuple[str, str]
"""What is wrong, and what to do."""


class Wording(Struct, frozen=True):
    """What the warnings say in the words of a format; the first two with `{}` for the id of a node."""

    unreachable: Said
    no_path_out: Said
    never_completes: Said
    never_fires: Said


def flow_warnings(
    program: Program, written: Iterable[Origin], sources: Mapping[str, Source], wording: Wording
) -> Iterator[Diagnostic]:
    """The warnings for a program; `written` is the place of every transition, `sources` are by the names in it."""
    found = possible(without_jumps(program))
    if not found.is_complete:
        yield _gave_up(program, sources)
    program = _without_impossible(program, found.transitions)
    reached, leaving = _reach(program)
    shown: set[tuple[str, Span]] = set()
    for node in program.nodes:
        if node.id in reached and node.id in leaving:
            continue
        problem = _node_problem(node, reached, wording)
        place = (node.origin.path, node.origin.span)
        if problem and place not in shown:
            shown.add(place)
            yield Diagnostic(problem[0], sources[node.origin.path].path, node.origin.span, *problem[1:])
    if not any(_completes(node) and node.id in reached for node in program.nodes):
        entry = program.index()[program.entry].origin
        yield Diagnostic("RD403", sources[entry.path].path, entry.span, *wording.never_completes)
    for origin in _never_firing(program, reached, written):
        yield Diagnostic("RD404", sources[origin.path].path, origin.span, *wording.never_fires)


def _gave_up(program: Program, sources: Mapping[str, Source]) -> Diagnostic:
    """What is said instead of warnings that would take longer to find than compiling takes."""
    problem = "rdc stopped following the counters of this document, so it may not see transitions that no run takes"
    return Diagnostic("RD411", sources[program.sources[0].path].path, None, problem, "use fewer counters in a step")


def _without_impossible(program: Program, transitions: Mapping[str, Sequence[PossibleTransition]]) -> Program:
    """The program without edges that counters rule out: what only these lead to is not reached."""
    if not transitions:
        return program
    nodes = (
        replace(node, edges=tuple(node.edges[one.place] for one in transitions[node.id]))
        if node.id in transitions
        else node
        for node in program.nodes
    )
    return replace(program, nodes=tuple(nodes))


def _reach(program: Program) -> tuple[set[str], set[str]]:
    """The nodes that are reached, and those that reach an end."""
    graph = to_graph(program)
    return reachable(graph, program), with_path_out(graph, program)


def _completes(node: Node) -> bool:
    return isinstance(node.task, End) and node.task.result == "complete" and not node.edges


def _node_problem(node: Node, reached: set[str], wording: Wording) -> tuple[str, str, str] | None:
    """What is wrong with a node that is not reached, or from which no path leads out."""
    if isinstance(node.task, Branch | End):
        return None
    if node.id not in reached:
        return "RD401", wording.unreachable[0].format(node.id), wording.unreachable[1]
    return "RD402", wording.no_path_out[0].format(node.id), wording.no_path_out[1]


def _never_firing(program: Program, reached: set[str], written: Iterable[Origin]) -> list[Origin]:
    """Transitions that no reachable edge carries out; those of steps that are not reached are not named again."""
    fired = {origin for node in program.nodes if node.id in reached for edge in node.edges for origin in edge.origins}
    silent = [origin for origin in written if origin not in fired]
    if not silent:
        return []
    live_groups = {node.group for node in program.nodes if node.id in reached}
    unreached = {
        origin
        for node in program.nodes
        if node.id not in reached and not (isinstance(node.task, Branch) and node.group in live_groups)
        for edge in node.edges
        for origin in edge.origins
    }
    return [origin for origin in silent if origin not in unreached]
