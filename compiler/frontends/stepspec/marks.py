"""The marks of a step specification (see `compiler/frontends/common/marks.py`)."""

from collections.abc import Iterator

from compiler.frontends.common.interface import Job
from compiler.frontends.common.marking import Marker, entries_of, first_part, unfit_name
from compiler.frontends.common.marks import Kind, Mark, Marks
from compiler.frontends.stepspec.placeholders import FOLDERS, PLACEHOLDER, TEMPLATE_FOLDER
from compiler.frontends.stepspec.syntax import STEPS
from compiler.reading.entries import Entry
from compiler.text.regex import Regex

_GATE = Regex(r".*:(?P<step>[^:/]+):hitl|tool:.*:(?P<tool>[^:/]+)")
_FILLED = (("description",), ("inputs",), ("outputs",), ("templates",))


def marks_of(job: Job) -> Marks:
    """Return the marks of a specification, also after errors."""
    marker = Marker(job.source, entries_of(job.source, STEPS), ids)
    for entry in marker.entries:
        match entry.path:
            case (steps_key, _, "id") if steps_key == STEPS:
                marker.define(Kind.STEP, entry.value, marker.items.get(entry.path[:2]))
            case ("config",):
                marker.refer(Kind.DOCUMENT, entry.value)
            case ("config", "variables", _) | ("config", "runtime", "variables", _):
                marker.define(Kind.INPUT, entry.key, entry.whole, fixed=_fixed(entry.path[-1]))
            case _ if entry.is_text and _is_filled(entry):
                for found, span in marker.matches(PLACEHOLDER, entry.inside):
                    marker.refer(Kind.INPUT, span, fixed=_fixed(found[1]))
    return marker.marks()


def _fixed(name: str) -> str:
    return f"`{name}` is a word of the format, so it has no other name" if name in (*FOLDERS, TEMPLATE_FOLDER) else ""


def _is_filled(entry: Entry) -> bool:
    head, key, inner = entry.path[:1], entry.path[2:3], entry.path[4:5]
    return head == (STEPS,) and (key in _FILLED or (key == ("tools",) and inner == ("args",)))


def ids(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the step of a reference such as `draft/validation` or `module:workflow:draft:hitl`."""
    gate = _GATE.fullmatch(text)
    return iter([(*gate.span(gate.lastgroup or 0), gate[gate.lastgroup or 0])]) if gate else first_part(text)


def name_issue(mark: Mark, new: str) -> str:
    """Return why a part can't have a new name, or ""."""
    if mark.kind is Kind.STEP:
        return ""  # compiling the document checks it
    return unfit_name(new, f"an {mark.kind}")
