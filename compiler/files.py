"""Reading documents: what a file must be before it is looked into (D1)."""

from __future__ import annotations

import os
import stat
import sys

from msgspec import Struct

from compiler.source import BYTE_ORDER_MARK, STANDARD_INPUT, Source, sha256_of

LARGEST_FILE = 8 * 1024 * 1024
"""In bytes (D1)."""

MOST_LINES = 500_000
"""Not counting blank ones. Reading Markdown takes memory for each line, many times more than for its characters."""


class Refusal(Struct, frozen=True):
    """Why there is no document: a code, what is wrong, and what to do."""

    code: str
    problem: str
    remedy: str


class Disk(Struct, frozen=True):
    """The files of a project, which are read through it alone."""

    def exists(self, file: str, *, follow: bool = True) -> bool:
        """Whether something is there, with `follow` at the end of links too. Raises `OSError` if nobody can tell."""
        try:
            os.stat(file, follow_symlinks=follow)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def resolve(self, file: str) -> str:
        """The absolute path of a file at the end of all links."""
        return os.path.realpath(file)

    def read(self, file: str | os.PathLike[str]) -> bytes:
        """The bytes of a file, at most one more than `LARGEST_FILE`. It is not waited for.

        Raises:
            OSError: It cannot be read.
            ValueError: It is a pipe, a device or a folder.
        """
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ValueError("it is not a regular file")
            return stream.read(LARGEST_FILE + 1)


DISK = Disk()


def read_source(file: str | os.PathLike[str], path: str, name: str, disk: Disk = DISK) -> Source | Refusal:
    """The document in a file; `path` and `name` are what the source is called (see `Source`).

    The file is read once; it is never waited for, so a pipe or a device is refused.
    """
    try:
        data = disk.read(file)
    except OSError as error:
        problem = f"the file cannot be read: {error.strerror or error}"
        return Refusal("RD001", problem, "give the path of a document that you may read")
    except ValueError:
        return Refusal("RD001", "the path is not a regular file", "give the path of a document")
    return _source(data, path, name)


def read_standard_input(name: str) -> Source | Refusal:
    """The document on standard input, to its end; `name` is what the source is called (see `Source`)."""
    if sys.stdin is None:
        return Refusal("RD001", "standard input is closed", "give the path of a document")
    try:
        data = sys.stdin.buffer.read(LARGEST_FILE + 1)
    except OSError as error:
        problem = f"standard input cannot be read: {error.strerror or error}"
        return Refusal("RD001", problem, "give the path of a document")
    return _source(data, STANDARD_INPUT, name)


def _source(data: bytes, path: str, name: str) -> Source | Refusal:
    """The document in these bytes, if they are a text that is not too large (D1)."""
    if len(data) > LARGEST_FILE:
        return Refusal("RD004", "the file is larger than 8 MiB", "split the document into smaller ones")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problem = f"the file is not valid UTF-8: byte {error.start + 1}, in line {line}"
        return Refusal("RD002", problem, "save it as UTF-8")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        return Refusal("RD003", f"there is a NUL byte in line {line}", "remove it; is this a text file?")
    source = Source(path, name, text, sha256_of(data), data.startswith(BYTE_ORDER_MARK))
    if len(source.lines) > MOST_LINES and sum(1 for line in source.lines if line.strip()) > MOST_LINES:
        problem = f"the file has more than {MOST_LINES:,} lines that are not blank"
        return Refusal("RD004", problem, "split the document into smaller ones")
    return source


def read_text(file: str, root: str, disk: Disk = DISK) -> str:
    """The text of a file of the project that is no document. It is not waited for, nor read outside of the root.

    Raises:
        OSError: It cannot be read.
        ValueError: It is not what it must be; the message says why.
    """
    if not is_below(disk.resolve(file), root):
        raise ValueError("it leads out of the project through a link")
    data = disk.read(file)
    if len(data) > LARGEST_FILE:
        raise ValueError("it is larger than 8 MiB")
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it; both are absolute and without `..`."""
    return path == folder or path.startswith(os.path.join(folder, ""))
