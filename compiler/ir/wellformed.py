"""Check a single task or input (docs/reference/program-rules.md, I8 to I15)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal, assert_never

from compiler.ir.patterns import pattern_problem
from compiler.ir.program import Input
from compiler.ir.tasks import UNREAD, Agent, Ask, Branch, End, Gate, Parallel, Reading, Shell, Stage, Task, Tool
from compiler.ir.texts import Text
from runtime_shim.data.fitting import unfit
from runtime_shim.tasks.reading import SPACES

_INSIDE = "\ue000"
"""Replaces a reference while arguments are parsed. In the author's own text it is replaced by a space first."""


def task_problems(task: Task) -> Iterator[str]:
    """Yield the problems of a task."""
    match task:
        case Ask():
            yield from _options(task)
        case Agent(reading=reading):
            yield from _reading(reading)
        case Tool(arguments=arguments):
            yield from object_problems(arguments, "the arguments")
        case Parallel():
            yield from _parallel(task)
        case Stage():
            yield from _stage(task)
        case Shell() | Gate() | Branch() | End():
            return
        case _:
            assert_never(task)


def _stage(task: Stage) -> Iterator[str]:
    """Check the fields of a stage (I32)."""
    if bool(task.checks) != (task.stage == "validation"):
        yield "a validation needs checks, and other stages cannot have any"
    if task.stage == "tool" and not task.subject:
        yield "a tool has no name"
    if task.subject and task.stage not in {"tool", "outputs"}:
        yield f"a stage of the kind {task.stage} cannot have a subject"
    if task.place and task.stage != "tool":
        yield "only a tool can have a place"


def _options(task: Ask) -> Iterator[str]:
    written = [str(option) for option in task.options]
    if (task.question == "select") != bool(written) or len(written) != len(set(written)) or not all(written):
        yield f"the options are not valid for a question of the kind {task.question}"


def _reading(reading: Reading) -> Iterator[str]:
    for keyword in reading.keywords:
        if not keyword or keyword != keyword.strip(SPACES) or "\n" in keyword:
            yield f"the keyword {keyword!r} is empty, has white space at either end, or has more than one line"
        if keyword in UNREAD:
            yield f"the keyword {keyword} is reserved for answers without a keyword"
    if len(reading.keywords) != len({keyword.casefold() for keyword in reading.keywords}):
        yield "two keywords differ only in case"
    if not {*reading.excused, *reading.failing} <= set(reading.keywords):
        yield "an excused or failing word is not a keyword"
    if reading.validation is None:
        return
    if not reading.keywords:
        yield "a validation needs keywords"
    if problem := pattern_problem(reading.validation):
        yield f"the validation pattern {problem}"


def _parallel(task: Parallel) -> Iterator[str]:
    if not task.entries:
        yield "it has no entries"
    if len({bool(entry.reading.keywords) for entry in task.entries}) > 1:
        yield "only some of its entries have keywords"
    if not {*task.failing, *task.unanimous} <= set(task.keywords):
        yield "a failing or unanimous word is not a keyword"
    elif any(not set(task.unanimous) <= set(entry.reading.keywords) for entry in task.entries):
        yield "a unanimous word is not a keyword of every entry"
    for entry in task.entries:
        yield from _reading(entry.reading)


def object_problems(written: Text, about: str) -> Iterator[str]:
    """Yield the problems of a text that must be a JSON object with references only inside strings (I13)."""
    parts = written.parts
    references = sum(not isinstance(part, str) for part in parts)
    marked = "".join(part.replace(_INSIDE, " ") if isinstance(part, str) else _INSIDE for part in parts)
    try:
        found = json.loads(marked, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        yield f"{about} are not valid JSON"
        return
    if not isinstance(found, dict):
        yield f"{about} are not a JSON object"
    if any(item.before or item.after for item in written.references) or _marks(found) != references:
        yield f"a reference in {about} is outside a string, or has `before` or `after`"


def _no_constant(name: str) -> None:
    """Reject NaN and infinity, which Python reads but JSON doesn't have."""
    raise ValueError(name)


def _marks(value: object) -> int:
    """Return the number of references in the strings of a JSON value, without its keys."""
    if isinstance(value, str):
        return value.count(_INSIDE)
    if isinstance(value, list):
        return sum(map(_marks, value))
    return sum(map(_marks, value.values())) if isinstance(value, dict) else 0


Field = Literal["options", "pattern", "default"]


def input_problems(declared: Input) -> Iterator[tuple[Field, str]]:
    """Yield the problems of an input, each with its field."""
    if (declared.type == "choice") != bool(declared.options):
        yield "options", f"the options are not valid for the type {declared.type}"
    if not all(declared.options) or len(declared.options) != len(set(declared.options)):
        yield "options", "an option is empty or duplicated"
    if declared.pattern is not None and (problem := pattern_problem(declared.pattern)):
        yield "pattern", f"the pattern {problem}"
        return
    if declared.default is not None:
        problem = unfit(declared.default, declared.type, declared.options, declared.pattern)
        if problem:
            yield "default", f"the default is not valid: {problem}"
