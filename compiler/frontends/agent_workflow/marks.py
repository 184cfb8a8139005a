"""The marks of an agent workflow (see `compiler/frontends/common/marks.py`)."""

from compiler.frontends.agent_workflow.syntax import FILE_NAME
from compiler.frontends.common.interface import Job
from compiler.frontends.common.marking import Marker, entries_of, first_part
from compiler.frontends.common.marks import Kind, Mark, Marks
from compiler.text.regex import Regex

_NAME = Regex(FILE_NAME)

ids = first_part


def marks_of(job: Job) -> Marks:
    """Return the marks of a workflow, also after errors."""
    marker = Marker(job.source, entries_of(job.source))
    for entry in marker.entries:
        match entry.path:
            case ("steps", _, "name"):
                marker.define(Kind.STEP, entry.value, marker.items.get(entry.path[:2]))
            case ("steps", _, "next") | ("steps", _, "conditions", _, "goto"):
                marker.refer(Kind.STEP, entry.value)
            case ("steps", _, "agent") | ("steps", _, "parallel", _, "agent"):
                marker.refer(Kind.AGENT, entry.value)
    return marker.marks()


def name_issue(_: Mark, new: str) -> str:
    """Return why a step can't have a new name, or ""."""
    fits = _NAME.fullmatch(new)
    return "" if fits else "a step's name has letters, digits, `.`, `_` and `-`, and starts with a letter or digit"
