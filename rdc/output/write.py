"""Atomic writes: at any time, even after a crash, each file is either the old one or the new one."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EPERM
from itertools import chain
from pathlib import Path, PurePath
from stat import S_IMODE

from msgspec import Struct

from compiler.project.project import is_root, project_around
from compiler.text.files import is_below

_OF_GIT = frozenset({".git", "git~1"})
"""Git runs files in this folder, so documents must not choose them. Windows also has the second name."""

LEADS_OUT = "it leads out of the project through a link"
LEADS_TO_GIT = "it leads to the folder .git, where git may run it, through a link"


def is_of_git(path: PurePath) -> bool:
    """Return whether a path leads to git's folder on any file system.

    Some ignore case, dots or invisible characters.
    """
    plain = ("".join(filter(str.isprintable, part)).rstrip(" .").casefold() for part in path.parts)
    return not _OF_GIT.isdisjoint(plain)


def unwritable_link(path: str | Path) -> str:
    """Return why a link keeps rdc from writing a file, or "". A file that is a link is never written."""
    return "it is a link" if Path(path).is_symlink() else stray_link(path)


def stray_link(path: str | Path) -> str:
    """Return where a file or a folder above it leads as a link, if that is outside the link's own project, or ""."""
    here, place = Path.cwd(), Path(path)
    for link in filter(Path.is_symlink, (*reversed((here / place).parents), here / place)):
        root = project_around(os.path.realpath(link.parent)).root
        if not (is_root(root) or link.is_relative_to(here)):
            continue  # a link of the system or of the user, for example in the home folder
        end = os.path.realpath(link)
        if not is_below(end, root):
            return LEADS_OUT
        if is_of_git(PurePath(os.path.relpath(end, root))):
            return LEADS_TO_GIT
    return ""


class File(Struct, frozen=True):
    """The content for a path. An existing file keeps its mode. A new one is executable on request."""

    path: Path
    data: bytes
    executable: bool = False


class _Staged(Struct, frozen=True):
    """A file under its temporary name, with its target."""

    file: File
    temporary: Path
    target: Path


def is_current(file: File) -> bool:
    """Return whether the file already has exactly this content."""
    return file.path.is_file() and file.path.read_bytes() == file.data


def write_all(*stages: Sequence[File], staging: Path | None = None) -> None:
    """Write files: all are on disk under temporary names before the first one is renamed.

    Missing folders are created. Links are not followed, except to folders in the same project.

    Args:
        stages: The files to write, with different paths. Each stage is in place before the next one starts, even after
            a power failure.
        staging: The folder for temporary files on the same file system. By default, they are next to the files.

    Raises:
        OSError: A file could not be written or renamed; `filename` is its path. Temporary files and empty folders are
            removed. Before the first rename, all files are unchanged.
    """
    staged: list[list[_Staged]] = [[] for _ in stages]
    folders: list[Path] = []
    try:
        for files, ready in zip(stages, staged, strict=True):
            for file in files:
                with _blaming(file):
                    if problem := unwritable_link(file.path):
                        raise OSError(EPERM, problem)
                    target = file.path.parent.resolve() / file.path.name
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
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def _make(folder: Path, made: list[Path]) -> None:
    """Create a folder and the missing folders above it, and add each to `made`."""
    if folder.is_dir():
        return
    _make(folder.parent, made)
    folder.mkdir(exist_ok=True)  # another process may create it at the same time
    made.append(folder)


@contextmanager
def _blaming(file: File) -> Iterator[None]:
    """Add the file's path to an error: a full disk reports none, and a rename reports the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file.path)) from error


def _stage(file: File, target: Path, staging: Path | None) -> Path:
    """Write the file next to its target or to the staging folder. Renames are only atomic within a file system."""
    mode = S_IMODE(target.stat().st_mode) if target.exists() else None
    is_near = staging is not None and staging.stat().st_dev == target.parent.stat().st_dev
    temporary = (staging if staging and is_near else target.parent) / f".rdc-{os.urandom(12).hex()}.tmp"
    new = 0o777 if file.executable else 0o666  # the umask removes bits
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
    """Make renames in a folder survive a power failure, if the file system supports that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
