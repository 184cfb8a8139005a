"""The real parser of Mermaid, in one process for all tests and workers: it starts in 2 s, as its lock file says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

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


@contextmanager
def running() -> Iterator[Mermaid]:
    """The parser in its process, one for all workers; the test is skipped where there is no node."""
    try:
        with sharing(HERE) as server:
            yield Mermaid(server)
    except MissingError as missing:
        pytest.skip(str(missing))
