"""Source text, and the places in it that diagnostics and generated files refer to."""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar, cast

from msgspec import Struct

from compiler.text.regex import Regex

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Span(Struct, frozen=True, order=True, gc=False):
    """A range of source text: lines and columns count from 1 in characters, and the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def has(self, inner: Span) -> bool:
        """Return whether another range is inside this one."""
        is_behind = (self.line, self.column) <= (inner.line, inner.column)
        return is_behind and (inner.end_line, inner.end_column) <= (self.end_line, self.end_column)

    def part(self, start: int, end: int) -> Span:
        """Return the range of some characters of its first line; they count from 0 at its start."""
        return Span(self.line, self.column + start, self.line, self.column + end)


STANDARD_INPUT = "<stdin>"
"""The path of a document that is not from a file."""

KeyPath = tuple[str, ...]
"""The path to a value in nested ones: key names and item numbers, such as `("setup", "0", "uses")`."""

Spans = Mapping[KeyPath, Span]
"""The known places of a value's keys and items."""

LINE_END = Regex(r"\r\n|\r|\n")

IGNORE = "rdc: ignore"
"""The start of a comment that ignores a diagnostic; a document without it is not searched for such comments."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Where = TypeVar("Where")
Parsed = TypeVar("Parsed")


class Lines:
    """The lines and columns of a text, which count from `first` and from 1."""

    def __init__(self, text: str, first: int = 1) -> None:
        ends = [end.span() for end in LINE_END.finditer(text)]
        self.first = first
        self._text = text
        self._starts = [0, *(after for _, after in ends)]
        self._ends = [*(before for before, _ in ends), len(text)]

    def number(self, index: int) -> int:
        """Return the line number of a character."""
        return bisect_right(self._starts, index) - 1 + self.first

    def text(self, number: int) -> str:
        """Return the text of a line."""
        return self._text[self._starts[number - self.first] : self._ends[number - self.first]]

    def range(self, start: int, end: int) -> Span:
        """Return the range from one character to another, also over several lines."""
        first, last = bisect_right(self._starts, start) - 1, bisect_right(self._starts, end) - 1
        column, behind = start - self._starts[first] + 1, end - self._starts[last] + 1
        return Span(first + self.first, column, last + self.first, behind)

    def span(self, start: int, *ends: int) -> Span:
        """Return the range to the first of these ends that is on the line of its start, or to the end of the line."""
        behind = bisect_right(self._starts, start)
        line, begin, last = behind - 1 + self.first, self._starts[behind - 1], self._ends[behind - 1]
        for end in ends:
            if start < end <= last:
                return Span(line, start - begin + 1, line, end - begin + 1)
        return Span(line, start - begin + 1, line, max(last, start) - begin + 1)


class Repeated(Struct, frozen=True):
    """A duplicate key of a mapping: its path, its place, and the place of the first one."""

    path: KeyPath
    span: Span
    first: Span


def may_repeat(text: str) -> bool:
    """Return whether a YAML text may have aliases."""
    return "*" in text and "&" in text


def below(spans: Spans, *outer: str) -> dict[KeyPath, Span]:
    """Return the spans of a key and of everything under it, by the path from that key."""
    return {path[len(outer) :]: span for path, span in spans.items() if path[: len(outer)] == outer}


def nearest(places: Mapping[KeyPath, Where], path: KeyPath) -> Where | None:
    """Return the place of a value, or of the nearest value around it with a known place, or None."""
    if path in places:
        return places[path]
    around = (path[:length] for length in range(len(path) - 1, -1, -1))
    return next((places[outer] for outer in around if outer in places), None)


def line_end_of(text: str) -> str:
    """Return the first line ending of a text, or a line feed if it has none."""
    found = LINE_END.search(text)
    return found[0] if found else "\n"


def without_ending(name: str, endings: Iterable[str]) -> str:
    """Return a document's name without its extension, one of these or the part after the last dot."""
    for ending in endings:
        if name.endswith(ending):
            return name[: -len(ending)]
    return os.path.splitext(name)[0]


def sha256_of(content: str | bytes) -> str:
    """Return the SHA-256 of text or bytes in hexadecimal digits.

    `hashlib` loads OpenSSL, which takes a third of Python's start-up time. Like `random` in Python's own library, this
    tries the small module first.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    try:
        module = import_module("_sha2" if sys.version_info >= (3, 12) else "_sha256")
    except ImportError:
        module = import_module("hashlib")
    return str(module.sha256(data).hexdigest())


class Source(Struct, frozen=True, dict=True):
    """One document as it was read.

    `path` is the user's path, for diagnostics. `name` is the path from the project root with `/`, so that generated
    output doesn't depend on the working directory. `sha256` is the hash of the bytes on disk. `has_mark` is true if
    they start with a byte-order mark, which is not part of `text`.
    """

    path: str
    name: str
    text: str
    sha256: str
    has_mark: bool = False

    @classmethod
    def from_text(cls, path: str, text: str) -> Source:
        """Return a source for text that is not from a file."""
        return cls(path, path, text, sha256_of(text))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without line endings, as in CommonMark: CR, LF and CRLF end a line, form feeds don't."""
        return tuple(self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))

    def share(self, thread: Executor) -> None:
        """Parse once for all readers, until `release`. A copy of the source is not shared.

        One thread parses, because each thread holds some memory of the large strings that it had.
        """
        self.__dict__["shared"] = thread, {}

    def release(self) -> None:
        """Forget the results, and share no more of them."""
        self.__dict__.pop("shared", None)

    def once(self, key: Hashable, parse: Callable[[], Parsed]) -> Parsed:
        """Return the result of parsing this text, or the shared one of the same key. `parse` doesn't call this."""
        shared = self.__dict__.get("shared")
        if shared is None:
            return parse()
        thread, parsed = shared
        if key not in parsed:
            parsed[key] = thread.submit(parse)
        return cast("Parsed", parsed[key].result())

    @property
    def data(self) -> bytes:
        """The bytes that it was read from."""
        return self.encode(self.text)

    def encode(self, text: str) -> bytes:
        """Return text as bytes, with a byte-order mark if this source has one."""
        return (BYTE_ORDER_MARK if self.has_mark else b"") + text.encode()

    @property
    def line_end(self) -> str:
        """The first line ending of the text, also for new lines."""
        return line_end_of(self.text)

    def whole_line(self, line: int) -> Span:
        """Return the span of a line with its line ending; for the last line, with the line ending before it."""
        if line < len(self.lines):
            return Span(line, 1, line + 1, 1)
        if line > 1:
            return Span(line - 1, len(self.lines[line - 2]) + 1, line, len(self.lines[line - 1]) + 1)
        return Span(1, 1, 1, len(self.lines[0]) + 1)

    def line_span(self, line: int, end_line: int | None = None) -> Span:
        """Return the span of whole lines from the first character that is not a space; `end_line` is inclusive."""
        last = end_line or line
        text = self.lines[line - 1]
        start = len(text) - len(text.lstrip()) + 1 if text.strip() else 1
        return Span(line, start, last, len(self.lines[last - 1].rstrip()) + 1)
