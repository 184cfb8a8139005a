"""A program as JSON. `compiler/frontends/json` reads it, and has its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from compiler.ir.program import USUAL_KIND, Program
from compiler.ir.texts import Text, to_plain
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


def to_json(program: Program) -> str:
    """The JSON form: indented, keys in the order of the model, ending in a newline."""
    written = plain(program)
    tasks = [node["task"] for node in written["nodes"]]
    tasks += [entry for task in tasks for entry in task.get("entries", ())]
    if written["kind"] == USUAL_KIND:
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
    # The encoder of Python's library indents in Python, with a string for each bracket.
    return msgspec.json.format(shown_json(json.dumps(written, ensure_ascii=False)), indent=2) + "\n"


def plain(value: Any) -> Any:  # noqa: ANN401 (any part of the model, and what JSON has for it)
    """A part of the model as JSON has it."""
    if isinstance(value, Text):
        return to_plain(value)
    if isinstance(value, Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    return [plain(item) for item in value] if isinstance(value, tuple) else value
