"""Splits ends with many arrows into several, one for each step that leads to them.

Nearly every step of a long document can lead to STOP. A single box would attract arrows from the whole page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from math import inf

from msgspec.structs import replace

from backends.picture.arrows import Arrow, Mark
from backends.picture.naming import free
from backends.picture.picture import UNREACHABLE, Box, Picture

MOST_SHARED = 4
"""The most arrows to an end with a message. An end without a message is not worth a long arrow."""


def spread_ends(drawn: Picture) -> Picture:
    """Return the picture without ends that too many arrows lead to."""
    arriving = Counter(arrow.target for arrow in drawn.arrows)
    ends = [box for box in drawn.boxes if box.node.task.kind == "end"]
    crowded = {box.node.id: box for box in ends if arriving[box.node.id] > _most_shared(box)}
    crowded.pop(drawn.entry, None)
    sources = {box.node.id: box for box in drawn.boxes}
    copies: dict[str, dict[str, Box]] = {}
    arrows: list[Arrow] = []
    for arrow in drawn.arrows:
        if end := crowded.get(arrow.target):
            copy = _copy(end, sources[arrow.source], arrow.mark, sources)
            own = copies.setdefault(arrow.source, {})
            is_other = copy.node.id in own and own[copy.node.id].mark != copy.mark
            own[copy.node.id] = replace(copy, mark="") if is_other else copy
            arrows.append(replace(arrow, target=copy.node.id))
        else:
            arrows.append(arrow)
    boxes: list[Box] = []
    for box in drawn.boxes:
        if box.node.id not in crowded:
            boxes.append(box)
        if box.node.id in copies:
            boxes += copies[box.node.id].values()
    return replace(drawn, boxes=tuple(boxes), arrows=tuple(arrows))


def _most_shared(box: Box) -> float:
    task = box.node.task
    if task.kind != "end" or box.node.edges:
        return inf
    return MOST_SHARED if task.message else 1


def _copy(end: Box, source: Box, mark: Mark, taken: Container[str]) -> Box:
    """Return the copy of an end for one step. It is reachable only if the step is."""
    node = replace(end.node, id=free(f"{source.node.id} → {end.node.id}", taken))
    lost = (UNREACHABLE,) if end.is_reached and not source.is_reached else ()
    return replace(end, node=node, lines=end.lines + lost, is_reached=source.is_reached, mark=end.mark or mark)
