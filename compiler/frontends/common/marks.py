"""Marks: the places where a document names its steps, inputs, outputs and other parts, for editors."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from compiler.text.source import Span


class Role(StrEnum):
    """Whether a mark declares a name or uses it."""

    DEFINITION = "definition"
    REFERENCE = "reference"


class Kind(StrEnum):
    """The kind of part that a mark names.

    A `PLACEHOLDER` has the name of neither an input nor an output. A `DOCUMENT` is a file that the document includes, and
    its name is the path as written. A `KEY` is a key of frontmatter or of a YAML or JSON document.
    """

    STEP = "step"
    INPUT = "input"
    OUTPUT = "output"
    PLACEHOLDER = "placeholder"
    AGENT = "agent"
    DOCUMENT = "document"
    SECRET = "secret"
    LABEL = "label"
    KEY = "key"


class Mark(Struct, frozen=True):
    """A name in the text of a document.

    Attributes:
        role: Whether it declares the name.
        kind: The kind of part that has the name.
        name: The name as written, which is the text of the span.
        span: The place of the name, without quotes. The spans of two marks don't overlap, except of keys.
        id: The same for all marks of one part: a step's id in the program, such as `1.2`, or the path of a key, such as
            `rdc.inputs`. Usually it is the name.
        title: The text that an outline shows, only of definitions.
        extent: The whole part that a definition declares, for an outline and for folding.
    """

    role: Role
    kind: Kind
    name: str
    span: Span
    id: str
    title: str = ""
    extent: Span | None = None


class Item(Struct, frozen=True):
    """An entry of an outline: a definition and the definitions inside it."""

    mark: Mark
    inside: tuple[Item, ...] = ()


def outline(marks: tuple[Mark, ...]) -> tuple[Item, ...]:
    """Return the definitions that have an extent, each with those inside it, in the order of the document."""
    raise NotImplementedError


def folds(marks: tuple[Mark, ...]) -> tuple[tuple[int, int], ...]:
    """Return the first and last line of each part of at least two lines."""
    raise NotImplementedError


def at(marks: tuple[Mark, ...], line: int, column: int) -> Mark | None:
    """Return the mark of the shortest name at a position, which may be just behind the name, or None."""
    raise NotImplementedError


def same_part(marks: tuple[Mark, ...], one: Mark) -> tuple[Mark, ...]:
    """Return all marks of the part that a mark names, with the mark itself; definitions first."""
    raise NotImplementedError
