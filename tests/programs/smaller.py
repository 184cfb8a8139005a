"""Cases made smaller in the terms of programs, where taking away what was drawn at random leaves too much.

What would be no valid program is not tried.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from compiler.ir.verify import issues
from tests.programs.cases import Case, Json
from tests.support.program_json import from_json


def made_smaller(case: Case, still: Callable[[Case], bool], seconds: float) -> Case:
    """The smallest case found within a time that is still what it shall be."""
    until = time.monotonic() + seconds
    found: Case | None = case
    while found:
        case = found
        candidates = (smaller for smaller in _smaller(case) if time.monotonic() < until and _is_valid(smaller))
        found = next((smaller for smaller in candidates if still(smaller)), None)
    return case


def _is_valid(case: Case) -> bool:
    try:
        return not issues(from_json(case.text))
    except ValueError:
        return False


def _smaller(case: Case) -> Iterator[Case]:
    for number in range(len(case.program["nodes"]) - 1):
        yield _without_node(case, number)
    for path in _lists(case.program):
        yield replace(case, program=_cut(case.program, path))
    yield from _smaller_replies(case)
    for node in case.program["nodes"]:
        for key in ("title", "prompt", "message", "reason", "block"):
            if (node if key == "title" else node["task"]).get(key):
                yield _without_text(case, node["id"], key)


def _smaller_replies(case: Case) -> Iterator[Case]:
    for step, replies in case.replies.items():
        for number in range(len(replies)):
            if len(replies) > 1:
                yield replace(case, replies={**case.replies, step: replies[:number] + replies[number + 1 :]})
        for number, reply in enumerate(replies):
            for simple in _simpler(reply):
                others = [*replies[:number], simple, *replies[number + 1 :]]
                yield replace(case, replies={**case.replies, step: others})


def _without_node(case: Case, number: int) -> Case:
    """Without a node; what led there leads to the next one."""
    program = copy.deepcopy(case.program)
    gone = program["nodes"].pop(number)["id"]
    target = program["nodes"][number]["id"]
    for node in program["nodes"]:
        for edge in node["edges"]:
            edge["target"] = target if edge["target"] == gone else edge["target"]
    program["entry"] = target if program["entry"] == gone else program["entry"]
    return Case(program, case.inputs, {step: found for step, found in case.replies.items() if step != gone})


CUT = {
    "contexts",
    "text",
    "edges",
    "effects",
    "guard",
    "variables",
    "registers",
    "slots",
    "entries",
    "keywords",
    "prompt",
    "arguments",
}


def _lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to what may be taken out of a list."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in CUT and isinstance(inner, list):
                yield from ((*path, key, number) for number in range(len(inner)))
            yield from _lists(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _lists(inner, (*path, number))


def _cut(program: Json, path: tuple[Any, ...]) -> Json:
    program = copy.deepcopy(program)
    holder: Any = program
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return program


def _simpler(reply: Json) -> Iterator[Json]:
    for key in ("says", "answer", "output"):
        text = reply.get(key)
        if text:
            yield {**reply, key: ""}
            lines = text.splitlines(keepends=True)
            if len(lines) > 1:
                yield from ({**reply, key: "".join(lines[:at] + lines[at + 1 :])} for at in range(len(lines)))
    for at, entry in enumerate(reply.get("entries", [])):
        for simple in _simpler(entry):
            yield {"entries": [*reply["entries"][:at], simple, *reply["entries"][at + 1 :]]}
    if isinstance(reply.get("reply"), str) and reply["reply"]:
        yield {"reply": ""}


def _without_text(case: Case, step: str, key: str) -> Case:
    program = copy.deepcopy(case.program)
    node = next(node for node in program["nodes"] if node["id"] == step)
    (node if key == "title" else node["task"])[key] = ""
    return replace(case, program=program)
