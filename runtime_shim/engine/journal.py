"""The journal: an append-only file of checked records, on disk before what they tell is seen (R1).

A line holds the CRC-32 of the record, a space, and the record as JSON with its number `n`. A write
that was cut short leaves a strict prefix of a line at the end: that is repaired. Anything else that
is not as it was written is damage, and nothing is changed then.
"""

import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Union

from runtime_shim.engine.program import RefusedError

Record = dict[str, Any]
AnyPath = Union[str, "os.PathLike[str]"]
Reading = tuple[list[Record], int, bytes]  # the records of a journal, how many bytes of it are good, what must follow


@contextmanager
def naming(path: object) -> Iterator[None]:
    """See to it that an error of the system names the file that it is about."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def at_once(path: AnyPath, flags: int) -> int:
    """Open a file; a pipe in its place would be waited for, with signals held back, and a link leads elsewhere."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


def encode(record: Record) -> bytes:
    """Write a record as a line."""
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _decode(line: bytes, number: int) -> Record:
    """Read a line without its newline; raises ValueError where it is not what was written."""
    if line[:9] != b"%08x " % zlib.crc32(line[9:]):
        raise ValueError("the checksum does not match")
    record: Record = json.loads(line[9:])
    if record["n"] != number:
        raise ValueError(f"record {record['n']} stands where {number} is due")
    return record


def _is_torn(tail: bytes, number: int) -> bool:
    """Tell whether a tail without newline is what a write that was cut short leaves."""
    text, start = tail[9:], b'{"n":%d,' % number
    is_begun = re.fullmatch(rb"[0-9a-f]{0,8}|[0-9a-f]{8} [ -~]*", tail)
    try:
        json.JSONDecoder().raw_decode(text.decode())
    except ValueError:
        return bool(is_begun) and text[: len(start)] == start[: len(text)]
    return False  # a whole record was there: its last byte or its newline has been altered


def read_journal(path: AnyPath) -> Reading:
    """Read a journal without changing it; one that is not there holds nothing."""
    try:
        with naming(path), open(path, "rb", opener=at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RefusedError(f"{path}: the journal is not a regular file")
            *lines, tail = file.read().split(b"\n")
    except FileNotFoundError:
        return [], 0, b""
    records: list[Record] = []
    try:
        for line in lines:
            records.append(_decode(line, len(records)))
        is_torn = not tail or _is_torn(tail, len(records))
        if not is_torn:  # it is whole, but for its newline
            records.append(_decode(tail, len(records)))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RefusedError(f"{path}:{len(records) + 1}: the journal is damaged: {error}") from None
    size = sum(map(len, lines)) + len(lines)
    return (records, size, b"") if is_torn else (records, size + len(tail), b"\n")
