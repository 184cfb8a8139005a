"""The stable text form of a program, for people and tests: a line of JSON for each item, node and edge, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from compiler.ir.program import Program
from compiler.ir.serialize import shown_json, to_json


def to_text_form(program: Program) -> str:
    """Return the text form of a program, with a final newline."""
    whole = _said(json.loads(to_json(program)))
    items = [(key, item) for key, value in whole.items() for item in (value if isinstance(value, list) else [value])]
    return "".join(f"{line}\n" for key, item in items for line in _lines(key, item))


def _said(value: Any) -> Any:
    """Return a value without what is not there, and without the places of edges."""
    if isinstance(value, dict):
        return {key: _said(part) for key, part in value.items() if part not in (None, []) and key != "origins"}
    return [_said(part) for part in value] if isinstance(value, list) else value


def _lines(key: str, item: Any) -> Iterator[str]:
    """Yield an item, with its line in the document behind it, and its edges."""
    is_part = isinstance(item, dict)
    at, edges = (item.pop("origin", None), item.pop("edges", [])) if is_part else (None, [])
    yield f"{key} {_shown(item)}" + (f"  # {at['path']}:{at['span']['line']}" if at else "")
    yield from (f"  {_shown(edge)}" for edge in edges)


def _shown(value: object) -> str:
    return shown_json(json.dumps(value, ensure_ascii=False))
