"""The marks of a playbook (see `compiler/frontends/common/marks.py`)."""

from msgspec.structs import replace

from compiler.frontends.common.interface import Job
from compiler.frontends.common.marking import Marker, entries_of_frontmatter, first_part, numbered, sections, unfit_name
from compiler.frontends.common.marks import Kind, Mark, Marks
from compiler.frontends.playbook.lower.nodes import PLACEHOLDER
from compiler.frontends.playbook.parse.document import scan
from compiler.frontends.playbook.parse.lines import HEADINGS, Line
from compiler.reading.frontmatter import read_block
from compiler.text.regex import Regex
from compiler.text.source import Span

_REPLY = Regex(r"__elicit_step_(?=\d)")
_FILE = Regex(r"\(\s*file:\s*([^\s)]+)")
_INNER = ("SUBSTEP", "ELIF", "ELSE", "ENDIF")
"""The lines that end a sub-step."""

ids = first_part

_SHOWN = ("STEP", "SYSTEM", "ARTIFACTS")


def marks_of(job: Job) -> Marks:
    """Return the marks of a playbook, also after errors."""
    source = job.source
    marker = Marker(source, entries_of_frontmatter(source))
    lines = scan(source, read_block(source)[1]).lines
    headings = (line for line in lines if line.kind in (*HEADINGS, *_INNER))
    extents = sections(source, ((line.number, 1 if line.kind in HEADINGS else 2) for line in headings))
    section = ""
    for line in lines:
        section = line.kind if line.kind in HEADINGS else section
        match line.kind:
            case "STEP" | "SUBSTEP":
                _step(marker, line, extents[line.number])
            case "INPUT":
                marker.define(Kind.INPUT, line.within("name"), line.span)
            case "OUTPUT":
                marker.define(Kind.OUTPUT, line.within("name"), line.span)
            case "IF" | "ELIF":
                marker.refer(Kind.PLACEHOLDER, line.within("name"))
            case _ if section in _SHOWN:
                _shown(marker, line)
    return marker.marks()


def name_issue(mark: Mark, new: str) -> str:
    """Return why an input or output can't have a new name, or ""."""
    return unfit_name(new, f"an {mark.kind}")


def _step(marker: Marker, line: Line, extent: Span) -> None:
    number = line.within("number")
    letter = line.within("letter") if line.kind == "SUBSTEP" else number
    place = replace(number, end_column=letter.end_column)
    title = marker.text(line.span).lstrip("# ")
    marker.define(Kind.STEP, place, extent, title, fixed=numbered(marker.text(place)))


def _shown(marker: Marker, line: Line) -> None:
    """Add the values that a line shows, and the file that it includes."""
    inside = Span(line.number, 1, line.last, len(marker.source.lines[line.last - 1]) + 1)
    for found, span in marker.matches(PLACEHOLDER, inside):
        reply = _REPLY.match(found[1])
        if reply:
            marker.refer_to_step(replace(span, column=span.column + reply.end()))
        else:
            marker.refer(Kind.PLACEHOLDER, span)
    if line.kind == "PROMPT":
        for _, span in marker.matches(_FILE, inside):
            marker.refer(Kind.DOCUMENT, span)
