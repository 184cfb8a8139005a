"""The journal: an append-only file of checked records, on disk before what they tell is seen (R1).

A line holds the CRC-32 of the record, a space, and the record as JSON with its number `n`. A write
that was cut short leaves a strict prefix of a line at the end: that is repaired. Anything else that
is not as it was written is damage, and nothing is changed then.
"""

import functools
import os
import re
import stat
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.private import AnyPath, at_once, naming
from runtime_shim.engine.program import RefusedError

Record = dict[str, Any]


@functools.cache
def encoder() -> Callable[[object], str]:
    """Return what writes JSON without spaces; it is made once, since each record needs it."""
    import json  # slow, and `status` does not need it before there is a run

    return json.JSONEncoder(separators=(",", ":")).encode


def encode(record: Record) -> bytes:
    """Write a record as a line."""
    import zlib

    text = encoder()(record).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _decode(line: bytes, number: int) -> Record:
    """Read a line without its newline; raises ValueError where it is not what was written."""
    import json

    record: Record = json.loads(line[9:])
    if encode({**record, "n": number}) != line + b"\n":
        raise ValueError(f"this is not record {number} as it was written")
    return record


def _is_torn(tail: bytes, number: int) -> bool:
    """Tell whether a tail without newline is what a write that was cut short leaves."""
    import json

    text, start = tail[9:], b'{"n":%d,' % number
    with suppress(ValueError):
        json.JSONDecoder().raw_decode(text.decode())
        return False  # a whole record is there, without its newline or with its last byte altered
    is_begun = re.fullmatch(rb"[0-9a-f]{0,8}|[0-9a-f]{8} [ -~]*", tail)
    return bool(is_begun) and text[: len(start)] == start[: len(text)]


def read_journal(path: AnyPath) -> tuple[list[Record], int]:
    """Return the records of a journal, and how many bytes of it are good; one that is not there holds nothing."""
    try:
        with naming(path), open(path, "rb", opener=at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RefusedError(f"{path}: the journal is not a regular file")
            content = file.read()
    except FileNotFoundError:
        return [], 0
    records: list[Record] = []
    *lines, tail = content.split(b"\n")
    try:
        for line in lines:
            records.append(_decode(line, len(records)))
        if not _is_torn(tail, len(records)):
            records.append(_decode(tail, len(records)))
            tail = b""
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RefusedError(f"{path}:{len(records) + 1}: the journal is damaged: {error}") from None
    return records, len(content) - len(tail)
