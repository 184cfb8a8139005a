"""The changes between two versions of a program, as flows: steps, transitions, and reachable ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import fields

from backends.picture.arrows import Arrow
from backends.picture.captions import Lines
from backends.picture.model import Box, Frame, Picture, outline
from backends.picture.naming import Called, Term
from compiler.ir.program import Group, Node
from compiler.ir.tasks import Branch, End
from rdc.diff.steps import Change, group_parts, match_nodes, node_parts, told


class Redirection(Struct, frozen=True):
    """A transition with another destination or label; None if it is new or gone."""

    node: Node
    before: Arrow | None
    after: Arrow | None


class Difference(Struct, frozen=True):
    """All changes, in document order.

    `start` has the ids of the boxes where a run started and starts, if they differ. `notes` are the old and new notes
    on the whole program. `matched` maps each old box that still exists to the new one, and `frames` does the same for
    frames.
    """

    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    changed: tuple[Change, ...]
    renumbered: tuple[Change, ...]
    start: tuple[str, str] | None
    notes: tuple[Lines, Lines]
    redirected: tuple[Redirection, ...]
    opened: tuple[End, ...]
    closed: tuple[End, ...]
    matched: Mapping[str, str]
    frames: Mapping[str, str]

    def __bool__(self) -> bool:
        """Return whether anything changed."""
        others = (getattr(self, item.name) for item in fields(self) if item.name not in {"matched", "frames", "notes"})
        return any(others) or any(self.notes)


def difference(old: Picture, new: Picture) -> Difference:
    """Compare two versions of a program by their pictures."""
    matching = match(old, new)
    pairs = list(_pairs(old, new, matching))
    matched = {pair.new.id for pair in pairs}
    nodes = {pair.new.id: pair for pair in pairs if pair.parts}
    before, after = _reached_ends(old), _reached_ends(new)
    same, kept_start = {box.node.id: said(box.node) for box in new.boxes}, matching.boxes.get(old.entry)
    gone, come = (*old.notes, *old.values), (*new.notes, *new.values)
    return Difference(
        added=tuple(node for node in nodes_of(new) if node.id not in matched),
        removed=tuple(node for node in nodes_of(old) if node.id not in matching.boxes),
        changed=(*_in_order(new, nodes, _changed_groups(old, new, matching)), *_changed_messages(old, new, matching)),
        renumbered=tuple(pair for pair in pairs if pair.old.id != pair.new.id),
        start=None if kept_start and same[kept_start] == same[new.entry] else (old.entry, new.entry),
        notes=(tuple(line for line in gone if line not in come), tuple(line for line in come if line not in gone)),
        redirected=tuple(_redirected(old, new, matching)),
        opened=tuple(end for key, end in after.items() if key not in before),
        closed=tuple(end for key, end in before.items() if key not in after),
        matched=matching.boxes,
        frames=matching.frames,
    )


def _pairs(old: Picture, new: Picture, matching: Matching) -> Iterator[Change]:
    """Yield the steps that are in both versions."""
    before, after = ({box.node.id: box for box in drawn.boxes} for drawn in (old, new))
    for node, twin in matching.steps:
        first, second = before[node.id], after[twin.id]
        texts = ("texts",) if first.texts != second.texts else ()
        specified = ("specification",) if first.more != second.more else ()
        yield Change(node, twin, (*node_parts(node, twin), *texts, *specified))


# --- Groups -----------------------------------------------------------------------------------------------------------


def _changed_groups(old: Picture, new: Picture, matching: Matching) -> dict[str, Change]:
    """Return the steps with substeps and the nested runbooks with another name or description, by their new ids."""
    # Moved steps can make a frame the successor of several frames. The one with the same description wins.
    olds, news = _groups(old), _groups(new)
    before: dict[str, list[Group]] = {}
    for name, group in olds.items():
        if (after := matching.frames.get(name, "")) in news:
            before.setdefault(after, []).append(group)
    alone = {told(group) for name, group in news.items() if name not in before}
    found = {}
    for name, candidates in before.items():
        first, group = candidates[0], news[name]
        parts = tuple(group_parts(first, group))
        if parts and told(group) not in map(told, candidates) and told(first) not in alone:
            found[name] = Change(first, group, parts)
    return found


def _groups(drawn: Picture) -> dict[str, Group]:
    return {frame.id: frame.group for frame in drawn.frames if frame.group}


def _in_order(new: Picture, nodes: Mapping[str, Change], groups: Mapping[str, Change]) -> Iterator[Change]:
    for _, item in outline(new):
        if isinstance(item, Frame) and item.id in groups:
            yield groups[item.id]
        elif isinstance(item, Box) and item.node.id in nodes:
            yield nodes[item.node.id]


# --- Ends and transitions ---------------------------------------------------------------------------------------------


def _changed_messages(old: Picture, new: Picture, matching: Matching) -> Iterator[Change]:
    """Yield ends of nested runbooks with another message. The run's own ends count as different."""
    nodes = {box.node.id: box.node for box in new.boxes}
    for box in old.boxes:
        if isinstance(box.node.task, End) and box.node.id in matching.boxes:
            after = nodes[matching.boxes[box.node.id]]
            if parts := tuple(node_parts(box.node, after)):
                yield Change(box.node, after, parts)


def _reached_ends(drawn: Picture) -> dict[object, End]:
    reached = (box.node for box in drawn.boxes if box.is_reached and not box.node.edges)
    return {said(node): node.task for node in reached if isinstance(node.task, End)}


def _redirected(old: Picture, new: Picture, matching: Matching) -> Iterator[Redirection]:
    before, after = _leaving(old), _leaving(new)
    same = {box.node.id: said(box.node) for box in new.boxes}
    origin = {new_id: old_id for old_id, new_id in matching.boxes.items()}
    runbooks = _runbooks(new)
    for box in new.boxes:
        if box.node.id not in origin:
            continue
        gone: dict[object, list[Arrow]] = {}
        for arrow in before.get(origin[box.node.id], ()):
            target = matching.boxes.get(arrow.target)
            transition = (target and same[target], _renamed(arrow, matching, runbooks[box.node.group]))
            gone.setdefault(transition, []).append(arrow)
        come = []
        for arrow in after.get(box.node.id, ()):
            twins = gone.get((same[arrow.target], arrow.says))
            if twins:
                twins.pop(0)
            else:
                come.append(arrow)
        yield from _paired(box.node, [arrow for twins in gone.values() for arrow in twins], come, matching)


def _renamed(arrow: Arrow, matching: Matching, runbook: str) -> str:

    def name(part: str | Called | Term) -> str:
        if not isinstance(part, Called):
            return str(part)
        new = matching.renamed(part.full)
        return part.shown if new == part.full else new.removeprefix(f"{runbook}/")

    return "".join(map(name, arrow.said))


def _runbooks(drawn: Picture) -> dict[str, str]:
    """Return the nested runbook of each group; "" for none."""
    groups = _groups(drawn)
    found = {"": ""}
    for name in groups:
        inner, around = [], name
        while around not in found and groups[around].kind != "runbook":
            inner.append(around)
            around = groups[around].parent
        found |= dict.fromkeys([*inner, around], found.get(around, around))
    return found


def _paired(node: Node, gone: list[Arrow], come: list[Arrow], matching: Matching) -> Iterator[Redirection]:
    """Pair transitions with the same label, or with the same destination."""
    for arrow in come:
        at = matching.boxes.get
        twin = next((each for each in gone if each.says == arrow.says or at(each.target) == arrow.target), None)
        if twin:
            gone.remove(twin)
        yield Redirection(node, twin, arrow)
    for arrow in gone:
        yield Redirection(node, arrow, None)


def _leaving(drawn: Picture) -> dict[str, list[Arrow]]:
    found: dict[str, list[Arrow]] = {}
    for arrow in drawn.arrows:
        found.setdefault(arrow.source, []).append(arrow)
    return found


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
