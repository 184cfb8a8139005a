"""The journal: an append-only file of checked records, written before anyone sees their effect.

A line holds the CRC-32 of the record, a space, and the record as JSON with its number `n`. An
interrupted write leaves a strict prefix of a line at the end, which is repaired. Any other
difference is damage; then nothing is changed.
"""

import json
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from runtime_shim.engine.private import at_once, naming
from runtime_shim.engine.program import UsageError

Record = dict[str, Any]


to_json = json.JSONEncoder(separators=(",", ":")).encode
"""Returns a value as JSON without spaces. Making an encoder for each record would be slow."""


def picked(record: Record, keys: Iterable[str]) -> Record:
    """Return the entries with these keys, as far as the record has them."""
    return {key: record[key] for key in keys if key in record}


def encode(record: Record) -> bytes:
    """Return a record as a line of the journal."""
    import zlib

    text = to_json(record).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def record_in(line: bytes, number: int) -> Record:
    """Return the record of a line without its newline; raise ValueError if it was altered."""
    record: Record = json.loads(line[9:])
    if encode({**record, "n": number}) != line + b"\n":
        raise ValueError(f"record {number} was altered")
    return record


def _is_torn(tail: bytes, number: int) -> bool:
    text, start = tail[9:], b'{"n":%d,' % number
    with suppress(ValueError):
        json.JSONDecoder().raw_decode(text.decode())
        return False  # a whole record, without its newline or with its last byte altered
    return bool(re.fullmatch(rb"[0-9a-f]{0,8}|[0-9a-f]{8} [ -~]*", tail)) and text[: len(start)] == start[: len(text)]


def read_journal(path: "str | os.PathLike[str]") -> tuple[list[Record], int]:
    """Return the records of a journal and the size of its good part in bytes; a missing journal is empty."""
    try:
        with naming(path), open(path, "rb", opener=at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{path}: the journal is not a regular file")
            content = file.read()
    except FileNotFoundError:
        return [], 0
    records: list[Record] = []
    *lines, tail = content.split(b"\n")
    try:
        for line in lines:
            records.append(record_in(line, len(records)))
        if not _is_torn(tail, len(records)):
            records.append(record_in(tail, len(records)))
            tail = b""
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path}:{len(records) + 1}: the journal is damaged: {error}; `reset` archives it") from None
    return records, len(content) - len(tail)
