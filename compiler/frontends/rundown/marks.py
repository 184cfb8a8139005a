"""The marks of a runbook (see `compiler/frontends/common/marks.py`)."""

from collections.abc import Iterator

from compiler.frontends.common.interface import Job
from compiler.frontends.common.marking import Marker, entries_of_frontmatter, numbered, sections, unfit_name
from compiler.frontends.common.marks import Kind, Mark, Marks
from compiler.frontends.rundown import PROSE
from compiler.frontends.rundown.parse.blocks import Block
from compiler.frontends.rundown.parse.lines import RESERVED, Header
from compiler.frontends.rundown.parse.outline import HEADERS, scan
from compiler.frontends.rundown.syntax import EXECUTABLE, Goto, Identifier, Transition, spell
from compiler.ir.texts import is_identifier
from compiler.text.regex import Regex
from compiler.text.source import Span

_ID = Regex(r"(\{N\}|\w+)(?:\.(\{n\}|\w+))?")
_VALUE = Regex(r"(?<!\$)\{\{([A-Za-z_]\w*)\}\}")
_VARIABLE = Regex(r"(?<!\\)\$\{?[#!]?([A-Za-z_]\w*)")
_WRITTEN = Regex(r"(?<![\w${.-])([A-Za-z_]\w*)(?==(?!=)|<<(?!<))")


def marks_of(job: Job) -> Marks:
    """Return the marks of a runbook, also after errors."""
    source = job.source
    scanned = scan(source, PROSE.first(job.configured) or {})
    marker = Marker(source, ids)
    entries = entries_of_frontmatter(source)
    marker.options(entries)
    marker.keys(entries)
    headings = (block for block in scanned.blocks if block.type in HEADERS or block.type == "PROSE")
    extents = sections(source, ((block.line, 2 if block.type == "SUBSTEP" else 1) for block in headings))
    lines = enumerate(source.lines, 1)
    signs = {number for number, line in lines if "$" in line or "{{" in line or "RDC_OUTPUT" in line}  # few lines
    has_steps = False
    for block in scanned.outline:
        has_steps = has_steps or block.type in HEADERS
        if isinstance(block.parsed, Header):
            _header(marker, block, block.parsed, extents.get(block.line))
        elif isinstance(block.parsed, Transition):
            _transition(marker, block.parsed)
        elif block.type == "RUNBOOK":
            marker.refer(Kind.DOCUMENT, block.span)
        if has_steps and not signs.isdisjoint(range(block.line, block.end_line + 1)):
            _values(marker, block)
    return marker.marks()


def name_issue(mark: Mark, new: str) -> str:
    """Return why a part can't have a new name, or ""."""
    if mark.kind is not Kind.STEP:
        return unfit_name(new, f"an {mark.kind}")
    if new in RESERVED:
        return f"`{new}` is a word of the language; choose another name"
    return "" if is_identifier(new) else "a step's name has letters, digits and `_`, and doesn't start with a digit"


def ids(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the step and the substep of a reference such as `1.2/lint.runbook.md/3`."""
    if found := _ID.match(text):
        yield 0, found.end(1), found[1]
        if found[2]:
            yield found.start(2), found.end(2), found[0]


def _header(marker: Marker, block: Block, header: Header, extent: Span | None) -> None:
    step, child = _parts(block.line, block.column, block.text)
    if block.type == "STEP":
        marker.define(Kind.STEP, step, extent, block.text, spell(header.step), _fixed(header.step, spell(header.step)))
    elif header.child is not None:
        marker.refer(Kind.STEP, step, spell(header.step))
        name = f"{spell(header.step)}.{spell(header.child)}"
        marker.define(Kind.STEP, child, extent, block.text, name, _fixed(header.child, name))


def _fixed(identifier: Identifier, name: str) -> str:
    return "" if isinstance(identifier, str) else numbered(name)


def _transition(marker: Marker, transition: Transition) -> None:
    if not isinstance(transition.action, Goto):
        return
    target = transition.action.target
    text = marker.text(target.span)
    name = text.removeprefix("NEXT").lstrip() if target.next else text
    step, child = _parts(target.span.line, target.span.column + len(text) - len(name), name)
    if target.step is not None:
        marker.refer(Kind.STEP, step, spell(target.step))
        if target.child is not None:
            marker.refer(Kind.STEP, child, f"{spell(target.step)}.{spell(target.child)}")


def _parts(line: int, column: int, text: str) -> tuple[Span | None, Span | None]:
    """Return the places of a step and of its substep at the start of a text."""
    found = [Span(line, column + start, line, column + end) for start, end, _ in ids(text)]
    step, child, *_ = (*found, None, None)
    return step, child


def _values(marker: Marker, block: Block) -> None:
    """Add the inputs and outputs that a block shows, or that its command reads and writes."""
    inside = Span(block.line, 1, block.end_line, len(marker.source.lines[block.end_line - 1]) + 1)
    is_command = block.type == "CODE" and block.info.strip() in EXECUTABLE
    writes = is_command and "RDC_OUTPUT" in block.text
    for pattern in ((_VARIABLE, _WRITTEN) if writes else (_VARIABLE,)) if is_command else (_VALUE,):
        for _, span in marker.matches(pattern, inside):
            marker.refer(Kind.PLACEHOLDER, span, maybe=is_command)
