"""The journal: an append-only file of checked records, on disk before what they tell is seen (R1).

A line holds the CRC-32 of the record, a space, and the record as JSON with its number `n`. A write
that was cut short leaves a strict prefix of a line at the end: that is repaired. Anything else that
is not as it was written is damage, and nothing is changed then.
"""

import os
import re
import stat
from contextlib import suppress
from typing import Any

from runtime_shim.engine.private import AnyPath, at_once, naming
from runtime_shim.engine.program import RefusedError

Record = dict[str, Any]


def as_json(value: object, is_sorted: bool = False) -> str:
    """Write a value as JSON without spaces."""
    import json  # slow, and `--help` does not need it

    return json.dumps(value, sort_keys=is_sorted, separators=(",", ":"))


def encode(record: Record) -> bytes:
    """Write a record as a line."""
    import zlib

    text = as_json(record).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _is_torn(tail: bytes, number: int) -> bool:
    """Tell whether a tail without newline is what a write that was cut short leaves."""
    import json

    text, start = tail[9:], b'{"n":%d,' % number
    with suppress(ValueError):
        json.JSONDecoder().raw_decode(text.decode())
        return False  # a whole record, without its newline or with an altered end
    is_begun = re.fullmatch(rb"[0-9a-f]{0,8}|[0-9a-f]{8} [ -~]*", tail)
    return bool(is_begun) and text[: len(start)] == start[: len(text)]


def read_journal(path: AnyPath) -> tuple[list[Record], int]:
    """Return the records of a journal, and how many bytes of it are good; one that is not there holds nothing."""
    if not os.path.lexists(path):
        return [], 0
    import json

    with naming(path), open(path, "rb", opener=at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise RefusedError(f"{path}: the journal is not a regular file")
        content = file.read()
    records: list[Record] = []
    lines, size = content.split(b"\n"), len(content)
    try:
        for number, line in enumerate(lines):
            if number == len(lines) - 1 and _is_torn(line, number):
                size -= len(line)
                break
            record = json.loads(line[9:])
            if encode({**record, "n": number}) != line + b"\n":
                raise ValueError("it is not as it was written")  # noqa: TRY301
            records.append(record)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RefusedError(f"{path}:{len(records) + 1}: the journal is damaged: {error}") from None
    return records, size
