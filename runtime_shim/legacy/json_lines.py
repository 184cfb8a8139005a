"""Files of inputs and answers that are JSON, as lines `NAME<<WORD` … `WORD`, which a Makefile's shell can read."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def as_lines(content: bytes, lists: bool, names: Iterable[str]) -> str:
    """Return the lines for a JSON object: for each of these names a value, or several if lists are allowed."""
    known = set(names)
    pairs = json.loads(content.decode("utf-8-sig"), object_pairs_hook=tuple)
    lines: list[str] = []
    for name, value in pairs:
        if name not in known:
            raise ValueError(f"{name!r} is not known")
        for one in value if lists and isinstance(value, list) else [value]:
            text = _as_text(name, one)
            number = 0
            while f"END{number}" in text.split("\n"):
                number += 1
            lines += [f"{name}<<END{number}", text, f"END{number}"]
    return "".join(f"{line}\n" for line in lines)


def _as_text(name: str, value: Any) -> str:  # noqa: ANN401 (any JSON value)
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise ValueError(f"{name!r} is neither a string, a number, true nor false")


def convert(path: str, target: str, kind: str, names: str) -> None:
    """Write the lines of a file to another one, or end with what is wrong."""
    try:
        lines = as_lines(Path(path).read_bytes(), kind == "answers", names.split("\n"))
        Path(target).write_bytes(lines.encode())
    except (OSError, ValueError, RecursionError, TypeError) as error:
        sys.stdout.write(ascii(str(error))[1:-1])
        sys.exit(2)
