"""Removal of what no run can reach: nodes, and the groups in which nothing is left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from compiler.ir.program import Program


def remove_unreachable(program: Program, entries: Iterable[str] = ()) -> Program:
    """The program without nodes that neither its entry nor any other of these leads to."""
    index = program.index()
    reached = {program.entry, *entries}
    pending = [*reached]
    while pending:
        for edge in index[pending.pop()].edges:
            if edge.target not in reached:
                reached.add(edge.target)
                pending.append(edge.target)
    if len(reached) == len(program.nodes):
        return program
    nodes = tuple(node for node in program.nodes if node.id in reached)
    parents = {group.id: group.parent for group in program.groups}
    live = set()
    for name in {node.group for node in nodes}:
        group = name
        while group and group not in live:
            live.add(group)
            group = parents[group]
    groups = tuple(group for group in program.groups if group.id in live)
    known = reached | live
    jumps = tuple(
        replace(jump, entering=tuple(item for item in jump.entering if item.group in live))
        for jump in program.jumps
        if {jump.unit, jump.target} <= known
    )
    return replace(program, nodes=nodes, groups=groups, jumps=jumps)
