"""Put a playbook into its normal form (`rdc fmt`), and prove that the result means the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_lowercase

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.common.interface import Formatted, Job
from compiler.frontends.common.names import ENDING, stem
from compiler.frontends.playbook.check.rules import Read, read
from compiler.frontends.playbook.parse.document import lines_of
from compiler.frontends.playbook.parse.lines import QUESTIONS, Line, read_input, texts
from compiler.frontends.playbook.syntax import Branch, Playbook, Step
from compiler.reading.frontmatter import FENCE
from compiler.reading.grammar import Node
from compiler.text.regex import Regex
from compiler.text.source import LINE_END, Source

DEFECT = "the formatted document would not mean the same"


def format_document(job: Job) -> Formatted:
    """Return the normal form of a playbook; a playbook with errors stays unchanged."""
    source = job.source
    made = read(source)
    if made.parsed is None or made.errors:
        return Formatted(None, made.errors)
    is_named = _is_named_elsewhere(job, made)
    playbook = made.parsed.playbook
    stored = Numbering(playbook, {step.span.line: step.label for step in _labeled(playbook)})
    numbering = stored if is_named else new_numbers(playbook)
    layout = _Layout(source, numbering)
    lines = joined(chunk for part in made.parsed.tree.children for chunk in layout.part(part))
    text = _text(source, made.frontmatter.next_line, lines)
    if not is_equivalent(source, made, replace(source, text=text), numbering):
        return Formatted(None, (), defect=DEFECT)
    return Formatted(text, (), numbering.changes)


def _is_named_elsewhere(job: Job, made: Read) -> bool:
    """Return whether something else refers to step numbers, which formatting must keep then (P11)."""
    source, own = job.source, made.frontmatter
    if (
        "__elicit_step_" in source.text
        or own.scenarios is not None
        or not {"rules", "steps"}.isdisjoint(own.options.values)
    ):
        return True
    own_stem = stem(source.name, ".md", ".playbook")
    return bool(own_stem) and job.project.find_below(source, f"{own_stem}{ENDING}") is not None


def _text(source: Source, begin: int, lines: list[str]) -> str:
    head = list(source.lines[: begin - 1])
    between = [""] if head or (lines and FENCE.fullmatch(lines[0])) else []  # a rule on top would start a frontmatter
    ends = Counter(LINE_END.findall(source.text))
    end = max(("\n", "\r\n", "\r"), key=lambda one: ends[one])
    return "".join(line + end for line in (*head, *between, *lines))


_PLACES = {"span", "system_span", "lines"}


def is_equivalent(source: Source, before: Read, result: Source, numbering: Numbering) -> bool:
    """Return whether the result reads as the same document with new numbers."""
    after = read(result)
    if before.parsed is None or after.parsed is None or after.errors:
        return False
    same_tree = _plain(numbering.playbook) == _plain(after.parsed.playbook)
    same_options = repr(before.frontmatter.scenarios) == repr(after.frontmatter.scenarios)
    return same_tree and same_options and list(_written(source, before)) == list(_written(result, after))


def _plain(value: object) -> object:
    if isinstance(value, Struct):
        return tuple(_plain(getattr(value, name)) for name in value.__struct_fields__ if name not in _PLACES)
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _written(source: Source, made: Read) -> Iterator[str]:
    for number in texts(made.parsed.scanned.lines if made.parsed else ()):
        if line := source.lines[number - 1].rstrip():
            yield line


_ARGUMENT = Regex(r'(?:\b(?P<key>\w+):\s*)?(?P<text>"[^"]*")')


class _Layout:
    """The normal form of the lines and parts of a playbook."""

    def __init__(self, source: Source, numbering: Numbering) -> None:
        self.source = source
        self.numbering = numbering

    def spell(self, line: Line) -> str:
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


def _marker(line: Line) -> str:
    """Return a marker; spaces in its condition's string matter."""
    word, found = line.kind.lower(), line.found
    if found is None or "name" not in found.re.groupindex:
        return f"```{word}```"
    if found["operator"] is None:
        return f"```{word} {found['name']}```"
    return f'```{word} {found["name"]} {found["operator"]} "{found["value"]}"```'


def _arguments(more: str) -> list[str] | None:
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


class Numbering(Struct, frozen=True):
    """The renumbered playbook; `labels` maps heading lines to labels."""

    playbook: Playbook
    labels: Mapping[int, str]
    changes: tuple[tuple[str, str], ...] = ()

    def label(self, heading: Line) -> str:
        """Return a heading's new label."""
        return self.labels[heading.number]


def new_numbers(playbook: Playbook) -> Numbering:
    """Return the new numbering; if a step has more sub-steps than letters, they keep their labels."""
    renumbered = replace(playbook, steps=tuple(map(_step, playbook.steps, range(1, len(playbook.steps) + 1))))
    before, after = list(_labeled(playbook)), list(_labeled(renumbered))
    labels = {step.span.line: step.label for step in after}
    pairs = ((old.label, new.label) for old, new in zip(before, after, strict=True))
    return Numbering(renumbered, labels, tuple(pair for pair in pairs if pair[0] != pair[1]))


def _labeled(playbook: Playbook) -> Iterator[Step]:
    for step in playbook.steps:
        yield step
        for branch in step.branches:
            yield from (substep for substep in branch.steps if substep.label)


def _step(step: Step, number: int) -> Step:
    count = sum(1 for branch in step.branches for substep in branch.steps if substep.label)
    letters = iter(ascii_lowercase) if count <= len(ascii_lowercase) else None

    def branch(one: Branch) -> Branch:
        return replace(one, steps=tuple(map(substep, one.steps)))

    def substep(one: Step) -> Step:
        letter = (next(letters) if letters else one.label[-1]) if one.label else ""
        return replace(one, number=number, label=f"{number}{letter}" if letter else "")

    return replace(step, number=number, label=str(number), branches=tuple(map(branch, step.branches)))
