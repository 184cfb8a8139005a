"""Directories of a run: files are opened by name, never through a link, and are private by default.

A repository may have committed links, and an agent may plant some: they would lead what is written elsewhere.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Optional, Union

from runtime_shim.engine.program import RefusedError

AnyPath = Union[str, "os.PathLike[str]"]
PRIVATE = 0o700  # the mode of a directory that is made
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
CAREFULLY = os.O_NONBLOCK | os.O_NOFOLLOW  # a pipe would be waited for, with signals held back, and a link leads away


def is_link(path: AnyPath, at: Optional[int] = None) -> bool:
    """Tell whether something is a link, by its path from an open directory."""
    with suppress(OSError):
        return stat.S_ISLNK(os.stat(path, dir_fd=at, follow_symlinks=False).st_mode)
    return False


def refused_link(path: AnyPath) -> RefusedError:
    """Say how to get rid of a link."""
    return RefusedError(f"{path} is a link: remove it, or name the directory that it leads to with --state-dir")


@contextmanager
def naming(path: AnyPath, at: Optional[int] = None, name: str = "") -> Iterator[None]:
    """Name the file that an error of the system is about, and refuse a link in its place."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and is_link(name or path, at):
            raise refused_link(path) from None
        error.filename = str(path)
        raise


def at_once(path: AnyPath, flags: int) -> int:
    """Open a file by its path, for `open`."""
    return os.open(path, flags | CAREFULLY)


class Folder:
    """A directory that is open."""

    def __init__(self, at: int, shown: str) -> None:
        self.at, self.shown, self.mode = at, shown, stat.S_IMODE(os.fstat(at).st_mode)

    def naming(self, name: str) -> "AbstractContextManager[None]":
        """Name the whole path where an error is about a file in it."""
        return naming(os.path.join(self.shown, name), self.at, name)

    def enter(self, name: str, mode: int = 0) -> "Folder":
        """Open a directory in it; one that is made lasts, and has the mode of this one if no other is given."""
        with self.naming(name):
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self.at)
                os.chmod(name, mode or self.mode, dir_fd=self.at)  # whatever the umask is
                os.fsync(self.at)
            return Folder(os.open(name, DIRECTORY, dir_fd=self.at), os.path.join(self.shown, name))

    def open(self, name: str, flags: int) -> int:
        """Open a file in it; one that is made has the mode of the directory."""
        with self.naming(name):
            file = os.open(name, flags | CAREFULLY, 0o600, dir_fd=self.at)
            if os.fstat(file).st_nlink > 1:  # a file elsewhere has been given this name too
                raise refused_link(os.path.join(self.shown, name))
            if flags & os.O_CREAT:
                with suppress(PermissionError):  # another operator has made it
                    os.fchmod(file, self.mode & 0o666)
            return file


def refuse_links(path: str) -> None:
    """Refuse a directory that is reached through a link; of an absolute path, only the last name is ours."""
    if is_link(path):
        raise refused_link(path)
    if path and not os.path.isabs(path):
        refuse_links(os.path.dirname(path))


def opened_folder(path: str) -> Folder:
    """Open the directory of a state, and make it; what everybody may write to is refused, and so is a link in it."""
    with naming(path):
        if os.path.isabs(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        folder = Folder(os.open(".", DIRECTORY), "")
        for name in [path] if os.path.isabs(path) else path.split("/"):
            folder, outer = folder.enter(name, PRIVATE), folder.at
            os.close(outer)
        found = [entry.name for entry in os.scandir(folder.at) if entry.is_symlink()]
    if folder.mode & stat.S_IWOTH:
        raise RefusedError(f"to forbid it: chmod o-w {path}", f"everybody may write to {path}, and so change the run")
    if found:
        raise refused_link(os.path.join(path, found[0]))
    return folder
