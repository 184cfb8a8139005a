"""A part of a log as text, without anything that steers a terminal."""

from __future__ import annotations

import os
import re
import stat

from runtime_shim.engine.private import at_once
from runtime_shim.engine.texts import clean
from runtime_shim.operator.logs import UNSEEN

MOST = 1 << 16
"""How many bytes a part has."""

BEGUN = re.compile(
    rb"(?:\x1b(?:\[[0-9;:?]*|\][^\x07\x1b]{0,200}\x1b?|[()])?"
    rb"|[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}|\r)\Z"
)
"""The start of a code, of a character or of a line end. The next part has it whole."""


def part_of(log: str | bytes, start: int) -> tuple[str, dict[str, str]]:
    """Return a part of a log from a byte, and the headers with its place. The log is a path or its content.

    Without a start (-1), or after the log has become shorter, this is its end.
    """
    data, start, size = _read(log, start)
    begun = BEGUN.search(data)
    kept = data[: begun.start()] if begun and begun.start() else data
    text = clean(re.sub(UNSEEN, "", kept.decode(errors="replace")))
    places = {"Log-From": start, "Log-Next": start + len(kept), "Log-Size": size}
    return text, {name: str(value) for name, value in places.items()}


def _read(log: str | bytes, start: int) -> tuple[bytes, int, int]:
    """Return the bytes of a part, where it starts, and the size of the log."""
    if isinstance(log, bytes):
        start = start if 0 <= start <= len(log) else max(len(log) - MOST, 0)
        return log[start : start + MOST], start, len(log)
    if not log:
        return b"", 0, 0
    with open(log, "rb", opener=at_once) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            return b"", 0, 0
        start = start if 0 <= start <= about.st_size else max(about.st_size - MOST, 0)
        file.seek(start)
        return file.read(MOST), start, about.st_size
