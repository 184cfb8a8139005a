"""JSON that others have written: read strictly, so that what is kept of it is JSON again."""

import json
import math
from typing import Any

from runtime_shim.tasks.reading import NO_TEXT

DEEPEST_JSON = 100  # values within each other; Python reads about a thousand, and writes fewer


def read_strictly(text: str) -> Any:  # noqa: ANN401 (any JSON value)
    """Read JSON; raises ValueError with what is wrong."""
    try:
        found = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise ValueError("too many values within each other") from None
    return _kept(found, 0)


def json_or_text(text: str) -> Any:  # noqa: ANN401
    """Return what a text says as JSON, or the text itself where it is none."""
    try:
        return read_strictly(text)
    except ValueError:
        return text


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written[:40]} is too large a number")
    return number


def _kept(value: Any, depth: int) -> Any:  # noqa: ANN401
    """Return a value without what no target could keep in a text."""
    if depth > DEEPEST_JSON:
        raise ValueError("too many values within each other")
    if isinstance(value, str):
        return NO_TEXT.sub("\ufffd", value)
    if isinstance(value, list):
        return [_kept(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {NO_TEXT.sub("\ufffd", key): _kept(item, depth + 1) for key, item in value.items()}
    return value
