"""Read a tool request: the JSON on standard input (I13)."""

import json
from typing import Any

from msgspec import Struct


class Request(Struct, frozen=True):
    """The name of a tool and its arguments."""

    tool: str
    arguments: dict[str, Any]


def read_request(data: bytes) -> Request | None:
    """Return the request in a text, or None if it isn't one."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != {"tool", "arguments"}:
        return None
    tool, arguments = found["tool"], found["arguments"]
    return Request(tool, arguments) if isinstance(tool, str) and isinstance(arguments, dict) else None
