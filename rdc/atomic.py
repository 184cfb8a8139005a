"""Writing files so that each is, at every instant and after every accident, the old one or the new one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from stat import S_IMODE

from msgspec import Struct


class File(Struct, frozen=True):
    """What is to stand at a path. An existing file keeps its mode, a new one is executable if asked for."""

    path: Path
    data: bytes
    executable: bool = False


class _Staged(Struct, frozen=True):
    """A file under its temporary name, and where it is to stand."""

    file: File
    temporary: Path
    target: Path


def is_current(file: File) -> bool:
    """Whether these very bytes stand there already."""
    return file.path.is_file() and file.path.read_bytes() == file.data


def write_all(*stages: Sequence[File], staging: Path | None = None) -> None:
    """Write files: all are on the disk under temporary names before the first is renamed into place.

    Links are followed: the file at their end is replaced. Folders that are missing are made.

    Args:
        stages: Those to write, no two at one path. Those of a stage stand in place, through a power cut too, before
            the first of the next does.
        staging: The folder for temporary files, if it is on the same file system; without it they are beside the files.

    Raises:
        OSError: One could not be written or renamed; `filename` is its path. No temporary file and no empty folder
            is left; if it was not yet the turn of the renames, every file is as it was.
    """
    staged: list[list[_Staged]] = [[] for _ in stages]
    folders: list[Path] = []
    try:
        for files, ready in zip(stages, staged, strict=True):
            for file in files:
                with _blaming(file):
                    target = file.path.resolve()
                    _make(target.parent, folders)
                    ready.append(_Staged(file, _stage(file, target, staging), target))
        for ready in staged:
            for one in ready:
                with _blaming(one.file):
                    one.temporary.replace(one.target)
            for folder in {*(one.target.parent for one in ready), *(folder.parent for folder in folders)}:
                _sync(folder)
    finally:
        for one in chain.from_iterable(staged):
            one.temporary.unlink(missing_ok=True)
        for folder in reversed(folders):
            with suppress(OSError):  # something stands in it
                folder.rmdir()


def _make(folder: Path, made: list[Path]) -> None:
    """Make a folder, and before it those around it that are missing; each that is new is noted in `made`."""
    if folder.is_dir():
        return
    _make(folder.parent, made)
    folder.mkdir(exist_ok=True)  # another rdc may make it at the same time
    made.append(folder)


@contextmanager
def _blaming(file: File) -> Iterator[None]:
    """Let an error name the file to be written: a full disk names none, a rename the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file.path)) from error


def _stage(file: File, target: Path, staging: Path | None) -> Path:
    """Write the file beside its target or where temporary files go: a rename is atomic only within one file system."""
    mode = S_IMODE(target.stat().st_mode) if target.exists() else None
    is_near = staging is not None and staging.stat().st_dev == target.parent.stat().st_dev
    temporary = (staging if staging and is_near else target.parent) / f".rdc-{os.urandom(12).hex()}.tmp"
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
