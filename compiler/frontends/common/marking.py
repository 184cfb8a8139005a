"""Collect the marks of a document, with those of the options and scenarios that all formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec.structs import replace

from compiler.diagnostics.model import Issue
from compiler.frontends.common.marks import Ids, Kind, Mark, Marks, Role, names
from compiler.frontends.common.names import name_issues
from compiler.reading.entries import Entry, entries
from compiler.reading.frontmatter import block_lines
from compiler.rules.sentences import read_sentence
from compiler.text.regex import Regex
from compiler.text.source import KeyPath, Source, Span

_ENTRY = Regex(r"(.+)_\d+")
"""Matches an entry of a parallel step, such as `review_0`."""

_FLAG = Regex(r"""(?:--(?:value|input)[= ]["']?([A-Za-z_]\w*)(?==))|\bgoto[ \t]+["']?([\w.{}]+)""")
_WORD = Regex(r"\S+")


def first_part(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the step of a reference such as `draft/validation`."""
    name = text.partition("/")[0]
    yield 0, len(name), name


def whole(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield a reference that is only an id."""
    yield 0, len(text), text


def entries_of(source: Source, list_key: str = "") -> tuple[Entry, ...]:
    """Return the entries of a document in YAML or JSON, whose list is below `list_key`."""
    return entries("\n".join(source.lines), 1, list_key)


def entries_of_frontmatter(source: Source) -> tuple[Entry, ...]:
    """Return the entries of the frontmatter of a document, which may have no end yet."""
    lines = block_lines(source)
    return entries("\n".join(source.lines[lines.start - 1 : lines.stop - 1]), lines.start)


def sections(source: Source, headers: Iterable[tuple[int, int]]) -> dict[int, Span]:
    """Return the place of each section without empty lines at its end, by the line of its header.

    A header is its line and its level. A section ends above the next header of its level or of a smaller one.
    """
    found: dict[int, Span] = {}
    inside: list[tuple[int, int]] = []
    for line, level in (*headers, (len(source.lines) + 1, 0)):
        while inside and inside[-1][1] >= level:
            start, last = inside.pop()[0], line - 1
            while last > start and not source.lines[last - 1].strip():
                last -= 1
            found[start] = Span(start, 1, last, len(source.lines[last - 1]) + 1)
        inside.append((line, level))
    return found


class Marker:
    """Collect the marks of a document whose references to steps have the form `ids`.

    All formats share the names in the options and in the scenarios, and the keys, so it starts with them.
    """

    def __init__(self, source: Source, entries: Sequence[Entry], ids: Ids = first_part) -> None:
        self.source = source
        self.entries = entries
        self.found: list[Mark] = []
        self._ids = ids
        self._maybe: set[Span] = set()
        for entry in entries:
            match entry.path:
                case ("rdc", *path):
                    self._option(entry, path)
                case ("scenarios", _, *path):
                    self._scenario(entry, path)
        for entry in entries:
            if len(entry.path) == 1 or (len(entry.path) == 2 and entry.path[0] in ("rdc", "scenarios")):
                self.define(Kind.KEY, entry.key, entry.whole, name=".".join(entry.path))

    @cached_property
    def items(self) -> dict[KeyPath, Span]:
        """The places of the items of lists at the top, such as steps."""
        return {entry.path: entry.inside for entry in self.entries if len(entry.path) == 2}

    def text(self, span: Span) -> str:
        """Return the text of a span on one line."""
        return self.source.lines[span.line - 1][span.column - 1 : span.end_column - 1]

    def define(
        self, kind: Kind, span: Span | None, extent: Span | None, title: str = "", name: str = "", fixed: str = ""
    ) -> None:
        """Add a definition; `name` is its id if that isn't its text, and `fixed` is why it can't change."""
        if span and (text := self.text(span)):
            whole = extent if extent and extent.has(span) else span  # two keys of the same name have one extent
            self.found.append(Mark(Role.DEFINITION, kind, text, span, name or text, title or text, whole, fixed))

    def refer(self, kind: Kind, span: Span | None, name: str = "", *, maybe: bool = False, fixed: str = "") -> None:
        """Add a reference; with `maybe`, only if the document declares the name."""
        if span and (text := self.text(span)):
            self.found.append(Mark(Role.REFERENCE, kind, text, span, name or text, fixed=fixed))
            if maybe:
                self._maybe.add(span)

    def refer_to_step(self, span: Span | None, *, maybe: bool = False) -> None:
        """Add the references in the id of a step."""
        if span is None:
            return
        for start, end, name in self._ids(self.text(span)):
            self.refer(Kind.STEP, span.part(start, end), name, maybe=maybe)

    def matches(self, pattern: re.Pattern[str], inside: Span) -> Iterator[tuple[re.Match[str], Span]]:
        """Yield the matches in the lines of a span, each with the place of its first group or else its second."""
        for number in range(inside.line, inside.end_line + 1):
            line = self.source.lines[number - 1]
            start = inside.column - 1 if number == inside.line else 0
            end = inside.end_column - 1 if number == inside.end_line else len(line)
            for found in pattern.finditer(line, start, end):
                group = 1 if found[1] else 2
                yield found, Span(number, found.start(group) + 1, number, found.end(group) + 1)

    def marks(self, others: Marks = ()) -> Marks:
        """Return the marks in order, where placeholders are the inputs or outputs that they name, also in `others`."""
        known = (*others, *self.found)
        steps, rest = names(known, Kind.STEP), names(known, Kind.LABEL, Kind.AGENT, Kind.SECRET)
        values = {mark.id: mark for mark in known if mark.kind in (Kind.INPUT, Kind.OUTPUT)}
        declared = {**rest, **values}
        settled: dict[Span, Mark] = {}
        for mark in self.found:
            one = mark
            if mark.kind is Kind.PLACEHOLDER and mark.id in values:
                one = replace(mark, kind=values[mark.id].kind)
            elif mark.kind is Kind.STEP and mark.id not in steps and (entry := _ENTRY.fullmatch(mark.id)):
                cut = replace(mark.span, end_column=mark.span.end_column - len(mark.id) + len(entry[1]))
                one = replace(mark, id=entry[1], name=self.text(cut), span=cut)
            if mark.span not in self._maybe or one.id in (steps if one.kind is Kind.STEP else declared):
                settled.setdefault(one.span, one)
        return tuple(settled[span] for span in sorted(settled))

    def _option(self, entry: Entry, path: list[str]) -> None:
        match path:
            case ["inputs", _]:
                self.define(Kind.INPUT, entry.key, entry.whole)
            case ["outputs", _] | ["steps", _, "asks"] | ["steps", _, "asks", "output"]:
                self.define(Kind.OUTPUT, entry.value, None)
            case ["secrets", _]:
                self.define(Kind.SECRET, entry.value, None)
            case ["steps", "*"]:
                pass
            case ["steps", _]:
                self.refer_to_step(entry.key)
            case ["steps", _, "labels", _]:
                self.define(Kind.LABEL, entry.value, None)
            case ["steps", _, "secrets", _]:
                self.refer(Kind.SECRET, entry.value)
            case ["rules", _] | ["rules", _, "rule"]:
                self._rule(entry.value)
            case [_, "agents", _]:
                self.define(Kind.AGENT, entry.key, entry.whole)

    def _rule(self, span: Span | None) -> None:
        text = self.text(span) if span else ""
        read = read_sentence(text) if text and text == " ".join(text.split()) and "\\" not in text else None
        if span is None or read is None or isinstance(read, Issue):
            return
        for one in read.mentions:
            place = span.part(one.at, one.at + len(one.name))
            if one.kind == "step":
                self.refer_to_step(place, maybe=True)
            elif one.kind in (Kind.LABEL, Kind.SECRET):
                self.refer(Kind(one.kind), place)

    def _scenario(self, entry: Entry, path: list[str]) -> None:
        match path:
            case ["inputs", _]:
                self.refer(Kind.PLACEHOLDER, entry.key)
            case ["outputs", _]:
                self.refer_to_step(entry.key, maybe=True)
                self.refer(Kind.PLACEHOLDER, entry.key, maybe=True)
            case ["answers" | "agents" | "tools", _] if entry.key:
                self.refer_to_step(entry.key, maybe=True)
            case ["answers", _] if entry.value and (word := _WORD.match(self.text(entry.value))):
                self.refer_to_step(entry.value.part(*word.span()), maybe=True)
            case ["commands", _]:
                for found, span in self.matches(_FLAG, entry.inside):
                    if found[2]:
                        self.refer_to_step(span)
                    else:
                        self.refer(Kind.PLACEHOLDER, span)


def scenario_marks(file: Source, marks: Marks, ids: Ids) -> Marks:
    """Return the marks of the companion file with the scenarios of a document that has these marks."""
    below = [replace(entry, path=("scenarios", *entry.path)) for entry in entries_of(file)]
    return Marker(file, below, ids).marks(marks)


def numbered(name: str) -> str:
    """Return why the number of a step can't be changed."""
    return f"step {name} has a number, which `rdc fmt` changes when the step moves; only names can be renamed"


def unfit_name(name: str, noun: str) -> str:
    """Return why an input or output can't have a name, or ""."""
    return next((f"{issue.message}; {issue.help}" for issue in name_issues(name, noun, ())), "")
