"""Thread jumps: an edge into a branch with a single transition leads directly to its target."""

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from compiler.ir.edges import Edge, StepOutcome
from compiler.ir.program import Jump, Program

Settles = tuple[StepOutcome, ...]


def thread_jumps(program: Program) -> Program:
    """Return the program with edges that skip branches without a choice; another pass removes these branches."""
    branches = (node for node in program.nodes if node.task.kind == "branch")
    transitions = {node.id: node.edges[0] for node in branches if not node.edges[0].guard}
    if not transitions:
        return program
    nodes = list(program.nodes)
    for place, node in enumerate(nodes):
        for edge in node.edges:
            if edge.target in transitions:
                edges = (_threaded(edge, transitions, partial(program.can_settle, node.group)) for edge in node.edges)
                nodes[place] = replace(node, edges=tuple(edges))
                break
    entry = program.entry
    while entry in transitions and not (transitions[entry].effects or transitions[entry].settles):
        entry = transitions[entry].target
    jumps = tuple(_led_on(jump, transitions) for jump in program.jumps)
    threaded = replace(program, nodes=tuple(nodes), entry=entry, jumps=jumps)
    return program if threaded == program else threaded


def _led_on(jump: Jump, transitions: dict[str, Edge]) -> Jump:
    while jump.target in transitions and not transitions[jump.target].settles:
        transition = transitions[jump.target]
        jump = replace(jump, target=transition.target, effects=jump.effects + transition.effects)
    return jump


def _threaded(edge: Edge, transitions: dict[str, Edge], can_settle: Callable[[Settles], bool]) -> Edge:
    """Return the edge, redirected past single transitions; branches never form cycles, so this ends."""
    while edge.target in transitions:
        last = transitions[edge.target]
        settles = edge.settles + last.settles
        if last.settles and not can_settle(settles):  # the edge enters a group from outside, only to settle it
            break
        written = edge.written or last.written
        origins = edge.origins + last.origins
        edge = Edge(edge.guard, edge.effects + last.effects, last.target, written, origins, settles)
    return edge
