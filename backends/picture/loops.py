"""How a picture shows loops: in separate frames, in the frames of groups, or on the boxes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, field

from backends.picture.naming import free
from compiler.ir.graph import loop_regions, to_graph
from compiler.ir.program import Node, Program


class Placement(Struct):
    """The frame of each node and group ("" for none), and how loops are shown.

    `loops` are the added frames, each with the frame around it. `groups` are groups that are loops as a whole. A loop
    with only a part of a group has no frame: `heads` and `boxes` are the nodes of such loops.
    """

    nodes: dict[str, str]
    parents: dict[str, str]
    loops: dict[str, str] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    heads: set[str] = field(default_factory=set)
    boxes: set[str] = field(default_factory=set)


def place(program: Program) -> Placement:
    """Return the placement of all nodes and groups. A box with an arrow to itself needs no loop frame."""
    parents = program.parents
    placement = Placement({node.id: node.group for node in program.nodes}, dict(parents))
    total = _contents(program.nodes, parents)
    order = {node.id: index for index, node in enumerate(program.nodes)}
    for region in loop_regions(to_graph(program)):
        if len(region) > 1:
            members = [program.nodes[index] for index in sorted(order[name] for name in region)]
            _place(placement, members, parents, total)
    return placement


def _place(placement: Placement, members: list[Node], parents: Mapping[str, str], total: Mapping[str, int]) -> None:
    within = _contents(members, parents)
    around = members[0].group
    while within[around] < len(members):
        around = parents[around]
    inner = [group for group in within if group and parents[group] == around]
    if any(within[group] < total[group] for group in inner):
        placement.heads.add(members[0].id)
        placement.boxes.update(node.id for node in members)
    elif around and total[around] == len(members):
        placement.groups.add(around)
    else:
        frame = free(f"loop of {members[0].id}", placement.parents)
        placement.loops[frame] = around
        placement.parents.update(dict.fromkeys(inner, frame))
        placement.nodes.update((node.id, frame) for node in members if node.group == around)


def _contents(nodes: Collection[Node], parents: Mapping[str, str]) -> dict[str, int]:
    """Return how many of the nodes each group contains, at any depth; "" contains all."""
    directly: dict[str, int] = {}  # faster than a `Counter` for few nodes, which is the usual case
    for node in nodes:
        directly[node.group] = directly.get(node.group, 0) + 1
    counts = {"": len(nodes)}
    for inner, number in directly.items():
        group = inner
        while group:
            counts[group] = counts.get(group, 0) + number
            group = parents[group]
    return counts
