"""Reports as files: a block is added below a heading with the date, once; files change whole or not at all (I29)."""

import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO

Blocks = dict[str, tuple[int, str]]  # of reports by name: where a block stands in the file, and the block


def heading_date() -> str:
    """Return the time as it stands in headings."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())


def report_blocks(folder: str, texts: Mapping[str, str]) -> Blocks:
    """Return what is added to which report for these texts; an empty one adds nothing."""
    date, found = heading_date(), {}
    for report, text in texts.items():
        size = report_size(os.path.join(folder, f"{report}.md"))
        if text:
            found[report] = (size, "\n" * bool(size) + f"## {date}\n\n{text}\n")
    return found


def report_size(path: str) -> int:
    """Return the size of a report; what is in its place and none has none."""
    try:
        about = os.lstat(path)
    except OSError:
        return 0
    return about.st_size if stat.S_ISREG(about.st_mode) else 0


def add_block(folder: str, report: str, place: int, text: str) -> None:
    """Add a block to a report at a place, unless it stands there."""
    path, draft = os.path.join(folder, f"{report}.md"), os.path.join(folder, f".{report}.new")
    block = text.encode("utf-8", "replace")
    before = read_report(path)
    if before[place : place + len(block)] == block:
        return
    os.makedirs(folder, exist_ok=True)
    with open_new(draft) as file:
        file.write(before[:place] + block + before[place:])
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


def open_new(path: str) -> BinaryIO:
    """Open a new file; what an agent may have put in its place is not followed, nor waited for."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb")


def read_report(path: str) -> bytes:
    """Read a report; what an agent may have put in its place is not followed, nor waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return file.read()
