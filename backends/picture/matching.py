"""Matches the boxes of two versions of a program."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from backends.picture.picture import Frame, Picture
from compiler.analyses.changes import match_nodes
from compiler.ir.program import Node
from compiler.ir.tasks import Branch, End


class Matching(Struct, frozen=True):
    """The steps, boxes (by id) and frames (by id) that both versions have."""

    steps: tuple[tuple[Node, Node], ...]
    boxes: Mapping[str, str]
    frames: Mapping[str, str]

    def renamed(self, name: str) -> str:
        """Return an old name with its longest known part replaced by the new name."""
        begin, rest = name, ""
        while begin:
            if new := self.boxes.get(begin) or self.frames.get(begin):
                return new + rest
            begin, slash, last = begin.rpartition("/")
            rest = f"{slash}{last}{rest}"
        return name


def match(old: Picture, new: Picture) -> Matching:
    """Return the items that both versions have."""
    nodes = match_nodes(nodes_of(old), nodes_of(new))
    ids = {before.id: after.id for before, after in nodes}
    found = Matching(nodes, ids, _frames(old, new, ids))
    return Matching(nodes, ids | _between(old, new, found) | _ends(old, new, found), found.frames)


def nodes_of(drawn: Picture) -> list[Node]:
    """Return the nodes that do something."""
    return [box.node for box in drawn.boxes if not isinstance(box.node.task, Branch | End)]


def said(node: Node) -> object:
    """Return the identity of a node across versions: result and message for an end, the id for other nodes."""
    return (node.task.result, node.task.message) if isinstance(node.task, End) and node.is_end else node.id


# --- What is between and around the steps -----------------------------------------------------------------------------


def _frames(old: Picture, new: Picture, ids: Mapping[str, str]) -> dict[str, str]:
    """Match frames by the first step that both versions have."""
    olds, news = ({frame.id: frame for frame in drawn.frames} for drawn in (old, new))
    homes = {box.node.id: box.frame for box in new.boxes}
    found: dict[str, str] = {}
    for box in old.boxes:
        before = olds.get(box.frame)
        after = news.get(homes[ids[box.node.id]]) if box.node.id in ids else None
        while before and after and before.id not in found:
            is_same = _kind(before) == _kind(after)
            if is_same:
                found[before.id] = after.id
            elif before.group and after.group:
                break
            # If they differ, one is the frame of a loop that was added or removed around the same steps.
            before, after = (
                olds.get(before.parent) if is_same or not before.group else before,
                news.get(after.parent) if is_same or not after.group else after,
            )
    return found


def _kind(frame: Frame) -> str:
    return frame.group.kind if frame.group else "loop"


def _between(old: Picture, new: Picture, found: Matching) -> dict[str, str]:
    """Match the decisions of steps, and the ends of nested runbooks."""
    free = {box.node.id for box in new.boxes if box.node.is_passed}
    pairs = {}
    for box in old.boxes:
        name = found.renamed(box.node.id)
        if box.node.is_passed and name in free:
            pairs[box.node.id] = name
            free.remove(name)
    return pairs


def _ends(old: Picture, new: Picture, found: Matching) -> dict[str, str]:
    """Match ends with the same message, preferably at the same place."""
    olds, news = ([box.node for box in drawn.boxes if said(box.node) != box.node.id] for drawn in (old, new))
    present = {said(node): node.id for node in reversed(news)}
    at = {node.id: said(node) for node in news}
    pairs = {}
    for node in olds:
        if said(node) in present:
            name = found.renamed(node.id)
            pairs[node.id] = name if at.get(name) == said(node) else present[said(node)]
    return pairs
