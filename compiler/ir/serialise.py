"""A program as JSON and back, and the JSON Schema of that form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from compiler.ir.program import Program
from compiler.ir.unseen import shown_json

LARGEST_NUMBER = 2**31 - 1
"""What every target can count to, and no program needs."""

MAY_BE_MISSING: Mapping[str, Mapping[str, object]] = {
    "Program": {"name": None, "title": None, "sources": None},
    "Node": {"title": "", "origin": None, "edges": []},
    "Group": {"title": "", "prompt": "", "kind": "step", "parent": "", "origin": None},
    "Register": {"scope": ""},
    "Edge": {"guard": [], "effects": []},
    "Shell": {"interpreter": "bash"},
    "Agent": {"agent": "", "kind": "agent"},
    "Tool": {"arguments": "{}"},
    "Contract": {"workflow": "{}"},
}
"""What a program that is written by hand need not say, by class, besides what the model has defaults for.

None stands for what the file and the place in it say.
"""

UNWRITTEN: Mapping[str, frozenset[str]] = {
    "Program": frozenset({"secrets", "jumps", "artifact", "folder", "contexts", "contract"}),
    "Node": frozenset({"constants"}),
    "Task": frozenset({"optional", "report", "context"}),
    "Context": frozenset({"after"}),
    "SourceFile": frozenset({"read_by"}),
}
"""What few programs have, by class: it is not written where there is none."""

_VERSION = "https://json-schema.org/draft/2020-12/schema"


@cache
def _adapter() -> TypeAdapter[Program]:
    return TypeAdapter(Program)


def to_json(program: Program) -> str:
    """The JSON form: indented, keys in the order of the model, ending in a newline."""
    written = _adapter().dump_python(program, mode="json")
    tasks = [node["task"] for node in written["nodes"]]
    tasks += [entry for task in tasks for entry in task.get("entries", ())]
    if written["kind"] == Program.kind:
        del written["kind"]
    parts_of = {
        "Program": [written],
        "SourceFile": written["sources"],
        "Node": written["nodes"],
        "Task": tasks,
        "Context": written["contexts"],
    }
    for name, parts in parts_of.items():
        for part in parts:
            for key in UNWRITTEN[name].intersection(part):
                if not part[key]:
                    del part[key]
    return shown_json(json.dumps(written, indent=2, ensure_ascii=False)) + "\n"


def from_json(text: str) -> Program:
    """The program of a JSON form, with or without the note of the json target.

    Raises:
        ValueError: It is no JSON, or (as a `pydantic.ValidationError`) not that of a program.
    """
    content = json.loads(text)
    if isinstance(content, dict):
        content.pop("generated", None)
    return _adapter().validate_json(json.dumps(content))


def schema() -> dict[str, Any]:
    """The JSON Schema of programs as they may be written by hand, published as `docs/program.schema.json`.

    What `to_json` writes follows it too. The notes that a file may have on itself are part of it.
    """
    form = _adapter().json_schema()
    notes = {
        "$schema": {
            "type": "string",
            "description": "The address of this schema, for editors.",
        },
        "generated": {"type": "string", "description": "Where a file comes from; no part of the program."},
    }
    for name, shape in (("Program", form), *form["$defs"].items()):
        _loosen(name, shape)
    task = form["$defs"]["Node"]["properties"]["task"]["anyOf"]
    agent = task.index({"$ref": "#/$defs/Agent"})
    task[agent] = {**task[agent], "required": ["kind"]}  # where nothing but agents can stand, they need not say so
    for value in _values(form):
        if value.get("type") == "integer":
            value |= {"minimum": -LARGEST_NUMBER, "maximum": LARGEST_NUMBER}
    return {"$schema": _VERSION, **form, "properties": {**notes, **form["properties"]}}


def _loosen(name: str, shape: dict[str, Any]) -> None:
    """Requires of an object what a person has to say; what is one of several things says which one it is."""
    missing = MAY_BE_MISSING.get(name, {})
    required = [key for key in shape.get("required", ()) if key not in missing]
    is_tagged = "const" in shape["properties"].get("kind", {}) and "kind" not in missing
    shape["required"] = [*(["kind"] if is_tagged else []), *required]


def _values(form: object) -> Iterator[dict[str, Any]]:
    """All objects in a schema."""
    if isinstance(form, dict):
        yield form
        form = list(form.values())
    if isinstance(form, list):
        for inner in form:
            yield from _values(inner)
