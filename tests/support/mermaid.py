"""The real parser of Mermaid, in one process for all tests and workers: it starts in 2 s by its lock file."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from backends.mermaid.chart import NOTES
from backends.picture.model import Picture
from backends.registry import load
from compiler.ir.program import Program
from tests.support.node import MissingError, Server, sharing

HERE = Path(__file__).parents[1] / "backends" / "mermaid"


class SeenBox(NamedTuple):
    """A box as Mermaid sees it."""

    id: str
    label: str
    shape: str
    classes: list[str]
    link: str


class SeenArrow(NamedTuple):
    """An arrow as Mermaid sees it."""

    source: str
    target: str
    label: str
    stroke: str
    style: list[str]


class SeenFrame(NamedTuple):
    """A frame as Mermaid sees it, with what stands directly in it."""

    id: str
    label: str
    members: list[str]


class Seen(NamedTuple):
    """What Mermaid sees in a diagram."""

    boxes: list[SeenBox]
    arrows: list[SeenArrow]
    frames: list[SeenFrame]


class Mermaid:
    """The parser, ready for diagrams."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def answer(self, text: str) -> dict[str, Any]:
        """What the parser says of a diagram: what it sees, or `error`."""
        return self._server.ask(text)

    def read(self, text: str) -> Seen:
        """What the parser sees in a diagram that it must not refuse."""
        answer = self.answer(text)
        assert "error" not in answer, f"{answer['error']}\n{text}"
        return Seen(
            [SeenBox(name, shown(label), *rest) for name, label, *rest in answer["boxes"]],
            [SeenArrow(source, target, shown(label), *rest) for source, target, label, *rest in answer["arrows"]],
            [SeenFrame(name, shown(label), members) for name, label, members in answer["frames"]],
        )


def shown(label: str) -> str:
    """A label as a browser shows it, with its line breaks."""
    return unescape(label.replace("<br>", "\n"))


def emitted(drawn: Program, **options: object) -> str:
    """Return the file of the target for a program."""
    text = load("mermaid").emit(drawn, {name.replace("_", "-"): value for name, value in options.items()}).text
    assert text
    return text


def words(text: str) -> str:
    """A label as people read it: several spaces are one, those without width none, and some signs look alike."""
    return " ".join(text.replace("\u200b", "").replace("`", "'").replace("~", "∼").split())


def assert_same(seen: Seen, drawn: Picture) -> None:
    """What Mermaid sees is the picture: so many boxes, frames and arrows, with these labels, and nothing else."""
    notes = [box.label for box in seen.boxes if box.id == NOTES]
    assert [words(note) for note in notes] == ([words(" ".join(drawn.notes))] if drawn.notes else [])
    start, *boxes = sorted(
        (box for box in seen.boxes if box.id != NOTES),
        key=lambda box: (box.id != "start", int(box.id[1:]) if box.id[1:].isdigit() else 0),
    )
    assert [words(box.label) for box in boxes] == [words(" ".join(box.lines)) for box in drawn.boxes]
    assert start.id == "start"
    names = {box.node.id: found.id for box, found in zip(drawn.boxes, boxes, strict=True)}
    first, *arrows = seen.arrows
    assert (first.source, first.target) == ("start", names[drawn.entry])
    assert [(arrow.source, arrow.target, words(arrow.label)) for arrow in arrows] == [
        (names[arrow.source], names[arrow.target], words(" ".join(arrow.lines))) for arrow in drawn.arrows
    ]
    assert sorted(words(frame.label) for frame in seen.frames) == sorted(words(frame.title) for frame in drawn.frames)


@contextmanager
def running() -> Iterator[Mermaid]:
    """The parser in its process, one for all workers; the test is skipped where there is no node."""
    try:
        with sharing(HERE) as server:
            yield Mermaid(server)
    except MissingError as missing:
        pytest.skip(str(missing))
