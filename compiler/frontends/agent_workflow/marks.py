"""The marks of an agent workflow (see `compiler/frontends/common/marks.py`)."""

from compiler.frontends.agent_workflow.syntax import FILE_NAME
from compiler.frontends.common.interface import Job
from compiler.frontends.common.marking import Marker, entries_of, items
from compiler.frontends.common.marks import Kind, Mark, Marks
from compiler.text.regex import Regex

_NAME = Regex(FILE_NAME)


def marks_of(job: Job) -> Marks:
    """Return the marks of a workflow, also after errors."""
    marker = Marker(job.source)
    entries = entries_of(job.source)
    marker.options(entries)
    marker.keys(entries)
    steps = items(entries)
    for entry in entries:
        match entry.path:
            case ("steps", _, "name"):
                marker.define(Kind.STEP, entry.value, steps.get(entry.path[:2]))
            case ("steps", _, "next") | ("steps", _, "conditions", _, "goto"):
                marker.refer(Kind.STEP, entry.value)
            case ("steps", _, "agent") | ("steps", _, "parallel", _, "agent"):
                marker.refer(Kind.AGENT, entry.value)
    return marker.marks()


def name_issue(mark: Mark, new: str) -> str:
    """Return why a part can't be renamed, or can't have a new name, or ""."""
    if mark.kind is not Kind.STEP:
        return f"every workflow has the {mark.kind} `{mark.name}`, which has no other name"
    fits = _NAME.fullmatch(new)
    return "" if fits else "a step's name has letters, digits, `.`, `_` and `-`, and starts with a letter or digit"
