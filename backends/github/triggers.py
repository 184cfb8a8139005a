"""What starts a workflow: the option `on`, with the inputs that a workflow with prompts needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from backends.github.scalar import scalar

INPUTS = {
    "answers": {"description": "Answers to prompts, such as: 3 yes; pass", "type": "string"},
    "resume": {"description": "The number of a run that waits, to go on with it", "type": "string"},
}


def triggers(events: Mapping[str, Any], *, resumable: bool) -> str:
    """The lines below `on:`."""
    if resumable:
        manual = dict(events.get("workflow_dispatch") or {})
        manual["inputs"] = {**manual.get("inputs", {}), **INPUTS}
        events = {**events, "workflow_dispatch": manual}
    return "\n".join(_lines(events, 2))


def _lines(values: Mapping[str, Any], indent: int) -> Iterator[str]:
    """A mapping as block YAML; lists, numbers and truth values in it are written as JSON, which YAML contains."""
    for key, value in values.items():
        begin = f"{' ' * indent}{scalar(str(key))}:"
        if isinstance(value, dict) and value:
            yield begin
            yield from _lines(value, indent + 2)
        elif value is None or value == {}:
            yield begin
        else:
            yield f"{begin} {scalar(value, indent + 2) if isinstance(value, str) else json.dumps(value)}"
