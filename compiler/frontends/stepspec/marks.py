"""The marks of a step specification (see `compiler/frontends/common/marks.py`)."""

from compiler.frontends.common.interface import Job
from compiler.frontends.common.marking import Marker, entries_of, items, unfit_name
from compiler.frontends.common.marks import Kind, Mark, Marks
from compiler.frontends.stepspec.placeholders import FOLDERS, PLACEHOLDER, TEMPLATE_FOLDER
from compiler.frontends.stepspec.syntax import STEPS
from compiler.reading.entries import Entry

_FILLED = ("description", "inputs", "outputs", "templates")


def marks_of(job: Job) -> Marks:
    """Return the marks of a specification, also after errors."""
    marker = Marker(job.source)
    entries = entries_of(job.source, STEPS)
    marker.options(entries)
    marker.keys(entries)
    steps = items(entries)
    for entry in entries:
        match entry.path:
            case (steps_key, _, "id") if steps_key == STEPS:
                marker.define(Kind.STEP, entry.value, steps.get(entry.path[:2]))
            case ("config",):
                marker.refer(Kind.DOCUMENT, entry.value)
            case ("config", "variables", _) | ("config", "runtime", "variables", _):
                marker.define(Kind.INPUT, entry.key, entry.whole)
            case _ if entry.is_text and _is_filled(entry):
                marker.placeholders(PLACEHOLDER, entry.inside, Kind.INPUT)
    return marker.marks()


def _is_filled(entry: Entry) -> bool:
    """Return whether the placeholders in a value are replaced."""
    head, key, inner = entry.path[:1], entry.path[2:3], entry.path[4:5]
    return head == (STEPS,) and (key[0:1] != () and (key[0] in _FILLED or (key == ("tools",) and inner == ("args",))))


def name_issue(mark: Mark, new: str) -> str:
    """Return why a part can't be renamed, or can't have a new name, or ""."""
    if mark.kind is Kind.STEP:
        return ""
    if mark.name in (*FOLDERS, TEMPLATE_FOLDER):
        return f"`{mark.name}` is a word of the format, which has no other name"
    return unfit_name(new, f"an {mark.kind}")
