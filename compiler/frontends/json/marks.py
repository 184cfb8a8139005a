"""The marks of a program as JSON (see `compiler/frontends/common/marks.py`)."""

from compiler.frontends.common.interface import Job
from compiler.frontends.common.marking import Marker, entries_of, whole
from compiler.frontends.common.marks import Kind, Mark, Marks
from compiler.frontends.json.check import LONGEST_NAME
from compiler.reading.entries import Entry
from compiler.text.source import KeyPath

ids = whole


def marks_of(job: Job) -> Marks:
    """Return the marks of a program, also after errors."""
    marker = Marker(job.source, entries_of(job.source), ids)
    given = {marker.text(one.value) for one in marker.entries if one.value and _is_input(one.path)}
    for entry in marker.entries:
        if _is_input(entry.path):
            marker.define(Kind.INPUT, entry.value, marker.items.get(entry.path[:2]))
        elif entry.path[2:] == ("id",) and entry.path[0] in ("nodes", "groups"):
            marker.define(Kind.STEP, entry.value, marker.items.get(entry.path[:2]))
        else:
            _mark(marker, entry, given)
    return marker.marks()


def name_issue(_: Mark, new: str) -> str:
    """Return why a part can't have a new name, or ""."""
    if not new.isprintable() or not new.strip() or {'"', "\\"} & set(new) or len(new) > LONGEST_NAME:
        return f"a name is a printable text of at most {LONGEST_NAME} characters without quotes and backslashes"
    return ""


def _is_input(path: KeyPath) -> bool:
    return len(path) == 3 and (path[0], path[2]) == ("inputs", "name")


def _mark(marker: Marker, entry: Entry, given: set[str]) -> None:
    """Add the reference in a value, or the definition of a slot."""
    match entry.path:
        case (
            ("entry",)
            | ("nodes", _, "group")
            | ("nodes", _, "edges", _, "target")
            | ("nodes", _, "edges", _, "settles" | "written", _, "step")
            | ("nodes", _, "edges", _, "effects", _, "scope")
            | ("nodes", _, "task", "step")
            | ("groups", _, "parent")
            | ("registers", _, "of" | "scope")
            | ("jumps", _, "id" | "target")
            | ("jumps", _, "entering", _, "group")
            | ("rules", _, "guards" | "opens" | "closes", _, "step")
            | ("rules", _, "scope")
            | ("rules", _, "persons", _)
            | ("stepspec", "steps", _, "id")
        ):
            marker.refer(Kind.STEP, entry.value, maybe=entry.path[-1] != "target")
        case ("slots", _, "name") if entry.value and marker.text(entry.value) not in given:
            marker.define(Kind.OUTPUT, entry.value, None)
        case ("slots", _, "name") | ("folder",) | (*_, "slot" | "register"):
            marker.refer(Kind.PLACEHOLDER, entry.value, maybe=True)
        case ("nodes", _, "task", "agent") | ("nodes", _, "task", "entries", _, "agent"):
            marker.refer(Kind.AGENT, entry.value)
