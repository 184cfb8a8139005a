"""Whether the value of an input fits what was declared: pure, for every target alike (I8)."""

import re
from collections.abc import Sequence
from typing import Optional

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def unfit(value: str, kind: str, options: Sequence[str] = (), pattern: Optional[str] = None) -> str:
    """Return what is wrong with a value of an input of some type, in words; "" if nothing is."""
    if "\0" in value:
        return "it holds a NUL character"
    if kind == "number" and not NUMBER.fullmatch(value):
        return "it is not a decimal number"
    if kind == "boolean" and value not in ("true", "false"):
        return "it is neither true nor false"
    if kind == "choice" and value not in options:
        return f"it is none of {', '.join(options)}"
    if kind == "string" and ("\n" in value or "\r" in value):
        return "it has more than one line"
    if pattern is not None and not re.fullmatch(pattern, value):
        return f"it does not match {pattern}"
    return ""
