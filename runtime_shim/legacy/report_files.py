"""Reports as files: a block is added below a heading with the date, once; files change whole or not at all (I29)."""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO, Optional

Blocks = dict[str, tuple[int, str]]  # of reports by name: where a block stands in the file, and the block


def heading_date() -> str:
    """Return the time as it stands in headings."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())


@contextmanager
def folder_of_reports(folder: str, at: Optional[int] = None) -> Iterator[int]:
    """Open the folder of reports, by its path from an open directory, and make it; a link in its place is refused."""
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700, dir_fd=at)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
    try:
        yield opened
    finally:
        os.close(opened)


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


def add_block(folder: str, report: str, place: int, text: str, at: Optional[int] = None) -> None:
    """Add a block to a report at a place, unless it stands there."""
    name, draft, block = f"{report}.md", f".{report}.new", text.encode("utf-8", "replace")
    with folder_of_reports(folder, at) as inside:
        before = read_report(name, inside)
        if before[place : place + len(block)] == block:
            return
        with open_new(draft, inside) as file:
            file.write(before[:place] + block + before[place:])
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, name, src_dir_fd=inside, dst_dir_fd=inside)


def open_new(path: str, at: Optional[int] = None) -> BinaryIO:
    """Open a new file; what an agent may have put in its place is not followed, nor waited for."""
    with suppress(FileNotFoundError):
        os.unlink(path, dir_fd=at)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=at), "wb")


def read_report(path: str, at: Optional[int] = None) -> bytes:
    """Read a report; what an agent may have put in its place is not followed, nor waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=at)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return file.read()
