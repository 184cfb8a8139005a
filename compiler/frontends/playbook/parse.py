"""Parse a source into a syntax tree and diagnostics; one run finds every error."""

from __future__ import annotations

from typing import NamedTuple

from lark.exceptions import UnexpectedToken

from compiler.diagnostic import Diagnostic
from compiler.frontends.playbook import messages
from compiler.frontends.playbook.build import Builder
from compiler.frontends.playbook.directives import read_input
from compiler.frontends.playbook.lines import MARKERS, Line, Scanned, grammar, scan
from compiler.frontends.playbook.syntax import Playbook
from compiler.grammar import Node, end, feed
from compiler.source import Source


class Parsed(NamedTuple):
    """The syntax tree, the lines behind it, and the diagnostics; after errors, the tree has only the readable parts."""

    playbook: Playbook
    tree: Node
    scanned: Scanned
    diagnostics: list[Diagnostic]


def parse(source: Source, begin: int = 1) -> Parsed:
    """Return the syntax tree and diagnostics of a document whose frontmatter ends above line `begin`."""
    scanned = with_conditions(scan(source, begin))
    feeder = _Feeder(source)
    for line in scanned.lines:
        feeder.feed(line)
    tree = feeder.tree()
    builder = Builder(source)
    playbook = builder.playbook(tree)
    return Parsed(playbook, tree, scanned, feeder.diagnostics + builder.diagnostics)


class _Feeder:
    """Pass lines to the grammar, and report markers and headings in the wrong place (P14)."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self._parser = grammar().parse_interactive()
        self._opened: Line | None = None
        self._has_else = False
        self._nested = 0

    def feed(self, line: Line) -> None:
        """Pass the next line to the grammar."""
        if self._nested and line.kind in MARKERS:
            self._nested += {"IF": 1, "ENDIF": -1}.get(line.kind, 0)
            return
        if self._has_else and line.kind in ("ELIF", "ELSE"):  # the parser would take the branches as complete
            self.diagnostics.append(messages.stray(self.source, line, self._opened))
            return
        try:
            feed(self._parser, line)
        except UnexpectedToken:
            self._unexpected(line)
            return
        if line.kind in MARKERS:
            self._opened = {"IF": line, "ENDIF": None}.get(line.kind, self._opened)
            self._has_else = line.kind == "ELSE"

    def tree(self) -> Node:
        """Return the parse tree of all lines."""
        try:
            return end(self._parser)
        except UnexpectedToken:
            self._close(None)
            return end(self._parser)

    def _unexpected(self, line: Line) -> None:
        if line.kind == "SUBSTEP":
            self.diagnostics.append(messages.outside_branches(self.source, line))
            feed(self._parser, Line("TEXT", line.number, line.number))
        elif line.kind == "IF" and self._opened:
            self.diagnostics.append(messages.nested(self.source, self._opened, line))
            self._nested = 1
        elif line.kind in MARKERS:
            self.diagnostics.append(messages.stray(self.source, line, self._opened))
        else:
            self._close(line)
            feed(self._parser, line)

    def _close(self, before: Line | None) -> None:
        """Close branches that are still open at the end of a section or document."""
        if self._opened is None:
            raise ValueError("the grammar does not accept a line here")
        self.diagnostics.append(messages.unclosed(self.source, self._opened, before))
        end = Line("ENDIF", self._opened.number, self._opened.number)
        feed(self._parser, end)
        self._opened, self._has_else, self._nested = None, False, 0


def with_conditions(scanned: Scanned) -> Scanned:
    """Return the lines with markers of non-boolean inputs as text; this needs all lines, as INPUTS may come last."""
    bare = [line for line in scanned.lines if _is_bare(line)]
    if not bare:
        return scanned
    inputs = (read_input(line) for line in scanned.lines if line.kind == "INPUT")
    booleans = {declared.name for declared in inputs if declared.type == "boolean"}
    odd = [line for line in bare if line.get("name") not in booleans]
    numbers = {line.number for line in odd}
    lines = [_text(line) if line.number in numbers else line for line in scanned.lines]
    return Scanned(lines, [*scanned.odd, *map(_text, odd)])


def _is_bare(line: Line) -> bool:
    return line.kind in ("IF", "ELIF") and line.found is not None and line.found["operator"] is None


def _text(line: Line) -> Line:
    return Line("TEXT", line.number, line.last, line.column)
