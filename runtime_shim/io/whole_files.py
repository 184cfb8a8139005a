"""Atomic writes: a file is whole or missing, even if the run is killed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from runtime_shim.engine.private import Folder


def file_name(name: str) -> str:
    """Return a step's name as a file name, safe in any path."""
    import urllib.parse  # slow to import

    return urllib.parse.quote(name, safe="{} ")[:150]


@contextmanager
def inner(folder: Folder, name: str) -> Iterator[Folder]:
    """Open or create a subdirectory."""
    found = folder.enter(name)
    try:
        yield found
    finally:
        os.close(found.at)


def put(folder: Folder, name: str, data: bytes) -> None:
    """Write a file of a run with the mode of its directory, and remove any leftover draft."""
    draft = f".{name}.new"
    with folder.naming(name):
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder.at)
        write_at(folder.at, name, data, draft, folder.mode & 0o666)


def write_at(folder: int, name: str, data: bytes, draft: str = "", mode: "int | None" = None) -> None:
    """Write a file in an open directory; it gets its name once it is whole and on disk."""
    draft = draft or f".rdc-{os.urandom(8).hex()}.new"
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode or 0o666, dir_fd=folder)
    try:
        with open(file, "wb") as opened:
            if mode is not None:
                os.fchmod(file, mode)  # regardless of the umask
            opened.write(data)
            opened.flush()
            os.fsync(file)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise
    os.fsync(folder)
