"""The comments that ask rdc to ignore findings: `<!-- rdc: ignore RD405 -->`, in YAML `# rdc: ignore RD405`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from msgspec import Struct

from compiler.regex import Regex
from compiler.source import IGNORE, Source, Span

_MARKDOWN = Regex(r"[ \t]*<!--\s*rdc: ignore\b(?P<words>[^<>]*?)\s*-->[ \t]*")
_YAML = Regex(r"[ \t]*#\s*rdc: ignore\b(?P<words>.*?)[ \t]*")
_FENCE = Regex(r"---[ \t]*")
_SEPARATOR = Regex(r"[\s,]+")


LARGEST_YAML = 1_000_000
"""In characters: no format reads more YAML, which takes long."""


class Comment(Struct, frozen=True):
    """A comment with what it names, and where the names are.

    It is about the line `target`, 0 if none follows. With `is_first` nothing but such comments is above it, so it is
    about findings on the whole file too.
    """

    span: Span
    words: tuple[str, ...]
    place: Span
    target: int
    is_first: bool


def comments_in(source: Source, *, is_markdown: bool) -> list[Comment]:
    """The comments of a document, without those in code blocks, and in the strings of YAML."""
    begin = _body(source.lines) if is_markdown else len(source.lines) + 1
    numbers = [number for number, line in enumerate(source.lines, 1) if IGNORE in line]
    shown = _in_code(source, begin) if is_markdown else frozenset()
    written = _in_strings(source, begin) if any(number < begin for number in numbers) else frozenset()
    found = {}
    for number in numbers:
        pattern = _YAML if number < begin else _MARKDOWN
        if number not in shown and number not in written and (match := pattern.fullmatch(source.lines[number - 1])):
            found[number] = match
    first = _first_lines(source.lines, begin, frozenset(found))
    return [
        Comment(
            source.line_span(number),
            tuple(word for word in _SEPARATOR.split(match["words"]) if word),
            Span(number, match.start("words") + 1, number, match.end("words") + 1),
            _below(source.lines, number, frozenset(found)),
            number in first,
        )
        for number, match in found.items()
    ]


def _below(lines: tuple[str, ...], number: int, comments: frozenset[int]) -> int:
    """The next line with something else in it; 0 if there is none."""
    below = range(number + 1, len(lines) + 1)
    return next((line for line in below if lines[line - 1].strip() and line not in comments), 0)


def _first_lines(lines: tuple[str, ...], begin: int, comments: frozenset[int]) -> Iterable[int]:
    """The comments above everything else, in the frontmatter or below it."""
    inside = begin > 1 and _FENCE.fullmatch(lines[0])
    for start in {1, 2} if inside else {1}:
        yield from _leading(lines, start, comments)
    yield from _leading(lines, begin, comments)


def _leading(lines: tuple[str, ...], start: int, comments: frozenset[int]) -> Iterator[int]:
    for number in range(start, len(lines) + 1):
        if number in comments:
            yield number
        elif lines[number - 1].strip():
            return


def _body(lines: tuple[str, ...]) -> int:
    """The line on which a Markdown document goes on below its frontmatter."""
    if not _FENCE.fullmatch(lines[0]):
        return 1
    return next((number + 1 for number, line in enumerate(lines[1:], 2) if _FENCE.fullmatch(line)), 1)


def _in_code(source: Source, begin: int) -> frozenset[int]:
    """The lines of code blocks, by CommonMark."""
    import pyromark  # noqa: PLC0415 (only for a document with such a comment)

    text = "\n".join(source.lines[begin - 1 :])
    starts = list(accumulate((len(line.encode()) + 1 for line in text.split("\n")), initial=0))
    events: Iterable[tuple[Any, Any]] = pyromark.events_with_range(text)
    blocks = [where for event, where in events if "Start" in event and "CodeBlock" in event["Start"]]
    return frozenset(
        begin - 1 + line
        for where in blocks
        for line in range(bisect_right(starts, where["start"]), bisect_right(starts, where["end"] - 1) + 1)
    )


def _in_strings(source: Source, begin: int) -> frozenset[int]:
    """The lines of YAML that are within a string; of YAML that cannot be read, or is too large, all."""
    from compiler.yaml_text import UnreadableError, read_mapping  # noqa: PLC0415 (as above)

    is_whole = begin > len(source.lines)
    first, last = (1, len(source.lines)) if is_whole else (2, begin - 2)
    if len(source.text) > LARGEST_YAML:
        return frozenset(range(1, len(source.lines) + 1))
    try:
        return read_mapping("\n".join(source.lines[first - 1 : last]), first, "step_specs").lines_in_texts
    except UnreadableError:
        return frozenset(range(1, len(source.lines) + 1))
