"""Find comments that ignore diagnostics: `<!-- rdc: ignore RD405 -->`, or in YAML `# rdc: ignore RD405`."""

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Any

import pyromark
from msgspec import Struct

from compiler.text.regex import Regex
from compiler.text.source import IGNORE, Source, Span

MARK = "rdc: check this:"
"""The start of a comment that marks a guess of an importer."""

_MARKDOWN = Regex(r"[ \t>]*<!--\s*rdc: ignore\b(?P<words>[^<>]*)-->[ \t]*")
_MARKED = Regex(rf"[ \t]*<!--\s*{MARK}\s*(?P<words>[^<>]*?)\s*-->[ \t]*")

_YAML = Regex(r"[ \t]*#\s*rdc: ignore\b(?P<words>.*)")
_FENCE = Regex(r"---[ \t]*")
_SEPARATOR = Regex(r"[\s,]+")


LARGEST_YAML = 1_000_000
"""The largest YAML to search, in characters: no format reads more, and parsing takes long."""


class Comment(Struct, frozen=True):
    """A comment with the codes in it and their place.

    It applies to line `target`, which is 0 at the end of the document. With `is_first`, only such comments are above
    it, so it also applies to diagnostics on the whole file.
    """

    span: Span
    words: tuple[str, ...]
    place: Span
    target: int
    is_first: bool


@lru_cache(maxsize=1)  # one document is read at a time, and a server would keep old versions
def ignoring_lines(source: Source) -> frozenset[int]:
    """Return the lines of a Markdown document that are ignore comments or marks, which are not part of its text."""
    if IGNORE not in source.text:
        return frozenset(marks_in(source))
    return frozenset([*marks_in(source), *(comment.span.line for comment in comments_in(source, is_markdown=True))])


@lru_cache(maxsize=1)  # one document is read at a time, and a server would keep old versions
def marks_in(source: Source) -> dict[int, str]:
    """Return the guesses that an importer marked in a Markdown document, by line, except in code blocks."""
    if MARK not in source.text:
        return {}
    first = _body(source.lines)
    shown = _in_code(source, first)
    found = ((number, _MARKED.fullmatch(line)) for number, line in enumerate(source.lines, 1) if MARK in line)
    return {number: match["words"] for number, match in found if match and number >= first and number not in shown}


def comments_in(source: Source, *, is_markdown: bool) -> list[Comment]:
    """Return the comments of a document, except in code blocks and YAML strings."""
    begin = _body(source.lines) if is_markdown else len(source.lines) + 1
    numbers = [number for number, line in enumerate(source.lines, 1) if IGNORE in line]
    shown = _in_code(source, begin) if is_markdown else frozenset()
    written = _in_strings(source, begin) if any(number < begin for number in numbers) else frozenset()
    found = {}
    for number in numbers:
        pattern = _YAML if number < begin else _MARKDOWN
        if number not in shown and number not in written and (match := pattern.fullmatch(source.lines[number - 1])):
            found[number] = match
    first = frozenset(_first_lines(source.lines, begin, found))
    below = _below(source.lines, found)
    return [
        Comment(
            source.line_span(number),
            tuple(word for word in _SEPARATOR.split(match["words"]) if word),
            Span(number, match.start("words") + 1, number, match.start("words") + len(match["words"].rstrip()) + 1),
            below[number],
            number in first,
        )
        for number, match in found.items()
    ]


def _below(lines: tuple[str, ...], comments: Container[int]) -> dict[int, int]:
    """Return the next line with other content for each comment, or 0."""
    found, below = {}, 0
    for number in range(len(lines), 0, -1):
        if number in comments:
            found[number] = below
        elif lines[number - 1].strip():
            below = number
    return found


def _first_lines(lines: tuple[str, ...], begin: int, comments: Container[int]) -> Iterable[int]:
    inside = begin > 1 and _FENCE.fullmatch(lines[0])
    for start in {1, 2} if inside else {1}:
        yield from _leading(lines, start, comments)
    yield from _leading(lines, begin, comments)


def _leading(lines: tuple[str, ...], start: int, comments: Container[int]) -> Iterator[int]:
    for number in range(start, len(lines) + 1):
        if number in comments:
            yield number
        elif lines[number - 1].strip():
            return


def _body(lines: tuple[str, ...]) -> int:
    if not _FENCE.fullmatch(lines[0]):
        return 1
    return next((number + 1 for number, line in enumerate(lines[1:], 2) if _FENCE.fullmatch(line)), 1)


def _in_code(source: Source, first: int) -> frozenset[int]:
    text = "\n".join(source.lines[first - 1 :])
    starts = list(accumulate((len(line.encode()) + 1 for line in text.split("\n")), initial=0))
    events: Iterable[tuple[Any, Any]] = pyromark.events_with_range(text)
    blocks = [where for event, where in events if "Start" in event and "CodeBlock" in event["Start"]]
    return frozenset(
        first - 1 + line
        for where in blocks
        for line in range(bisect_right(starts, where["start"]), bisect_right(starts, where["end"] - 1) + 1)
    )


def _in_strings(source: Source, begin: int) -> frozenset[int]:
    """Return the YAML lines within strings, or all lines of YAML that is unreadable or too large."""
    from compiler.reading.yaml import UnreadableError, read_mapping  # noqa: PLC0415 (it imports PyYAML)

    is_whole = begin > len(source.lines)
    first, last = (1, len(source.lines)) if is_whole else (2, begin - 2)
    if len(source.text) > LARGEST_YAML:
        return frozenset(range(1, len(source.lines) + 1))
    try:
        return read_mapping("\n".join(source.lines[first - 1 : last]), first, "step_specs").lines_in_texts
    except UnreadableError:
        return frozenset(range(1, len(source.lines) + 1))
