"""Which box of one version of a program is which of another.

Inserting a step renumbers those after it, so units are matched by what they are before they are matched by their ids.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backends.picture import Frame, Picture
from compiler.ir.program import Node
from compiler.ir.tasks import Branch, End

MOST_ALIKE = 100
"""Units of one content that are all compared with each other, which takes time in the square of their number.

Of more the first is compared with the first, the second with the second, and so on.
"""


@dataclass(frozen=True, slots=True)
class Matching:
    """The units, boxes (by id) and frames (by id) that are in both versions."""

    units: tuple[tuple[Node, Node], ...]
    boxes: Mapping[str, str]
    frames: Mapping[str, str]

    def renamed(self, name: str) -> str:
        """A name of the old version with the longest part of it that has a new name replaced by that."""
        begin, rest = name, ""
        while begin:
            if new := self.boxes.get(begin) or self.frames.get(begin):
                return new + rest
            begin, slash, last = begin.rpartition("/")
            rest = f"{slash}{last}{rest}"
        return name


def match(old: Picture, new: Picture) -> Matching:
    """What is in both versions."""
    units = _units_in_both(units_of(old), units_of(new))
    ids = {before.id: after.id for before, after in units}
    found = Matching(units, ids, _frames(old, new, ids))
    return Matching(units, ids | _between(old, new, found) | _ends(old, new, found), found.frames)


def units_of(drawn: Picture) -> list[Node]:
    """The nodes that do something."""
    return [box.node for box in drawn.boxes if not isinstance(box.node.task, Branch | End)]


def said(node: Node) -> object:
    """What makes an end one that another version has too; for all other nodes the id does."""
    return (node.task.result, node.task.message) if isinstance(node.task, End) and not node.edges else node.id


# --- Units ------------------------------------------------------------------------------------------------------------


def _units_in_both(old: Sequence[Node], new: Sequence[Node]) -> tuple[tuple[Node, Node], ...]:
    """In the order of the new version."""
    found: dict[str, Node] = {}
    for candidates in (_same_in_order, _same_title, _same_id):
        taken = {node.id for node in found.values()}
        rest_old = [node for node in old if node.id not in taken]
        rest_new = [node for node in new if node.id not in found]
        found |= {after.id: before for before, after in candidates(rest_old, rest_new)}
    return tuple((found[node.id], node) for node in new if node.id in found)


def _same_in_order(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Units that have not changed at all, or only have another number."""
    frequent = {content for nodes in (old, new) for content, many in _counted(nodes).items() if many > MOST_ALIKE}
    link = _longest_common(*(_told_apart(nodes, frequent) for nodes in (old, new)))
    while link:
        yield old[link.old], new[link.new]
        link = link.before


class _Link(NamedTuple):
    """A pair of positions in a sequence that is in both versions, and the pair before it."""

    old: int
    new: int
    before: _Link | None


def _longest_common(old: Iterable[object], new: Iterable[object]) -> _Link | None:
    """The end of the longest sequence that is in both, after Hunt and Szymanski.

    The time grows with the number of pairs of equal items, not with that of all pairs. Where equal items came or went,
    the first ones are those that stayed.
    """
    places: dict[object, list[int]] = {}
    for position, item in enumerate(new):
        places.setdefault(item, []).append(position)
    nearest: list[int] = []  # for each length of a sequence found so far: where the first that is so long ends in `new`
    links: list[_Link] = []
    for position, item in enumerate(old):
        for place in reversed(places.get(item, ())):
            length = bisect_left(nearest, place)
            if nearest[length : length + 1] == [place]:
                continue  # as long a sequence ends here already, with an earlier item of `old`
            nearest[length : length + 1] = [place]
            links[length : length + 1] = [_Link(position, place, links[length - 1] if length else None)]
    return links[-1] if links else None


def _told_apart(nodes: Iterable[Node], frequent: set[object]) -> Iterator[object]:
    """The contents of nodes; a frequent one with the number of its occurrence."""
    seen: Counter[object] = Counter()
    for node in nodes:
        content = _content(node)
        seen[content] += 1
        yield (content, seen[content]) if content in frequent else content


def _same_title(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Units that do something else under the same title, where only one has it in each version."""
    before, after = (Counter(node.title for node in nodes) for nodes in (old, new))
    known = {node.title: node for node in old}
    for node in new:
        if node.title and after[node.title] == before[node.title] == 1:
            yield known[node.title], node


def _same_id(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Units at the same place of which something is still as it was, and named ones."""
    known = {node.id: node for node in old}
    for node in new:
        before = known.get(node.id)
        is_named = not node.id.rpartition(".")[2].isdigit()
        if before and (before.task == node.task or before.title == node.title or is_named):
            yield before, node


def _counted(nodes: Iterable[Node]) -> Counter[object]:
    return Counter(_content(node) for node in nodes)


def _content(node: Node) -> object:
    return (node.title, node.task)


# --- What is between and around the units -----------------------------------------------------------------------------


def _frames(old: Picture, new: Picture, ids: Mapping[str, str]) -> dict[str, str]:
    """A frame is the one that the first of its units that is in both stands in."""
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
            # Where they are not the same, one is the frame of a loop that has come or gone around the same units.
            before, after = (
                olds.get(before.parent) if is_same or not before.group else before,
                news.get(after.parent) if is_same or not after.group else after,
            )
    return found


def _kind(frame: Frame) -> str:
    return frame.group.kind if frame.group else "loop"


def _between(old: Picture, new: Picture, found: Matching) -> dict[str, str]:
    """The decisions of steps, and the ends of nested runbooks, that are in both."""
    free = {box.node.id for box in new.boxes if _is_between(box.node)}
    pairs = {}
    for box in old.boxes:
        name = found.renamed(box.node.id)
        if _is_between(box.node) and name in free:
            pairs[box.node.id] = name
            free.remove(name)
    return pairs


def _is_between(node: Node) -> bool:
    """Whether a run passes through a node without doing anything."""
    return isinstance(node.task, Branch) or (isinstance(node.task, End) and bool(node.edges))


def _ends(old: Picture, new: Picture, found: Matching) -> dict[str, str]:
    """Ends that say the same; of several that at the same place is taken, else the first."""
    olds, news = ([box.node for box in drawn.boxes if said(box.node) != box.node.id] for drawn in (old, new))
    present = {said(node): node.id for node in reversed(news)}
    at = {node.id: said(node) for node in news}
    pairs = {}
    for node in olds:
        if said(node) in present:
            name = found.renamed(node.id)
            pairs[node.id] = name if at.get(name) == said(node) else present[said(node)]
    return pairs
