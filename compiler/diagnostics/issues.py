"""Turn issues in documents, options and `rdc.toml` into diagnostics, and read the page of a code."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.model import DataPath, Diagnostic, Fix, Issue, Related
from compiler.text.source import KeyPath, Repeated, Source, Span, Spans, nearest

# The start of a message, by the code for invalid options, which depends on their place.
_BEGIN = {"RD013": "", "RD501": "the configuration is not valid: "}

MOST_SHOWN = 100  # the most findings of one kind about the form of a file


class InvalidError(ValueError):
    """Data that is not valid, with all its issues."""

    def __init__(self, *issues: Issue) -> None:
        self.issues = issues
        super().__init__("; ".join(issue.message for issue in issues))


class OptionSource(Struct, frozen=True):
    """The place of an option, with the diagnostic code for problems there."""

    code: str
    path: str
    span: Span | None

    def finding(self, problem: str, remedy: str) -> Diagnostic:
        """Return the diagnostic for a problem with this option."""
        return Diagnostic(self.code, self.path, self.span, _BEGIN[self.code] + problem, remedy)

    def around(self, spans: Spans) -> dict[KeyPath, OptionSource]:
        """Return the places of all parts of the value at this place."""
        return {(): self, **{path: replace(self, span=span) for path, span in spans.items()}}


OptionSources = Mapping[KeyPath, OptionSource]
"""The known places of an option, `()`, and of its parts; empty for the command line."""


def diagnostics(issues: Iterable[Issue], places: OptionSources, prefix: str = "", remedy: str = "") -> list[Diagnostic]:
    """Return the diagnostics for issues in a value, each at its place or at the nearest part around it.

    `prefix` comes before each message, and `remedy` helps with issues that have no help.
    """
    found = ((nearest(places, tuple(map(str, issue.path))), issue) for issue in issues)
    return [place.finding(prefix + issue.message, issue.help or remedy) for place, issue in found if place]


class SourceMap(Struct, frozen=True):
    """The places in a source by path."""

    source: Source
    spans: Spans

    def at(self, path: DataPath) -> Span:
        """Return the place of a key or item, or of the closest part around it."""
        return nearest(self.spans, tuple(map(str, path))) or self.source.line_span(1)

    def diagnostic(
        self, code: str, path: DataPath, problem: str, remedy: str, other: tuple[DataPath, str] | None = None
    ) -> Diagnostic:
        """Return a diagnostic for a path; `other` is a second path with its message."""
        related = (Related(self.source.path, self.at(other[0]), other[1]),) if other else ()
        return Diagnostic(code, self.source.path, self.at(path), on_one_line(problem), on_one_line(remedy), related)

    def reported(self, code: str, issue: Issue) -> Diagnostic:
        """Return the diagnostic for an issue, with a fix if it knows what was meant."""
        found = self.diagnostic(code, issue.path, issue.message, issue.help)
        if not issue.meant:
            return found
        return replace(found, fix=self.respelled(issue.path, str(issue.path[-1]), issue.meant))

    def respelled(self, path: DataPath, written: str, meant: str, *, is_value: bool = False) -> Fix | None:
        """Return the fix that respells a key or its value on the first line of its place, or None."""
        span = self.spans.get(tuple(map(str, path)))
        line = self.source.lines[span.line - 1] if span else ""
        if span is None or not meant:
            return None
        column = line.rfind(written, span.column) if is_value else line.find(written, span.column - 1)
        is_key = is_value or line[span.column - 1 : column] in ("", '"', "'")
        place = Span(span.line, column + 1, span.line, column + 1 + len(written))
        return Fix.respelling(place, written, meant) if column >= 0 and is_key else None


def on_one_line(message: str) -> str:
    """Return a message without line breaks and control characters from names in the document."""
    return "".join(character if character.isprintable() else "�" for character in message)


class Position(Struct, frozen=True):
    """A part of a plain value."""

    places: SourceMap
    plain: Mapping[str, Any]
    path: DataPath

    @property
    def around(self) -> Position:
        """The part around it."""
        return Position(self.places, self.plain, self.path[:-1])

    @property
    def kind(self) -> str:
        """The last key in its path, whose values have the same kind, or "" for the document itself."""
        return next((key for key in reversed(self.path) if isinstance(key, str)), "")

    @property
    def value(self) -> Any:  # noqa: ANN401 (a plain value)
        """Its value, or None."""
        value: Any = self.plain
        for key in self.path:
            value = value.get(key) if isinstance(value, dict) else value[int(key)]
        return value

    def diagnostic(self, code: str, problem: str, remedy: str) -> Diagnostic:
        """Return a diagnostic at this part."""
        return self.places.diagnostic(code, self.path, problem, remedy)


def duplicate_keys(code: str, source: Source, keys: Iterable[Repeated], effect: str = "") -> Iterator[Diagnostic]:
    """Report the first duplicate keys of a YAML or JSON document; `effect` is appended to each message."""
    return (_duplicate(code, source, key, effect, "remove one of the two") for key in islice(keys, MOST_SHOWN))


def duplicate_options(source: Source, keys: Iterable[Repeated]) -> Iterator[Diagnostic]:
    """Report duplicate keys in the part of a document that rdc reads."""
    for key in keys:
        where = f" in `{key.path[-2]}`" if key.path[1:] else ""
        effect = f"{where}; only the last one would count"
        yield _duplicate("RD013", source, key, effect, "remove or rename one of the two")


def _duplicate(code: str, source: Source, key: Repeated, effect: str, remedy: str) -> Diagnostic:
    problem = on_one_line(f"duplicate key `{key.path[-1]}`{effect}")
    related = (Related(source.path, key.first, "first defined here"),)
    return Diagnostic(code, source.path, key.span, problem, remedy, related, _without_one(source, key.first, key.span))


def _without_one(source: Source, first: Span, again: Span) -> Fix | None:
    texts = [source.lines[span.line - 1][span.column - 1 :].rstrip() for span in (first, again)]
    if texts[0].removesuffix(",") != texts[1].removesuffix(",") or first.line == again.line:
        return None
    is_json = texts[0].startswith('"') and texts[0].endswith(",")
    line = first.line if is_json else again.line  # in JSON, the first line has the comma to remove
    column = (first if is_json else again).column
    before, below = source.lines[line - 1][: column - 1], filter(str.strip, source.lines[line:])
    holds_more = next(below, "")[:column].isspace()  # deeper lines belong to the value
    if before.strip() or texts[0].rstrip(",").endswith((":", "{", "[", "|", ">")) or (holds_more and not is_json):
        return None
    return Fix.by(source.whole_line(line), "", is_safe=True)


def page(code: str) -> str:
    """Return the page of a code as Markdown, without a final line break.

    Raises:
        FileNotFoundError: The code has no page.
    """
    with open(f"{os.path.dirname(__file__)}/explanations/{code}.md", encoding="utf-8") as file:
        return file.read().rstrip("\n")


def page_of(address: str, code: str) -> str:
    """Return the address of the page about a diagnostic."""
    return f"{address}/diagnostics/{code}.html"
