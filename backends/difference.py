"""What changed between two versions of a program, as flows: units, transitions, and the ends that can be reached.

Inserting a step renumbers those after it, so units are matched by what they are before they are matched by their ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher

from backends.arrows import Arrow
from backends.picture import Picture
from compiler.ir.program import Branch, End, Node


@dataclass(frozen=True, slots=True)
class Change:
    """A unit that is in both versions: its ids, and what of it is another (`title`, `command`, `prompt` …)."""

    old: Node
    new: Node
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Redirection:
    """A transition of a unit that leads elsewhere or says something else; None where it is new or gone."""

    unit: Node
    before: Arrow | None
    after: Arrow | None


@dataclass(frozen=True)
class Difference:
    """All that changed, in document order. `matched` has for each old box that is still there the new one."""

    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    changed: tuple[Change, ...]
    renumbered: tuple[Change, ...]
    redirected: tuple[Redirection, ...]
    opened: tuple[End, ...]
    closed: tuple[End, ...]
    matched: Mapping[str, str]

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return any(getattr(self, item.name) for item in fields(self) if item.name != "matched")


def difference(old: Picture, new: Picture) -> Difference:
    """Compares two versions of a program by their pictures."""
    matched = _matched(_units(old), _units(new))
    pairs = [Change(before, after, tuple(_parts(before, after))) for before, after in matched]
    ids = {pair.old.id: pair.new.id for pair in pairs}
    ids |= _between(old, new, ids) | _ends(old, new)
    kept = {pair.new.id for pair in pairs}
    before, after = _reached_ends(old), _reached_ends(new)
    return Difference(
        added=tuple(node for node in _units(new) if node.id not in kept),
        removed=tuple(node for node in _units(old) if node.id not in ids),
        changed=tuple(pair for pair in pairs if pair.parts),
        renumbered=tuple(pair for pair in pairs if pair.old.id != pair.new.id),
        redirected=tuple(_redirected(old, new, ids)),
        opened=tuple(end for key, end in after.items() if key not in before),
        closed=tuple(end for key, end in before.items() if key not in after),
        matched=ids,
    )


# --- Which unit is which ----------------------------------------------------------------------------------------------


def _units(drawn: Picture) -> list[Node]:
    return [box.node for box in drawn.boxes if not isinstance(box.node.task, Branch | End)]


def _matched(old: Sequence[Node], new: Sequence[Node]) -> list[tuple[Node, Node]]:
    """The units that are in both, in the order of the new version."""
    found: dict[str, Node] = {}
    for candidates in (_same_in_place, _same_in_order, _same_title, _same_id):
        taken = {node.id for node in found.values()}
        rest_old = [node for node in old if node.id not in taken]
        rest_new = [node for node in new if node.id not in found]
        found |= {after.id: before for before, after in candidates(rest_old, rest_new)}
    return [(found[node.id], node) for node in new if node.id in found]


def _same_in_place(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Units that have not changed at all."""
    known = {node.id: node for node in old}
    return ((known[node.id], node) for node in new if node.id in known and _is_same(known[node.id], node))


def _same_in_order(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Units that only have another number."""
    matcher = SequenceMatcher(a=[_content(node) for node in old], b=[_content(node) for node in new], autojunk=False)
    for block in matcher.get_matching_blocks():
        yield from zip(old[block.a : block.a + block.size], new[block.b : block.b + block.size], strict=True)


def _same_title(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Units that do something else under the same title, where only one has it in each version."""
    before, after = _by_title(old), _by_title(new)
    for title, nodes in after.items():
        if title and len(nodes) == len(before.get(title, ())) == 1:
            yield before[title][0], nodes[0]


def _same_id(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Units at the same place of which something is still as it was, and named ones."""
    known = {node.id: node for node in old}
    for node in new:
        before = known.get(node.id)
        is_named = not node.id.rpartition(".")[2].isdigit()
        if before and (before.task == node.task or before.title == node.title or is_named):
            yield before, node


def _by_title(nodes: Iterable[Node]) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for node in nodes:
        found.setdefault(node.title, []).append(node)
    return found


def _content(node: Node) -> object:
    return (node.title, node.task)


def _is_same(old: Node, new: Node) -> bool:
    return _content(old) == _content(new)


def _between(old: Picture, new: Picture, ids: Mapping[str, str]) -> dict[str, str]:
    """The decisions of steps, and the ends of nested runbooks, that are in both.

    A step or runbook is the one that the first of its units that is in both belongs to.
    """
    homes = {box.node.id: box.node.group for box in new.boxes}
    groups: dict[str, str] = {}
    for box in old.boxes:
        if box.node.id in ids and box.node.group:
            groups.setdefault(box.node.group, homes[ids[box.node.id]])
    present = {box.node.id for box in new.boxes if _is_between(box.node)}
    names = {box.node.id: _renumbered(box.node.id, groups | dict(ids)) for box in old.boxes if _is_between(box.node)}
    return {before: after for before, after in names.items() if after in present}


def _renumbered(name: str, ids: Mapping[str, str]) -> str:
    """A name with the longest part of it that has a new name replaced by that."""
    begin, rest = name, ""
    while begin not in ids:
        begin, slash, last = begin.rpartition("/")
        rest = f"{slash}{last}{rest}"
        if not slash:
            return name
    return ids[begin] + rest


def _is_between(node: Node) -> bool:
    """Whether a run passes through a node without doing anything."""
    return isinstance(node.task, Branch) or _is_nested_end(node)


def _is_nested_end(node: Node) -> bool:
    return isinstance(node.task, End) and bool(node.edges)


# --- Ends and transitions ---------------------------------------------------------------------------------------------


def _ends(old: Picture, new: Picture) -> dict[str, str]:
    """Ends that say the same; several of them are one."""
    present = {_said(node): node.id for node in reversed(_final(new))}
    return {node.id: present[_said(node)] for node in _final(old) if _said(node) in present}


def _final(drawn: Picture) -> list[Node]:
    return [box.node for box in drawn.boxes if isinstance(box.node.task, End) and not box.node.edges]


def _said(node: Node) -> object:
    """What makes an end one that another version has too; for all other nodes the id does."""
    return (node.task.result, node.task.message) if isinstance(node.task, End) and not node.edges else node.id


def _reached_ends(drawn: Picture) -> dict[object, End]:
    reached = (box.node for box in drawn.boxes if box.is_reached and not box.node.edges)
    return {_said(node): node.task for node in reached if isinstance(node.task, End)}


def _parts(old: Node, new: Node) -> Iterator[str]:
    """The names of what is another in a unit."""
    if old.title != new.title:
        yield "title"
    if type(old.task) is not type(new.task):
        yield "kind"
        return
    for item in fields(old.task):
        if getattr(old.task, item.name) != getattr(new.task, item.name):
            yield item.name


def _redirected(old: Picture, new: Picture, ids: Mapping[str, str]) -> Iterator[Redirection]:
    """Where transitions of what is in both lead now; those of one outcome are set side by side."""
    before, after = _leaving(old), _leaving(new)
    same = {box.node.id: _said(box.node) for box in new.boxes}
    origin = {new_id: old_id for old_id, new_id in ids.items()}
    for box in new.boxes:
        if box.node.id not in origin:
            continue
        gone = list(before.get(origin[box.node.id], ()))
        come = []
        for arrow in after.get(box.node.id, ()):
            twin = next((other for other in gone if _goes_the_same_way(other, arrow, ids, same)), None)
            if twin:
                gone.remove(twin)
            else:
                come.append(arrow)
        yield from _paired(box.node, gone, come)


def _goes_the_same_way(old: Arrow, new: Arrow, ids: Mapping[str, str], same: Mapping[str, object]) -> bool:
    target = ids.get(old.target)
    if target is None or same[target] != same[new.target] or old.verdict != new.verdict:
        return False
    return _renamed(" ".join(old.lines), ids) == " ".join(new.lines)


def _renamed(label: str, ids: Mapping[str, str]) -> str:
    """A label with the ids in it as they are now."""
    return re.sub(r"(?<!RETRY )[\w{}.]+(?<!\.)", lambda found: ids.get(found[0], found[0]), label)


def _paired(unit: Node, gone: list[Arrow], come: list[Arrow]) -> Iterator[Redirection]:
    for arrow in come:
        twin = next((other for other in gone if other.verdict == arrow.verdict), None)
        if twin:
            gone.remove(twin)
        yield Redirection(unit, twin, arrow)
    for arrow in gone:
        yield Redirection(unit, arrow, None)


def _leaving(drawn: Picture) -> dict[str, list[Arrow]]:
    found: dict[str, list[Arrow]] = {}
    for arrow in drawn.arrows:
        found.setdefault(arrow.source, []).append(arrow)
    return found
