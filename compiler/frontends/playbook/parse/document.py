"""Parse a source into a syntax tree and diagnostics; one run finds every error."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, cast

from lark.exceptions import UnexpectedToken
from msgspec import Struct

from compiler.diagnostics.model import Diagnostic
from compiler.frontends.playbook.parse import messages
from compiler.frontends.playbook.parse.lines import (
    MARKERS,
    Line,
    Scanned,
    Scanner,
    grammar,
    read_elicit,
    read_input,
    read_output,
    read_prompt,
    read_tool,
    texts,
)
from compiler.frontends.playbook.syntax import Artifact, Branch, Condition, Input, Playbook, Step
from compiler.reading.comments import ignoring_lines
from compiler.reading.grammar import Node, end, feed
from compiler.text.source import Source, Span


class Parsed(NamedTuple):
    """The syntax tree, the lines behind it, and the diagnostics; after errors, the tree has only the readable parts."""

    playbook: Playbook
    tree: Node
    scanned: Scanned
    diagnostics: list[Diagnostic]


def parse(source: Source, begin: int = 1) -> Parsed:
    """Return the syntax tree and diagnostics of a document whose frontmatter ends above line `begin`."""
    scanned = scan(source, begin)
    feeder = _Feeder(source)
    for line in scanned.lines:
        feeder.feed(line)
    tree = feeder.tree()
    builder = Builder(source)
    return Parsed(builder.playbook(tree), tree, scanned, feeder.diagnostics + builder.diagnostics)


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
        if self._opened is None:
            raise ValueError("the grammar does not accept a line here")
        self.diagnostics.append(messages.unclosed(self.source, self._opened, before))
        feed(self._parser, Line("ENDIF", self._opened.number, self._opened.number))
        self._opened, self._has_else, self._nested = None, False, 0


def scan(source: Source, first: int = 1) -> Scanned:
    """Return the lines, with markers of non-boolean inputs as text; this needs all lines, as INPUTS may come last."""
    scanned = source.once(("lines", first), Scanner(source, first).scan)
    conditions = (line for line in scanned.lines if line.kind in ("IF", "ELIF"))
    bare = [line for line in conditions if line.found and line.found["operator"] is None]
    if not bare:
        return scanned
    inputs = (read_input(line) for line in scanned.lines if line.kind == "INPUT")
    booleans = {declared.name for declared in inputs if declared.type == "boolean"}
    named_otherwise = (line for line in bare if line.get("name") not in booleans)
    odd = {line.number: Line("TEXT", line.number, line.last, line.column) for line in named_otherwise}
    return Scanned([odd.get(line.number, line) for line in scanned.lines], [*scanned.odd, *odd.values()])


LARGEST_NUMBER = 9  # the most digits of a step number; longer numbers are errors

READERS = {"OUTPUT": read_output, "ELICIT": read_elicit, "PROMPT": read_prompt, "TOOL": read_tool}


class _Content(Struct, frozen=True):
    text: str
    lines: tuple[int, ...]


class Builder:
    """Build the syntax tree of one document and collect its diagnostics."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self._systems: list[Line] = []
        self._types: list[Line] = []
        self._inputs: dict[str, Input] = {}

    def playbook(self, tree: Node) -> Playbook:
        """Return the playbook, which may lack a title or steps."""
        title, description = self._title(tree)
        steps: list[Step] = []
        system = _Content("", ())
        artifact: Artifact | None = None
        for part in tree.children:
            name = part.data if isinstance(part, Node) else ""
            if name == "step":
                steps.append(self._step(part))
            elif name == "system":
                system = self._system(part)
            elif name == "inputs":
                self._declare(part)
            elif name == "artifacts":
                artifact = self._artifact(part) or artifact
        return Playbook(
            title=title.get("title") if title else "",
            description=description.text,
            system=system.text,
            system_span=self.source.line_span(system.lines[0], system.lines[-1]) if system.lines else None,
            inputs=tuple(self._inputs.values()),
            steps=tuple(steps),
            artifact=artifact,
            span=title.span if title else Span(1, 1, 1, 1),
        )

    def _title(self, tree: Node) -> tuple[Line | None, _Content]:
        found = next((part for part in tree.children if isinstance(part, Node) and part.data == "title"), None)
        if found is None:
            return None, _Content("", ())
        title, *text = lines_of(found)
        return title, self._content(text)

    def _content(self, lines: Sequence[Line]) -> _Content:
        """Return the text of these lines, without trailing spaces or blank lines at both ends."""
        shown = [number for number in texts(lines) if number not in ignoring_lines(self.source)]
        numbers = joining_empty_lines(self.source, shown)
        written = [self.source.lines[number - 1].rstrip() for number in numbers]
        filled = [place for place, line in enumerate(written) if line]
        if not filled:
            return _Content("", ())
        first, last = filled[0], filled[-1] + 1
        return _Content("\n".join(written[first:last]).strip(), tuple(numbers[first:last]))

    def _system(self, tree: Node) -> _Content:
        heading, *text = lines_of(tree)
        if self._systems:
            self.diagnostics.append(messages.overridden(self.source, self._systems[-1], heading, "a SYSTEM section"))
        self._systems.append(heading)
        return self._content(text)

    def _declare(self, tree: Node) -> None:
        for line in lines_of(tree)[1:]:
            if line.kind != "INPUT":
                continue
            declared = read_input(line)
            first = self._inputs.setdefault(declared.name, declared)
            if first is not declared:
                self.diagnostics.append(messages.declared_twice(self.source, first, declared))

    def _artifact(self, tree: Node) -> Artifact | None:
        """Return the first type in a section; a later section wins."""
        line = next((line for line in lines_of(tree) if line.kind == "TYPE"), None)
        if line is None:
            return None
        if self._types:
            self.diagnostics.append(messages.overridden(self.source, self._types[-1], line, "the artifact's type"))
        self._types.append(line)
        written = line.get("type")
        return Artifact(written if "{{" in written else written.lower(), line.within("type"))

    def _step(self, tree: Node) -> Step:
        """Return a step; its own lines are the lines around its branches, joined (P14)."""
        heading, *own = lines_of(tree)
        number = self._number(heading)
        blocks = [part for part in tree.children if isinstance(part, Node)]
        parts = [part for block in blocks for part in block.children if isinstance(part, Node)]
        branches = tuple(self._branch(part, number) for part in parts)
        if blocks:
            endif = lines_of(blocks[-1])[-1]
            below = [line for line in own if line.number > endif.number]
            self.diagnostics += messages.below_branches(self.source, endif, below)
            self.diagnostics += messages.after_else(self.source, branches)
        return Step(number, str(number), heading.get("title"), span=heading.span, branches=branches, **self._own(own))

    def _number(self, heading: Line) -> int:
        digits = heading.get("number")
        if len(digits) <= LARGEST_NUMBER:
            return int(digits)
        self.diagnostics.append(messages.too_large(self.source, heading))
        return 0

    def _branch(self, tree: Node, number: int) -> Branch:
        marker, *own = lines_of(tree)
        self.diagnostics += messages.bare_condition(self.source, marker)
        substeps = [part for part in tree.children if isinstance(part, Node)]
        if not substeps:
            return Branch(_condition(marker), (Step(number, "", "", span=marker.span, **self._own(own)),), marker.span)
        self.diagnostics += messages.above_substep(self.source, own, lines_of(substeps[0])[0])
        return Branch(_condition(marker), tuple(self._substep(part, number) for part in substeps), marker.span)

    def _substep(self, tree: Node, parent: int) -> Step:
        heading, *own = lines_of(tree)
        number = self._number(heading)
        if number != parent:
            self.diagnostics.append(messages.of_another_step(self.source, heading, parent))
        label = f"{number}{heading.get('letter')}"
        return Step(parent, label, heading.get("title"), span=heading.span, **self._own(own))

    def _own(self, lines: Sequence[Line]) -> dict[str, Any]:
        content = self._content(lines)
        found: dict[str, Any] = {"content": content.text, "lines": content.lines}
        before: dict[str, Line] = {}
        for line in lines:
            if line.kind == "TEXT":
                continue
            read = READERS[line.kind](line)
            if read is None:
                self.diagnostics.append(messages.unknown_question(self.source, line))
                continue
            if line.kind in before:
                name = f"an @{line.kind.lower()}"
                self.diagnostics.append(messages.overridden(self.source, before[line.kind], line, name))
            before[line.kind] = line
            found[line.kind.lower()] = read
        return found


def lines_of(tree: Node) -> list[Line]:
    """Return a rule's own lines, without the lines of its inner rules."""
    return [part for part in tree.children if isinstance(part, Line)]


def joining_empty_lines(source: Source, numbers: Sequence[int]) -> list[int]:
    """Return the numbers of a step's lines, keeping one empty line where removing a directive joined several."""
    stored: list[int] = []
    empty: list[int] = []
    for number in numbers:
        if source.lines[number - 1].strip():
            stored += [*_joined(empty), number]
            empty = []
        else:
            empty.append(number)
    return stored + empty


def _joined(numbers: list[int]) -> list[int]:
    """Return a run of empty lines, or only its first line if another line was removed from within it."""
    is_whole = not numbers or numbers[-1] - numbers[0] + 1 == len(numbers)
    return numbers if is_whole else numbers[:1]


def _condition(marker: Line) -> Condition | None:
    if marker.kind == "ELSE" or marker.found is None:
        return None
    place = marker.within("name")
    if marker.found["operator"] is None:
        return Condition(marker.found["name"], "==", "true", place)
    operator = cast("Literal['==', '!=']", marker.found["operator"])
    span = Span(place.line, place.column, place.line, marker.within("value").end_column + 1)
    return Condition(marker.found["name"], operator, marker.found["value"], span)
