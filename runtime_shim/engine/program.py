"""Exit codes, refusals and the table of a program."""

from typing import Any

Table = dict[str, Any]

EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130


class RefusedError(Exception):
    """An error for the operator, with exit code 2. The arguments are lines of details, then the reason."""


def takes_empty(item: Table) -> bool:
    """Return whether an empty value of an input is one, and not a missing one: that of a text without a default."""
    return bool(item["type"] == "text" and item["required"] and item.get("default") is None)
