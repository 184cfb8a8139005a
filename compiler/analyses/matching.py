"""Match the steps of two versions of a program.

Inserting a step renumbers later ones, so steps are matched by content before they are matched by id.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from compiler.analyses.changes import own_task
from compiler.ir.program import Node

MOST_ALIKE = 100
"""The most steps with equal content to compare pairwise, which takes quadratic time.

If there are more, the first is compared with the first, the second with the second, and so on.
"""


def match_nodes(old: Sequence[Node], new: Sequence[Node]) -> tuple[tuple[Node, Node], ...]:
    """Return the pairs of old and new steps that match, in the order of the new version."""
    found: dict[str, Node] = {}
    for candidates in (_same_in_order, _same_title, _same_id):
        taken = {node.id for node in found.values()}
        rest_old = [node for node in old if node.id not in taken]
        rest_new = [node for node in new if node.id not in found]
        found |= {after.id: before for before, after in candidates(rest_old, rest_new)}
    return tuple((found[node.id], node) for node in new if node.id in found)


def _same_in_order(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Match steps that have not changed, or only have another number."""
    frequent = {content for nodes in (old, new) for content, many in _counted(nodes).items() if many > MOST_ALIKE}
    link = _longest_common(*(_told_apart(nodes, frequent) for nodes in (old, new)))
    while link:
        yield old[link.old], new[link.new]
        link = link.before


class _Link(Struct, frozen=True):
    """A pair of positions in a common sequence, and the pair before it."""

    old: int
    new: int
    before: _Link | None


def _longest_common(old: Iterable[object], new: Iterable[object]) -> _Link | None:
    """Return the end of the longest common sequence, after Hunt and Szymanski.

    The time grows with the number of equal pairs, not with all pairs. If the number of equal items changed, the first
    ones are matched.
    """
    places: dict[object, list[int]] = {}
    for position, item in enumerate(new):
        places.setdefault(item, []).append(position)
    nearest: list[int] = []  # for each length, the earliest end in `new` of a sequence of that length
    links: list[_Link] = []
    for position, item in enumerate(old):
        for place in reversed(places.get(item, ())):
            length = bisect_left(nearest, place)
            if nearest[length : length + 1] == [place]:
                continue  # an equally long sequence already ends here, with an earlier item of `old`
            nearest[length : length + 1] = [place]
            links[length : length + 1] = [_Link(position, place, links[length - 1] if length else None)]
    return links[-1] if links else None


def _told_apart(nodes: Iterable[Node], frequent: set[object]) -> Iterator[object]:
    """Yield the contents of nodes, numbering repeated ones that are frequent."""
    seen: Counter[object] = Counter()
    for node in nodes:
        content = _content(node)
        seen[content] += 1
        yield (content, seen[content]) if content in frequent else content


def _same_title(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Match steps with different content whose title is unique in both versions."""
    before, after = (Counter(node.title for node in nodes) for nodes in (old, new))
    known = {node.title: node for node in old}
    for node in new:
        if node.title and after[node.title] == before[node.title] == 1:
            yield known[node.title], node


def _same_id(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Match steps with the same id if they are named or have the same task or title."""
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
