"""Lay out the lines of the normal form, with one blank line around headings, markers and directives.

Blank lines within a step's content belong to it, so nothing changes between its first and last line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compiler.frontends.playbook.build import lines_of
from compiler.frontends.playbook.directives import QUESTIONS, read_input
from compiler.frontends.playbook.formatting.numbering import Numbering
from compiler.frontends.playbook.lines import Line
from compiler.grammar import Node
from compiler.regex import Regex
from compiler.source import Source

_ARGUMENT = Regex(r'(?:\b(?P<key>\w+):\s*)?(?P<text>"[^"]*")')


class Spelling:
    """Write the lines of one document with its new step numbers."""

    def __init__(self, source: Source, numbering: Numbering) -> None:
        self.source = source
        self.numbering = numbering

    def line(self, line: Line) -> str:
        """Return the line in its normal form."""
        written = self.source.lines[line.number - 1]
        match line.kind:
            case "STEP":
                return f"## STEP {self.numbering.label(line)}: {line.get('title') or ' '}"  # a space is also a title
            case "SUBSTEP":
                return f"### STEP {self.numbering.label(line)}: {line.get('title')}"
            case "TITLE":
                return f"# {line.get('title')}"
            case "SYSTEM" | "INPUTS" | "ARTIFACTS":
                return f"## {' '.join(written[2:].upper().split())}"
            case "SECTION":
                return f"## {written[2:].strip()}" if written[2:].strip() else written
            case "TYPE":
                kind = line.get("type")
                return f"type: {kind if '{{' in kind else kind.lower()}"
            case "IF" | "ELIF" | "ELSE" | "ENDIF":
                return _marker(line)
            case _:
                return self._inner(line, written.strip())

    def _inner(self, line: Line, written: str) -> str:
        match line.kind:
            case "INPUT":
                return _input(line, written)
            case "OUTPUT":
                kind = f": {line.get('type')}" if line.get("type") else ""
                return f"@output({', '.join([line.get('name') + kind, *(_arguments(line.get('more')) or [])])})"
            case "ELICIT":
                arguments = _arguments(line.get("more"))
                if arguments is None or line.get("kind").lower() not in QUESTIONS:
                    return written
                return f"@elicit({', '.join([line.get('kind').lower(), *arguments])})"
            case "PROMPT":
                return f"@prompt({line.get('reference')})"
            case _:
                parts = (line.get("connection"), line.get("tool"), line.get("arguments"))
                return f"@tool({', '.join(part for part in parts if part)})"


def _marker(line: Line) -> str:
    """Return a marker; spaces in its condition's string matter."""
    word, found = line.kind.lower(), line.found
    if found is None or "name" not in found.re.groupindex:
        return f"```{word}```"
    if found["operator"] is None:
        return f"```{word} {found['name']}```"
    return f'```{word} {found["name"]} {found["operator"]} "{found["value"]}"```'


def _arguments(more: str) -> list[str] | None:
    """Return the strings in double quotes, or None if there is anything else between them."""
    between = _ARGUMENT.sub("", more)
    if between.replace(",", "").strip():
        return None
    return [f"{found['key']}:{found['text']}" if found["key"] else found["text"] for found in _ARGUMENT.finditer(more)]


def _input(line: Line, written: str) -> str:
    declared = read_input(line)
    if not declared.written:
        return written
    value = ", ".join(declared.options) if declared.type == "enum" else declared.default
    kind = f"{declared.written}: {value}" if value else declared.written
    description = f": {declared.description}" if declared.description else ""
    return f"- `{declared.name}` ({kind}){description}"


Chunk = list[str]
"""Lines without blank lines in between; blank lines separate chunks."""


def layout(source: Source, tree: Node, numbering: Numbering) -> list[str]:
    """Return all lines below the frontmatter."""
    layouter = _Layout(source, Spelling(source, numbering))
    return joined(chunk for part in tree.children for chunk in layouter.part(part))


def joined(chunks: Iterable[Chunk]) -> list[str]:
    """Return the lines of all chunks, separated by blank lines."""
    lines: list[str] = []
    for chunk in chunks:
        if chunk:
            lines += ["", *chunk] if lines else chunk
    return lines


def trimmed(lines: Sequence[str]) -> Chunk:
    """Return the lines without blank lines at both ends."""
    filled = [place for place, line in enumerate(lines) if line]
    return list(lines[filled[0] : filled[-1] + 1]) if filled else []


class _Layout:
    def __init__(self, source: Source, spelling: Spelling) -> None:
        self.source = source
        self.spell = spelling.line

    def part(self, part: Node | Line | None) -> Iterator[Chunk]:
        """Yield a section, or the lines above the first section."""
        if isinstance(part, Line):
            yield trimmed(list(self._lines([part])))
        elif isinstance(part, Node) and part.data == "step":
            yield from self._step(part)
        elif part:
            heading, *body = lines_of(part)
            yield [self.spell(heading)]
            yield trimmed(list(self._lines(body)))

    def _lines(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yield the new lines; text loses trailing spaces."""
        for line in lines:
            if line.kind == "TEXT":
                yield from (text.rstrip() for text in self.source.lines[line.number - 1 : line.last])
            else:
                yield self.spell(line)

    def _step(self, tree: Node) -> Iterator[Chunk]:
        """Yield a step; with text below the branches too, the blank lines around them belong to its content."""
        yield [self.spell(lines_of(tree)[0])]
        runs: list[list[Line]] = [[]]
        blocks: list[Node] = []
        for part in tree.children[1:]:
            if isinstance(part, Line):
                runs[-1].append(part)
            else:
                blocks.append(part)
                runs.append([])
        if not any(self._has_text(run) for run in runs[1:]):
            yield from self._own(runs[0])
            for block, below in zip(blocks, runs[1:], strict=True):
                yield from self._block(block)
                yield from self._own(below)
            return
        tight = list(self._lines(runs[0]))
        for block, below in zip(blocks, runs[1:], strict=True):
            tight += [*joined(self._block(block)), *self._lines(below)]
        yield trimmed(tight)

    def _has_text(self, lines: Iterable[Line]) -> bool:
        return any(line.kind == "TEXT" and any(map(str.strip, self._lines([line]))) for line in lines)

    def _block(self, block: Node) -> Iterator[Chunk]:
        for part in block.children:
            if not isinstance(part, Node):
                yield [self.spell(part)]
                continue
            marker, *own = lines_of(part)
            yield [self.spell(marker)]
            yield from self._own(own)
            for substep in (inner for inner in part.children if isinstance(inner, Node)):
                heading, *body = lines_of(substep)
                yield [self.spell(heading)]
                yield from self._own(body)

    def _own(self, lines: Sequence[Line]) -> Iterator[Chunk]:
        """Yield a step's directives and content in order: above, within and below the content."""
        first = next((place for place, line in enumerate(lines) if self._has_text([line])), None)
        if first is None:
            yield [self.spell(line) for line in lines if line.kind != "TEXT"]
            return
        last = max(place for place, line in enumerate(lines) if self._has_text([line]))
        yield [self.spell(line) for line in lines[:first] if line.kind != "TEXT"]
        yield trimmed(list(self._lines(lines[first : last + 1])))
        yield [self.spell(line) for line in lines[last + 1 :] if line.kind != "TEXT"]
