"""Write a program as JSON, and compare programs. `compiler/frontends/json` reads it and has its JSON Schema."""

from collections.abc import Mapping
from types import NoneType
from typing import Any

from msgspec import Struct, json

from compiler.ir.edges import Edge, Origin
from compiler.ir.program import (
    USUAL_KIND,
    Constant,
    Context,
    Counter,
    Input,
    Jump,
    Node,
    Program,
    Settings,
    Slot,
    SourceFile,
    Variable,
)
from compiler.ir.rules import Rule
from compiler.ir.tasks import Agent, Ask, Parallel, Reading, Tool, Value
from compiler.ir.texts import Text, to_plain
from compiler.text.regex import Regex
from compiler.text.source import Span, sha256_of

LARGEST_NUMBER = 2**31 - 1
"""Every target can count this far."""

MAY_BE_MISSING: Mapping[str, Mapping[str, object]] = {
    "Program": {"name": None, "title": None, "sources": None},
    "Node": {"title": "", "origin": None, "edges": []},
    "Group": {"title": "", "prompt": "", "kind": "step", "parent": "", "origin": None},
    "Counter": {"scope": ""},
    "Edge": {"guard": [], "effects": []},
    "Shell": {"interpreter": "bash"},
    "Agent": {"agent": "", "kind": "agent"},
    "Tool": {"arguments": "{}"},
    "Contract": {"workflow": "{}"},
}
"""Keys that hand-written programs may leave out, by class, with their defaults.

None means that the default comes from the file or the position. Keys with a default in the model aren't listed.
"""

UNWRITTEN: Mapping[type, frozenset[str]] = {
    Program: frozenset(
        {
            *("secrets", "jumps", "artifact", "folder", "contexts", "stepspec", "project", "file", "logs", "notify"),
            *("rules", "description"),
        }
    ),
    Node: frozenset({"constants"}),
    Edge: frozenset({"settles"}),
    Settings: frozenset({"expire"}),
    Ask: frozenset({"items", "value"}),
    Agent: frozenset({"report", "context"}),
    Tool: frozenset({"optional"}),
    Parallel: frozenset({"report"}),
    Context: frozenset({"after"}),
    SourceFile: frozenset({"read_by"}),
}
"""Rare keys, by class. They are written only if they have a value."""

_TEXTLESS: frozenset[type] = frozenset(
    {str, int, bool, NoneType, Origin, Edge, Variable, Constant, Counter, Slot, Input, Jump, Reading, Value, Rule}
)
"""Classes without a `Text`. msgspec writes them directly, which is most of a program."""

_EMPTY = tuple(f',"{name}":[]' for kind in UNWRITTEN if kind in _TEXTLESS for name in UNWRITTEN[kind])
"""Rare keys without a value, as msgspec writes them."""


def to_json(program: Program) -> str:
    """Return the JSON form: indented, keys in the order of the model, with a final newline."""
    written = _written(program)
    if program.kind == USUAL_KIND:
        del written["kind"]
    # The compact form is half as long to search.
    return json.format(shown_json(_encoded(written)), indent=2) + "\n"


def program_hash(program: Program) -> str:
    """Return the SHA-256 of a program's JSON form, which has the hashes of its documents."""
    return sha256_of(to_json(program))


def plain(value: Any) -> Any:  # noqa: ANN401 (any part of the model, and what JSON has for it)
    """Return a part of the model as a JSON value."""
    return json.decode(_encoded(_written(value)))


def _encoded(written: Any) -> str:  # noqa: ANN401 (anything that msgspec writes)
    found = json.encode(written).decode()
    for key in _EMPTY:
        found = found.replace(key, "")  # never part of a string, where quotes are escaped
    return found


def _written(value: Any) -> Any:  # noqa: ANN401 (any part of the model, and what msgspec can write)
    kind = type(value)
    if kind in _TEXTLESS:
        return value
    if kind is Text:
        return to_plain(value)
    if kind is tuple:
        return [_written(item) for item in value]
    names = zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True)
    mapping = {key: _written(getattr(value, name)) for key, name in names}
    for name in UNWRITTEN.get(kind, ()):
        if not mapping[name]:
            del mapping[name]
    return mapping


_UNSEEN = Regex("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""DEL and other control characters that JSON doesn't escape, line separators, and changes of direction."""


def shown_json(text: str) -> str:
    """Return equivalent JSON with such characters escaped. They only occur in its strings."""
    if text.isascii() and "\x7f" not in text:  # the usual case, which must cost nothing
        return text
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def same(one: object, other: object) -> bool:
    """Return whether two values are equal, apart from their places in documents."""
    if type(one) is not type(other):
        return False
    if one is other or isinstance(one, str | int):
        return one == other
    if isinstance(one, Span | Origin | SourceFile):
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Struct) and isinstance(other, Struct):
        return all(same(getattr(one, name), getattr(other, name)) for name in one.__struct_fields__)
    return one == other
