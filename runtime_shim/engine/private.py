"""Directories of a run: private by default, and never reached through a link.

A repository may have committed links, and an agent may plant some: they would redirect what the run writes.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from runtime_shim.engine.program import UsageError

PRIVATE = 0o700  # mode of new directories
BY_OPTION = "name its target with --state-dir"
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
CAREFULLY = os.O_NONBLOCK | os.O_NOFOLLOW  # don't hang on a pipe or follow a link


def is_link(path: "str | os.PathLike[str]", at: "int | None" = None) -> bool:
    """Return whether a path, relative to an open directory, is a link."""
    with suppress(OSError):
        return stat.S_ISLNK(os.stat(path, dir_fd=at, follow_symlinks=False).st_mode)
    return False


def refused_link(path: "str | os.PathLike[str]", remedy: str = BY_OPTION) -> UsageError:
    """Return the error for a link, with its remedy."""
    return UsageError(f"{path} is a link: remove it, or {remedy}")


@contextmanager
def naming(path: "str | os.PathLike[str]", at: "int | None" = None, name: str = "") -> Iterator[None]:
    """Name the file in system errors, and refuse a link in its place."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and is_link(name or path, at):
            raise refused_link(path) from None
        error.filename = str(path)
        raise


def at_once(path: "str | os.PathLike[str]", flags: int) -> int:
    """Open a file without waiting or following a link, as the `opener` of `open`."""
    return os.open(path, flags | CAREFULLY)


class Folder:
    """An open directory."""

    def __init__(self, at: int, shown: str) -> None:
        self.at, self.shown, self.mode = at, shown, stat.S_IMODE(os.fstat(at).st_mode)

    def naming(self, name: str) -> AbstractContextManager[None]:
        """Name the whole path in errors about a file in this directory."""
        return naming(os.path.join(self.shown, name), self.at, name)

    def enter(self, name: str, mode: int = 0) -> "Folder":
        """Open or durably create a subdirectory; a new one gets `mode`, or this directory's mode."""
        with self.naming(name):
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self.at)
                os.chmod(name, mode or self.mode, dir_fd=self.at)  # regardless of the umask
                os.fsync(self.at)
            return Folder(os.open(name, DIRECTORY, dir_fd=self.at), os.path.join(self.shown, name))

    def open(self, name: str, flags: int) -> int:
        """Open a file in this directory; a new one gets the directory's mode."""
        with self.naming(name):
            file = os.open(name, flags | CAREFULLY, 0o600, dir_fd=self.at)
            if os.fstat(file).st_nlink > 1:  # a hard link to a file elsewhere
                raise refused_link(os.path.join(self.shown, name))
            if flags & os.O_CREAT:
                with suppress(PermissionError):  # another operator owns it
                    os.fchmod(file, self.mode & 0o666)
            return file


def refuse_links(path: str, remedy: str = BY_OPTION) -> None:
    """Refuse a place reached through a link. Of an absolute path, check only the last name."""
    if is_link(path):
        raise refused_link(path, remedy)
    if path and not os.path.isabs(path):
        refuse_links(os.path.dirname(path), remedy)


def is_trusted(about: os.stat_result) -> bool:
    """Return whether this user or root owns a place, or a group of this user may write there."""
    is_shared = about.st_mode & stat.S_IWGRP and about.st_gid in (os.getegid(), *os.getgroups())
    return about.st_uid in (0, os.geteuid()) or bool(is_shared)


def refuse_strangers(path: str, is_named: bool = False) -> None:
    """Refuse a state directory that another user owns, or that any user could replace or may have made.

    Root can name the directory of another user with `--state-dir`, unless any user could have made it.
    """
    place = os.path.realpath(path)
    about = os.stat(place)
    is_fine = is_trusted(about) or (is_named and os.geteuid() == 0)
    while is_fine and (above := os.path.dirname(place)) != place:
        outer = os.stat(above)
        if outer.st_mode & stat.S_IWOTH:
            if not outer.st_mode & stat.S_ISVTX:
                raise UsageError(f"to fix it: chmod o-w {above}", f"anyone can write to {above} and replace {path}")
            is_fine = is_trusted(about)
        place, about = above, outer
    if not is_fine:
        raise UsageError(f"{path} belongs to another user, who can change the run; use another --state-dir")


def opened_folder(path: str, is_named: bool = False) -> Folder:
    """Open or create a state directory. Refuse one that others can change, or that has a link in it."""
    with naming(path):
        if os.path.isabs(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        folder = Folder(os.open(".", DIRECTORY), "")
        for name in [path] if os.path.isabs(path) else path.split("/"):
            folder, outer = folder.enter(name, PRIVATE), folder.at
            os.close(outer)
        found = [entry.name for entry in os.scandir(folder.at) if entry.is_symlink()]
    if folder.mode & stat.S_IWOTH:
        raise UsageError(f"to fix it: chmod o-w {path}", f"anyone can write to {path} and change the run")
    if found:
        raise refused_link(os.path.join(path, found[0]))
    refuse_strangers(path, is_named)
    return folder
