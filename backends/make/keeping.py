"""Commands whose outputs are kept after each outcome, whatever it is: the driver does that by itself (I19)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from compiler.ir.edges import Clear, Edge, Keep
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Shell

Kept = Mapping[str, tuple[Keep, ...]]
"""What nodes keep after each outcome, by their ids."""


def kept_always(program: Program) -> Kept:
    """The commands each of whose edges keeps all of their outputs in the same slots."""
    found = {node.id: _kept(node) for node in program.nodes if isinstance(node.task, Shell) and node.edges}
    return {name: keeps for name, keeps in found.items() if keeps}


def without(program: Program, kept: Kept) -> Program:
    """The program without the effects that keep these outputs."""
    return replace(program, nodes=tuple(_bare(node, kept) for node in program.nodes)) if kept else program


def _kept(node: Node) -> tuple[Keep, ...]:
    first = _values(node.edges[0])
    return first if all(_values(edge) == first and _is_apart(edge) for edge in node.edges) else ()


def _values(edge: Edge) -> tuple[Keep, ...]:
    return tuple(effect for effect in edge.effects if isinstance(effect, Keep) and effect.of == "output")


def _is_apart(edge: Edge) -> bool:
    """Whether it does not matter in which order the effects of an edge apply: it changes no slot twice."""
    slots = [effect.slot for effect in edge.effects if isinstance(effect, Keep | Clear)]
    return len(slots) == len(set(slots))


def _bare(node: Node, kept: Kept) -> Node:
    gone = kept.get(node.id, ())
    if not gone:
        return node
    edges = (
        replace(edge, effects=tuple(effect for effect in edge.effects if effect not in gone)) for edge in node.edges
    )
    return replace(node, edges=tuple(edges))
