"""Source texts, and the places in them that diagnostics and generated files point at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import TypeVar

from msgspec import Struct

from compiler.regex import Regex


class Span(Struct, frozen=True, order=True, gc=False):
    """A stretch of a source text: lines and columns count from 1 in characters, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


STANDARD_INPUT = "<stdin>"
"""What a document is called that does not come from a file."""

KeyPath = tuple[str, ...]
"""What leads to a value in nested ones: names of keys and numbers of items, such as `("setup", "0", "uses")`."""

Spans = Mapping[KeyPath, Span]
"""Where the keys and items of a value stand, as far as that is known."""

LINE_END = Regex(r"\r\n|\r|\n")

IGNORE = "rdc: ignore"
"""How a comment begins that asks to ignore a finding. A document without these words is not searched for one."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Where = TypeVar("Where")


def below(spans: Spans, *outer: str) -> dict[KeyPath, Span]:
    """The spans of what stands under a key, and of that key itself, by the path from there."""
    return {path[len(outer) :]: span for path, span in spans.items() if path[: len(outer)] == outer}


def nearest(places: Mapping[KeyPath, Where], path: KeyPath) -> Where | None:
    """Where a value stands, else the nearest around it whose place is known; None if there is none."""
    if path in places:
        return places[path]
    around = (path[:length] for length in range(len(path) - 1, -1, -1))
    return next((places[outer] for outer in around if outer in places), None)


def line_end_of(text: str) -> str:
    """The first line end of a text; a line feed if it has none."""
    found = LINE_END.search(text)
    return found[0] if found else "\n"


def beginning(span: Span, text: str) -> Span:
    """The span of a text on one line with which another span begins."""
    return Span(span.line, span.column, span.line, span.column + len(text))


def without_ending(name: str, endings: Iterable[str]) -> str:
    """The name of a document without its ending, which is one of these or begins with the last dot."""
    for ending in endings:
        if name.endswith(ending):
            return name[: -len(ending)]
    return os.path.splitext(name)[0]


def sha256_of(content: str | bytes) -> str:
    """The SHA-256 of a text or of bytes, in hexadecimal digits.

    `hashlib` loads OpenSSL, which takes a third as long as starting Python does. Like `random` in Python's own library,
    this looks for the small module first, which has another name before Python 3.12.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    for name in ("_sha2", "_sha256"):
        try:
            return str(import_module(name).sha256(data).hexdigest())
        except ImportError:
            continue
    return str(import_module("hashlib").sha256(data).hexdigest())


class Source(Struct, frozen=True, dict=True):
    """One document as it was read.

    `path` is what the user called it, for diagnostics; `name` is its path from the project root with `/`, for what is
    generated, so that output does not depend on the working directory; `sha256` is the hash of the bytes on disk, and
    `has_mark` says whether they begin with a byte-order mark, which the text is without.
    """

    path: str
    name: str
    text: str
    sha256: str
    has_mark: bool = False

    @classmethod
    def from_text(cls, path: str, text: str) -> Source:
        """The source of a text that did not come from a file."""
        return cls(path, path, text, sha256_of(text))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their line ends, as CommonMark counts them (CR, LF, CRLF end a line; form feeds do not)."""
        return tuple(self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))

    @cached_property
    def ignoring_lines(self) -> frozenset[int]:
        """The lines of a Markdown document that are comments to ignore a finding: they are no part of its text."""
        if IGNORE not in self.text:
            return frozenset()
        from compiler.comments import comments_in  # noqa: PLC0415 (few documents have one)

        return frozenset(comment.span.line for comment in comments_in(self, is_markdown=True))

    @property
    def data(self) -> bytes:
        """The bytes that it was read from."""
        return self.encode(self.text)

    def encode(self, text: str) -> bytes:
        """A text as bytes, with a byte-order mark if this source has one."""
        return (BYTE_ORDER_MARK if self.has_mark else b"") + text.encode()

    @property
    def line_end(self) -> str:
        """The first line end of the text, which a line that is added gets too."""
        return line_end_of(self.text)

    def whole_line(self, line: int) -> Span:
        """The span of a line with its line end; that of the last line has the line end before it."""
        if line < len(self.lines):
            return Span(line, 1, line + 1, 1)
        if line > 1:
            return Span(line - 1, len(self.lines[line - 2]) + 1, line, len(self.lines[line - 1]) + 1)
        return Span(1, 1, 1, len(self.lines[0]) + 1)

    def line_span(self, line: int, end_line: int | None = None) -> Span:
        """The span of whole lines, from the first character that is not blank; `end_line` is inclusive."""
        last = end_line or line
        text = self.lines[line - 1]
        start = len(text) - len(text.lstrip()) + 1 if text.strip() else 1
        return Span(line, start, last, len(self.lines[last - 1].rstrip()) + 1)
