"""Which step of one version of a program is which of another.

Inserting a step renumbers those after it, so steps are matched by what they are before they are matched by their ids.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from compiler.analyses.changes import own_task
from compiler.ir.program import Node

MOST_ALIKE = 100
"""Steps of one content that are all compared with each other, which takes time in the square of their number.

Of more the first is compared with the first, the second with the second, and so on.
"""


def match_nodes(old: Sequence[Node], new: Sequence[Node]) -> tuple[tuple[Node, Node], ...]:
    """The pairs of an old and a new step that are the same one, in the order of the new version."""
    found: dict[str, Node] = {}
    for candidates in (_same_in_order, _same_title, _same_id):
        taken = {node.id for node in found.values()}
        rest_old = [node for node in old if node.id not in taken]
        rest_new = [node for node in new if node.id not in found]
        found |= {after.id: before for before, after in candidates(rest_old, rest_new)}
    return tuple((found[node.id], node) for node in new if node.id in found)


def _same_in_order(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Steps that have not changed at all, or only have another number."""
    frequent = {content for nodes in (old, new) for content, many in _counted(nodes).items() if many > MOST_ALIKE}
    link = _longest_common(*(_told_apart(nodes, frequent) for nodes in (old, new)))
    while link:
        yield old[link.old], new[link.new]
        link = link.before


class _Link(Struct, frozen=True):
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
    """Steps that do something else under the same title, where only one has it in each version."""
    before, after = (Counter(node.title for node in nodes) for nodes in (old, new))
    known = {node.title: node for node in old}
    for node in new:
        if node.title and after[node.title] == before[node.title] == 1:
            yield known[node.title], node


def _same_id(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Steps at the same place of which something is still as it was, and named ones."""
    known = {node.id: node for node in old}
    for node in new:
        before = known.get(node.id)
        is_named = not node.id.rpartition(".")[2].isdigit()
        if before and (own_task(before) == own_task(node) or before.title == node.title or is_named):
            yield before, node


def _counted(nodes: Iterable[Node]) -> Counter[object]:
    return Counter(_content(node) for node in nodes)


def _content(node: Node) -> object:
    return (node.title, own_task(node))
