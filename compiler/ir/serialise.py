"""A program as JSON. `compiler/frontends/json` reads it, and has its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

from msgspec import json

from compiler.ir.edges import Edge, Origin
from compiler.ir.program import (
    USUAL_KIND,
    Constant,
    Context,
    Input,
    Jump,
    Node,
    Program,
    Register,
    Settings,
    Slot,
    SourceFile,
    Variable,
)
from compiler.ir.tasks import Agent, Parallel, Reading, Tool
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

UNWRITTEN: Mapping[type, frozenset[str]] = {
    Program: frozenset({"secrets", "jumps", "artifact", "folder", "contexts", "contract"}),
    Node: frozenset({"constants"}),
    Agent: frozenset({"report", "context"}),
    Tool: frozenset({"optional"}),
    Parallel: frozenset({"report"}),
    Context: frozenset({"after"}),
    SourceFile: frozenset({"read_by"}),
}
"""What few programs have, by class: it is not written where there is none."""

_TEXTLESS: frozenset[type] = frozenset(
    {str, int, bool, NoneType, Origin, Edge, Settings, Variable, Constant, Register, Slot, Input, Jump, Reading}
)
"""Classes that have no `Text` in them: what most of a program is made of, and msgspec writes it as it is."""


def to_json(program: Program) -> str:
    """The JSON form: indented, keys in the order of the model, ending in a newline."""
    written = _written(program)
    if program.kind == USUAL_KIND:
        del written["kind"]
    # Before it is indented, it is half as long to look through.
    return json.format(shown_json(json.encode(written).decode()), indent=2) + "\n"


def plain(value: Any) -> Any:  # noqa: ANN401 (any part of the model, and what JSON has for it)
    """A part of the model as JSON has it."""
    return json.decode(json.encode(_written(value)))


def _written(value: Any) -> Any:  # noqa: ANN401 (any part of the model, and what msgspec can write)
    """A part of the model with its texts as JSON has them, and without what is not written."""
    kind = type(value)
    if kind in _TEXTLESS:
        return value
    if kind is Text:
        return to_plain(value)
    if kind is tuple:
        return [_written(item) for item in value]
    said = {name: _written(getattr(value, name)) for name in kind.__struct_fields__}
    for name in UNWRITTEN.get(kind, ()):
        if not said[name]:
            del said[name]
    return said
