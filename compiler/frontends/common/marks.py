"""Marks: the places where a document names its steps, inputs, outputs and other parts, for editors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from msgspec import Struct

from compiler.text.source import Span


class Role(StrEnum):
    """Whether a mark declares a name or uses it."""

    DEFINITION = "definition"
    REFERENCE = "reference"


class Kind(StrEnum):
    """The kind of part that a mark names.

    A `PLACEHOLDER` has the name of neither an input nor an output. A `DOCUMENT` is a file that the document includes,
    and its name is the path as written. A `KEY` is a key of frontmatter or of a YAML or JSON document.
    """

    STEP = "step"
    INPUT = "input"
    OUTPUT = "output"
    PLACEHOLDER = "placeholder"
    AGENT = "agent"
    DOCUMENT = "document"
    SECRET = "secret"  # noqa: S105 (not a password)
    LABEL = "label"
    KEY = "key"


class Mark(Struct, frozen=True):
    """A name in the text of a document.

    Attributes:
        role: Whether it declares the name.
        kind: The kind of part that has the name.
        name: The name as written, which is the text of the span.
        span: The place of the name, without quotes. The spans of two marks never overlap.
        id: The same for all marks of one part: a step's id in the program, such as `1.2`, or the path of a key, such as
            `rdc.inputs`. Usually it is the name.
        title: The text that an outline shows, only of definitions.
        extent: The whole part that a definition declares, for an outline and for folding.
        fixed: Why the name can't be changed, or "".
    """

    role: Role
    kind: Kind
    name: str
    span: Span
    id: str
    title: str = ""
    extent: Span | None = None
    fixed: str = ""


Marks = tuple[Mark, ...]

Ids = Callable[[str], Iterable[tuple[int, int, str]]]
"""Finds the steps in a reference such as `1.2/lint.runbook.md/3`: start and end of each name, and its id."""


class Item(Struct, frozen=True):
    """An entry of an outline: a definition and the definitions inside it."""

    mark: Mark
    inside: list[Item]


def outline(marks: Marks) -> list[Item]:
    """Return the definitions, each with those inside it, in the order of the document."""
    top: list[Item] = []
    around: list[tuple[Span, list[Item]]] = []
    parts = [(mark.extent, Item(mark, [])) for mark in marks if mark.extent]
    for span, item in sorted(parts, key=lambda part: part[0]):
        while around and not around[-1][0].has(span):
            around.pop()
        (around[-1][1] if around else top).append(item)
        around.append((span, item.inside))
    return top


def folds(marks: Marks) -> tuple[tuple[int, int], ...]:
    """Return the first and last line of each part with several lines, without duplicates."""
    spans = (mark.extent for mark in marks if mark.extent)
    return tuple(dict.fromkeys((span.line, span.end_line) for span in spans if span.line < span.end_line))


def mark_at(marks: Marks, line: int, column: int) -> Mark | None:
    """Return the mark at a position, which may be just behind the name, or None."""
    return next((mark for mark in marks if mark.span.has(Span(line, column, line, column))), None)


def of_same_part(marks: Marks, one: Mark) -> Marks:
    """Return all marks of the part that a mark names, with the mark itself; definitions first."""
    found = (mark for mark in marks if (mark.kind, mark.id) == (one.kind, one.id))
    return tuple(sorted(found, key=lambda mark: mark.role))


def names(marks: Iterable[Mark], *kinds: Kind) -> dict[str, Mark]:
    """Return the first definition of each part of these kinds, by id."""
    found: dict[str, Mark] = {}
    for mark in marks:
        if mark.role is Role.DEFINITION and mark.kind in kinds:
            found.setdefault(mark.id, mark)
    return found
