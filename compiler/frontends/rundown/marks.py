"""The marks of a runbook (see `compiler/frontends/common/marks.py`)."""

from collections.abc import Iterator, Mapping

from compiler.diagnostics.issues import OptionSource
from compiler.frontends.common.interface import Job
from compiler.frontends.common.marking import Marker, entries_of_frontmatter, numbered, sections, unfit_name, whole
from compiler.frontends.common.marks import Kind, Mark, Marks
from compiler.frontends.rundown import PROSE
from compiler.frontends.rundown.parse.blocks import Block
from compiler.frontends.rundown.parse.lines import RESERVED, Header
from compiler.frontends.rundown.parse.outline import HEADERS, scan
from compiler.frontends.rundown.syntax import EXECUTABLE, Goto, Transition
from compiler.ir.sameness import variables
from compiler.ir.texts import is_identifier
from compiler.reading.frontmatter import block_lines
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

_ID = Regex(r"(\{N\}|\w+)(?:\.(\{n\}|\w+))?")
_VALUE = Regex(r"(?<!\$)\{\{([A-Za-z_]\w*)\}\}")


def marks_of(job: Job) -> Marks:
    """Return the marks of a runbook, also after errors."""
    return _marks(job.source, PROSE.first(job.configured) or {})


def step_references(source: Source) -> Marks:
    """Return the references to steps in the frontmatter, each to a whole path such as `1.2/lint.runbook.md/3`."""
    marker = Marker(source, entries_of_frontmatter(source), whole)
    return tuple(mark for mark in marker.found if mark.kind is Kind.STEP)


def steps_below(source: Source) -> Marks:
    """Return the marks of steps below the frontmatter."""
    above = block_lines(source)
    return tuple(mark for mark in _marks(source, {}) if mark.kind is Kind.STEP and mark.span.line not in above)


def _marks(source: Source, prose: Mapping[str, OptionSource]) -> Marks:
    scanned = scan(source, prose)
    marker = Marker(source, entries_of_frontmatter(source), ids)
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
    """Yield the step and the substep of a reference such as `1.2/lint.runbook.md/3`; a number has no leading zeros."""
    if found := _ID.match(text):
        step, child = (part.lstrip("0") or "0" if part.isdecimal() else part for part in found.groups(""))
        yield *found.span(1), step
        if child:
            yield *found.span(2), f"{step}.{child}"


def _header(marker: Marker, block: Block, header: Header, extent: Span | None) -> None:
    own, depth = (header.step, 1) if block.type == "STEP" else (header.child, 2)
    found = [(block.span.part(start, end), name) for start, end, name in ids(block.text)][:depth]
    for place, parent in found[:-1]:
        marker.refer(Kind.STEP, place, parent)
    for place, name in found[-1:] if own is not None else ():
        fixed = "" if isinstance(own, str) else numbered(name)
        marker.define(Kind.STEP, place, extent, block.text, name, fixed)


def _transition(marker: Marker, transition: Transition) -> None:
    if isinstance(transition.action, Goto) and transition.action.target.step is not None:
        target = transition.action.target
        text = marker.text(target.span)
        name = text.removeprefix("NEXT").lstrip() if target.next else text
        marker.refer_to_step(target.span.part(len(text) - len(name), len(text)))


def _values(marker: Marker, block: Block) -> None:
    """Add the inputs and outputs that a block shows, or that its command reads and writes."""
    inside = Span(block.line, 1, block.end_line, len(marker.source.lines[block.end_line - 1]) + 1)
    is_command = block.type == "CODE" and block.info.strip() in EXECUTABLE
    for pattern in variables(block.text) if is_command else (_VALUE,):
        for _, span in marker.matches(pattern, inside):
            marker.refer(Kind.PLACEHOLDER, span, maybe=is_command)
