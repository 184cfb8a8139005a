"""Compare two values apart from their places in documents, to prove that a rewrite changed nothing."""

from __future__ import annotations

from msgspec import Struct

from compiler.ir.edges import Origin
from compiler.ir.program import SourceFile
from compiler.text.source import Span


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
