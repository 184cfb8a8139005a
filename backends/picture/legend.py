"""The legend of a picture: a frame with one sample of each shape, color and line that the picture uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from backends.picture.arrows import Arrow
from backends.picture.captions import Lines
from backends.picture.looks import KINDS, kind_and_words, look_of
from backends.picture.model import Box, Frame, Picture
from backends.picture.naming import free
from compiler.ir.edges import Origin
from compiler.ir.program import Node
from compiler.ir.tasks import End
from compiler.ir.texts import Text
from compiler.text.source import Span

NOWHERE = Origin("", Span(1, 1, 1, 1))
"""The place of a sample, which is in no document."""

_ENDS = {
    ("complete", True): "this part succeeded",
    ("stop", True): "this part ended early",
    ("complete", False): "the run succeeded",
    ("stop", False): "the run ended early",
}
"""The words for ends: their result, and whether they are those of a nested runbook, whose run continues."""


def with_legend(drawn: Picture) -> Picture:
    """Return the picture with its legend, whose arrows lead from sample to sample."""
    frame = Frame(free("legend", {frame.id for frame in drawn.frames}), "Legend", "", is_loop=False, group=None)
    taken = {box.node.id for box in drawn.boxes}
    steps = [_sample(box, free(f"legend {kind}", taken), (words,), frame) for kind, box, words in _steps(drawn)]
    ends = {
        kind: _sample(box, free(f"legend {_ENDS[kind]}", taken), (kind[0].upper(), _ENDS[kind]), frame)
        for kind, box in _ends(drawn).items()
    }
    names = [sample.node.id for sample in steps]
    arrows = _arrows(drawn, names, {kind: sample.node.id for kind, sample in ends.items()}) if names else ()
    return replace(
        drawn,
        boxes=(*drawn.boxes, *steps, *ends.values()),
        frames=(*drawn.frames, frame),
        arrows=(*drawn.arrows, *arrows),
    )


def _steps(drawn: Picture) -> Iterator[tuple[str, Box, str]]:
    """Yield a box of each kind of step, with the words for all boxes of this kind, in the order of `KINDS`."""
    boxes = [(box, *kind_and_words(box.node.task)) for box in drawn.boxes if not isinstance(box.node.task, End)]
    for kind in dict.fromkeys(kind for kind, _ in KINDS.values()):
        if found := [(box, words) for box, other, words in boxes if other == kind]:
            yield kind, found[0][0], " or ".join(dict.fromkeys(words for _, words in found))


def _ends(drawn: Picture) -> dict[tuple[str, bool], Box]:
    """Return a box of each kind of end."""
    ends = [box for box in drawn.boxes if isinstance(box.node.task, End)]
    found = {(look_of(box.node.task), bool(box.node.edges)): box for box in reversed(ends)}
    return {kind: found[kind] for kind in _ENDS if kind in found}


def _sample(box: Box, name: str, lines: Lines, frame: Frame) -> Box:
    node = Node(name, Text(), NOWHERE, box.node.task, box.node.edges)
    return Box(node, lines, frame.id, is_reached=True)


def _arrows(drawn: Picture, steps: Sequence[str], ends: Mapping[tuple[str, bool], str]) -> Iterator[Arrow]:
    """Yield arrows of each kind in use. An end of a nested runbook is between the steps and the end of the run."""
    is_passed = any(arrow.passes for arrow in drawn.arrows)
    is_back = any(arrow.leads == "back" for arrow in drawn.arrows)
    for place, (source, target) in enumerate(pairwise(steps)):
        passes = is_passed and not place
        yield Arrow(source, target, (_PASSES,) if passes else (), passes=passes)
    if is_passed and len(steps) == 1:
        yield Arrow(steps[0], steps[0], (_PASSES,), "back" if is_back else "onward", passes=True)
    elif is_back:
        yield Arrow(steps[0], steps[0], ("again, or back",), "back")
    for (result, is_part), name in ends.items():
        source = steps[-1] if is_part else ends.get((result, True), steps[-1])
        yield Arrow(source, name, (), "complete" if result == "complete" else "stop")


_PASSES = "passes its answer on"
