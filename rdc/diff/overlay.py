"""Two versions of a program in one picture: the new one with removed items, and marks on changes."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from backends.picture.arrows import Arrow, Mark
from backends.picture.captions import wrapped
from backends.picture.model import Box, Frame, Picture
from backends.picture.naming import free
from compiler.ir.program import Group, Node
from rdc.diff.difference import Difference, said

SIGNS: Mapping[Mark, str] = {"added": "+", "removed": "−", "changed": "~"}

LEGEND = " · ".join(f"{sign} {mark}" for mark, sign in SIGNS.items())
"""The meaning of the signs."""


def overlay(old: Picture, new: Picture, found: Difference) -> Picture:
    """Return the new picture with the removed boxes and arrows of the old one, and marks on changes."""
    names = _names(old, new, found)
    boxes = [_marked(box, note) for box, note in zip(new.boxes, _notes(new, found), strict=True)]
    arrows = (*_new_arrows(new, found), *_old_arrows(old, found, names))
    frames = tuple(_marked_frames(new, found))
    return replace(new, boxes=tuple(_with_removed(old, boxes, found, names)), frames=frames, arrows=arrows)


def _names(old: Picture, new: Picture, found: Difference) -> dict[str, str]:
    """Return the names of the old boxes in the combined picture. An old id may belong to another step now."""
    taken = {box.node.id for box in (*old.boxes, *new.boxes)}
    names = dict(found.matched)
    for box in old.boxes:
        if box.node.id not in names:
            names[box.node.id] = free(f"old {box.node.id}", taken)
            taken.add(names[box.node.id])
    return names


def _marked_frames(new: Picture, found: Difference) -> Iterator[Frame]:
    """Yield the new frames. A changed one has a note after its title."""
    parts = {change.new.id: ", ".join(change.parts) for change in found.changed if isinstance(change.new, Group)}
    for frame in new.frames:
        if frame.id in parts:
            yield replace(frame, title=f"{frame.title} · {SIGNS['changed']} changed: {parts[frame.id]}", mark="changed")
        else:
            yield frame


# --- Boxes ------------------------------------------------------------------------------------------------------------


def _notes(new: Picture, found: Difference) -> Iterator[tuple[Mark, str]]:
    parts = {change.new.id: ", ".join(change.parts) for change in found.changed if isinstance(change.new, Node)}
    nodes = {box.node.id: box.node for box in new.boxes}
    matched = {said(nodes[name]) for name in found.matched.values()}
    for box in new.boxes:
        if said(box.node) not in matched:
            yield "added", ""
        elif box.node.id in parts:
            yield "changed", parts[box.node.id]
        elif found.start and box.node.id == new.entry:
            yield "changed", "a run starts here"
        else:
            yield "", ""


def _marked(box: Box, note: tuple[Mark, str]) -> Box:
    mark, what = note
    if not mark:
        return box
    line = f"{SIGNS[mark]} {mark}: {what}" if what else f"{SIGNS[mark]} {mark}"
    return replace(box, lines=box.lines + wrapped(line), mark=mark)


def _with_removed(old: Picture, boxes: list[Box], found: Difference, names: Mapping[str, str]) -> Iterator[Box]:
    parents = {frame.id: frame.parent for frame in old.frames}
    behind: dict[str, list[Box]] = {}
    before = ""
    for box in old.boxes:
        if box.node.id not in found.matched:
            frame = box.frame
            while frame and frame not in found.frames:
                frame = parents[frame]
            gone = replace(box, node=replace(box.node, id=names[box.node.id]), frame=found.frames.get(frame, ""))
            behind.setdefault(before, []).append(_marked(gone, ("removed", "")))
        elif said(box.node) == box.node.id:  # ends may be anywhere
            before = found.matched[box.node.id]
    yield from behind.get("", ())
    for box in boxes:
        yield box
        yield from behind.get(box.node.id, ())


# --- Arrows -----------------------------------------------------------------------------------------------------------


def _new_arrows(new: Picture, found: Difference) -> Iterator[Arrow]:
    """Yield the arrows of the new version. Arrows of added boxes are added."""
    matched = set(found.matched.values())
    come = {move.after for move in found.redirected}
    for arrow in new.arrows:
        is_new = arrow.source not in matched or arrow in come
        yield replace(arrow, said=(f"{SIGNS['added']} ", *arrow.said), mark="added") if is_new else arrow


def _old_arrows(old: Picture, found: Difference, names: Mapping[str, str]) -> Iterator[Arrow]:
    gone = {move.before for move in found.redirected}
    for arrow in old.arrows:
        if arrow.source not in found.matched or arrow in gone:
            label = (f"{SIGNS['removed']} ", *arrow.said)
            source, target = names[arrow.source], names[arrow.target]
            yield replace(arrow, source=source, target=target, said=label, mark="removed", passes=False)
