"""Writing files so that each is, at every instant and after every accident, the old one or the new one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE


@dataclass(frozen=True)
class File:
    """What is to stand at a path. An existing file keeps its mode, a new one is executable if asked for."""

    path: Path
    data: bytes
    executable: bool = False


def is_current(file: File) -> bool:
    """Whether these very bytes stand there already."""
    return file.path.is_file() and file.path.read_bytes() == file.data


def write_all(files: Sequence[File]) -> None:
    """Write files: all are on the disk under temporary names before the first is renamed into place.

    Links are followed: the file at their end is replaced.

    Args:
        files: Those to write, no two at one path.

    Raises:
        OSError: One could not be written or renamed; `filename` is its path. No temporary file is left; if it
            was not yet the turn of the renames, every file is as it was.
    """
    staged: list[tuple[File, Path, Path]] = []
    try:
        for file in files:
            with _blaming(file):
                target = file.path.resolve()
                staged.append((file, _stage(file, target), target))
        for file, temporary, target in staged:
            with _blaming(file):
                temporary.replace(target)
    finally:
        for _, temporary, _ in staged:
            temporary.unlink(missing_ok=True)
    for folder in {target.parent for _, _, target in staged}:
        _sync(folder)


@contextmanager
def _blaming(file: File) -> Iterator[None]:
    """Let an error name the file to be written: a full disk names none, a rename the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file.path)) from error


def _stage(file: File, target: Path) -> Path:
    """Write the file beside its target, since a rename is atomic only within one file system."""
    mode = S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary = target.parent / f".rdc-{os.urandom(12).hex()}.tmp"
    new = 0o777 if file.executable else 0o666  # the umask takes from it what it must
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, new if mode is None else mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(file.data)
            stream.flush()
            if mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _sync(folder: Path) -> None:
    """Make the renames in a folder last through a power cut, where the file system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
