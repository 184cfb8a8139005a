"""Safe file access: only inside the project's root.

Paths come from documents, inputs and tools. Links that stay inside are resolved once. Then each directory is
opened without following links, so that no one can swap in a link meanwhile.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from runtime_shim.engine.private import CAREFULLY, DIRECTORY
from runtime_shim.engine.state import OURS
from runtime_shim.engine.texts import one_line
from runtime_shim.io.reading import NO_TEXT
from runtime_shim.io.whole_files import write_at

LARGEST_FILE = 16 * 1024 * 1024  # bytes read for checks
PROTECTED = (".git", OURS)  # writing there would change Git or rdc


class UnsafeError(ValueError):
    """A refused path, with the reason."""


def inside(root: str, path: str) -> list[str]:
    """Return the names on the way from the root to a path, with links resolved."""
    is_path = False
    with suppress(UnicodeEncodeError):
        is_path = bool(path) and b"\0" not in os.fsencode(path)
    if not is_path:
        raise UnsafeError(f"{one_line(path)!a} is not a path")
    if os.path.isabs(path):
        raise UnsafeError(f"{one_line(path)} is absolute; give a path inside the project")
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path))
    if real != top and not real.startswith(os.path.join(top, "")):
        raise UnsafeError(f"{one_line(path)} is outside the project")
    return [name for name in os.path.relpath(real, top).split(os.sep) if name != os.curdir]


@contextmanager
def folder_inside(root: str, names: Sequence[str], makes: bool = False) -> Iterator[int]:
    """Open a directory by its names without following links."""
    folder = os.open(os.path.realpath(root), DIRECTORY)
    try:
        for name in names:
            if makes:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
            inner = os.open(name, DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


@contextmanager
def safely(path: str) -> Iterator[None]:
    """Turn system errors into UnsafeError with the path."""
    try:
        yield
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        reason = "does not exist" if missing else f"cannot be used: {error.strerror}"
        raise UnsafeError(f"{one_line(path)} {reason}") from None


def check_there(root: str, path: str) -> None:
    """Refuse a path unless it is a regular file, or a directory if it ends with a slash."""
    names = inside(root, path)
    with safely(path), folder_inside(root, names[:-1]) as folder:
        mode = os.stat(names[-1] if names else ".", dir_fd=folder, follow_symlinks=False).st_mode
    if not (stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and path.endswith("/"))):
        raise UnsafeError(f"{one_line(path)} is not a regular file")


def is_missing(root: str, path: str) -> bool:
    """Return whether a path inside the project does not exist."""
    return not os.path.lexists(os.path.join(os.path.realpath(root), *inside(root, path)))


def pieces_of(root: str, path: str) -> Iterator[bytes]:
    """Read a regular file piece by piece, without waiting for a pipe."""
    names = inside(root, path)
    with safely(path), folder_inside(root, names[:-1]) as folder:
        file = os.open(names[-1] if names else ".", os.O_RDONLY | CAREFULLY, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise UnsafeError(f"{one_line(path)} is not a regular file")
        with safely(path):
            while piece := os.read(file, 1 << 20):
                yield piece
    finally:
        os.close(file)


def read_inside(root: str, path: str, most: float = LARGEST_FILE) -> bytes:
    """Return the content of a regular file."""
    content = bytearray()
    for piece in pieces_of(root, path):
        content += piece
        if len(content) > most:
            raise UnsafeError(f"{one_line(path)} is larger than {most:,} bytes")
    return bytes(content)


def sha256_of(root: str, path: str) -> str:
    """Return the SHA-256 of a regular file."""
    import hashlib  # slow to import

    found = hashlib.sha256()
    for piece in pieces_of(root, path):
        found.update(piece)
    return found.hexdigest()


def write_inside(root: str, path: str, content: bytes) -> None:
    """Write a file atomically, and create its directories."""
    names = inside(root, path)
    if not names or path.endswith("/"):
        raise UnsafeError(f"{one_line(path)} is a directory")
    if any(name.lower() in PROTECTED for name in names):
        raise UnsafeError(f"{one_line(path)} belongs to Git or rdc, and cannot be written")
    with safely(path), folder_inside(root, names[:-1], makes=True) as folder:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(names[-1], dir_fd=folder, follow_symlinks=False).st_mode):
                raise UnsafeError(f"{one_line(path)} is not a regular file")
        write_at(folder, names[-1], content)


def list_inside(root: str, path: str) -> list[str]:
    """Return the sorted names in a directory; names of directories end with a slash."""
    with safely(path), folder_inside(root, inside(root, path)) as folder, os.scandir(folder) as entries:
        names = (entry.name + ("/" if entry.is_dir(follow_symlinks=False) else "") for entry in entries)
        return sorted(re.sub(NO_TEXT, "\ufffd", name) for name in names)
