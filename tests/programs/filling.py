"""Texts of the JSON form: filled in (I6, I13) and as written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Held = Mapping[str, int | str | None]
"""What all registers hold; None is an unset slot."""

WHITE = " \t\n\r\v\f"
"""What is taken off the ends of an answer (I11)."""


def parts_of(text: Any) -> list[Any]:
    """The parts of a text, which in JSON is a string or a list."""
    return [text] if isinstance(text, str) else list(text)


def written(text: Any) -> str:
    """A text as its author wrote it."""
    return "".join(part if isinstance(part, str) else part.get("written", "") for part in parts_of(text))


def filled(text: Any, held: Held, escape: Callable[[str], str] = str) -> str:
    """A text with what the registers hold; nothing that came out of one is looked at again."""
    found = ""
    for part in parts_of(text):
        if isinstance(part, str):
            found += part
        elif (value := held[part["register"]]) is None:
            found += escape(part.get("missing", ""))
        else:
            found += part.get("before", "") + escape(str(value)) + part.get("after", "")
    return found


def in_json(value: str) -> str:
    """A value as it stands within a string of JSON."""
    return json.dumps(value, ensure_ascii=False)[1:-1]
