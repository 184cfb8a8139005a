"""What earlier builds have made of what: SHA-256 of all that was read and written, in `.rdc_cache/` (B-3).

The records can be deleted at any time. Each is true by itself, whatever builds run at the same time: it says what
bytes become of which, and is used only while all of them are there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.files import DISK, Disk
from compiler.version import __version__
from rdc.building.plan import Rule

LOCK = "rdc.lock"
FOLDER = ".rdc_cache"
_FILE = "build.json"
_IGNORED = ".gitignore"
MADE_BY = f"rdc {__version__}, format 1"
_CHUNK = 1 << 16
_LEFT = 3600
"""In seconds: no build takes as long, so that a temporary file of that age is of one that was killed."""

ABSENT = ""
PRESENT = "there"
LINK = "-> "
"""In place of a hash: nothing was at a path, it mattered only that something was, or, for a path with `/` at its end,
where the path leads."""


class Record(Struct, frozen=True):
    """What one task was made of: paths from the root with the hashes of what they held.

    `rule` is the key of the task's rule, `outputs` are the hashes of all files with the main one first, and `items` has
    what a reviewer must not miss in each.
    """

    rule: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    items: dict[str, list[str]] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


class Book(Struct, frozen=True):
    """All that the last build noted: its records by the main files, and what it was told to build.

    `made_by` is the version of rdc. `inputs` are the configuration and the lock with their hashes, `rules` what the
    configuration says. `place` identifies the folder that the notes were written in.
    """

    made_by: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    records: dict[str, Record] = field(default_factory=dict)
    place: str = ""


class Watched(Disk, frozen=True):
    """A disk that notes what is read: for each path from the root its hash, `ABSENT` or `PRESENT`."""

    root: str
    seen: dict[str, str]

    def exists(self, file: str, *, follow: bool = True) -> bool:
        """Whether something is there, which is noted."""
        is_there = DISK.exists(file, follow=follow)
        self.seen.setdefault(os.path.relpath(file, self.root), PRESENT if is_there else ABSENT)
        return is_there

    def resolve(self, file: str) -> str:
        """The path at the end of all links, which is noted: a link may come where none was."""
        found = DISK.resolve(file)
        self.seen[f"{os.path.relpath(file, self.root)}/"] = LINK + os.path.relpath(found, self.root)
        return found

    def read(self, file: str | os.PathLike[str]) -> bytes:
        """The bytes of a file, whose hash is noted."""
        path = os.path.relpath(file, self.root)
        try:
            data = DISK.read(file)
        except FileNotFoundError:
            self.seen[path] = ABSENT
            raise
        self.seen[path] = sha256(data).hexdigest()
        return data


class Present:
    """The hashes of what is there now, each file read once. The current folder is the root of the project."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._ends: dict[str, str] = {}

    def hash(self, path: str) -> str:
        """The hash of a file; `ABSENT` for none, `PRESENT` for what is no readable file."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._hash(path)
        return known

    def _hash(self, path: str) -> str:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return ABSENT
        except OSError:
            return PRESENT
        try:
            return self._of_open(descriptor)
        except OSError:
            return PRESENT
        finally:
            os.close(descriptor)

    def _of_open(self, descriptor: int) -> str:
        """The hash of an open file; most are read at once."""
        data = os.read(descriptor, _CHUNK)
        digest = sha256(data)
        while len(data) == _CHUNK:
            data = os.read(descriptor, _CHUNK)
            digest.update(data)
        return digest.hexdigest()

    def is_as(self, noted: Mapping[str, str]) -> bool:
        """Whether all is as it was noted."""
        return all(self._is_as(path, was) for path, was in noted.items())

    def _is_as(self, path: str, was: str) -> bool:
        if was.startswith(LINK):
            return LINK + self._end(path) == was
        return bool(self.hash(path)) if was == PRESENT else self.hash(path) == was

    def _end(self, path: str) -> str:
        """Where a path leads, each looked up once."""
        if path not in self._ends:
            self._ends[path] = os.path.relpath(os.path.realpath(path))
        return self._ends[path]


def load(root: str) -> Book:
    """What the last build by this version of rdc noted; an empty book if there is none that can be read."""
    folder = os.path.join(root, FOLDER)
    try:
        with open(os.path.join(folder, _FILE), "rb") as file:
            found = msgspec.json.decode(file.read(), type=Book)
    except (OSError, msgspec.DecodeError):
        return Book()
    return found if found.made_by == MADE_BY and found.place == _place(folder) else Book()


def _place(folder: str) -> str:
    """The identity of the folder of the records. No repository can know it: a commit brings no records with it."""
    try:
        found = os.lstat(os.path.join(folder, _IGNORED))
    except OSError:
        return "none"
    return f"{found.st_ino} {found.st_ctime_ns}"


def save(root: str, book: Book) -> None:
    """Keep the notes; a build that cannot is as right as one that can."""
    folder = os.path.join(root, FOLDER)
    temporary = os.path.join(folder, f"{os.urandom(8).hex()}.tmp")
    try:
        prepare(root)
        with open(temporary, "xb") as file:
            file.write(msgspec.json.encode(replace(book, place=_place(folder))))
        os.replace(temporary, os.path.join(folder, _FILE))
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)


def staging(root: str) -> Path | None:
    """The folder of the records for temporary files; None where it cannot be made."""
    try:
        return Path(prepare(root))
    except OSError:
        return None


def prepare(root: str) -> str:
    """Make the folder of the records, which git ignores, without what killed builds left in it; gives its path."""
    folder = os.path.join(root, FOLDER)
    if os.path.islink(folder):
        raise OSError("a link could lead anywhere")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, _IGNORED)
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("*\n")
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".tmp"):
                with suppress(OSError):  # another build may have renamed it
                    if time() - entry.stat(follow_symlinks=False).st_mtime > _LEFT:
                        os.unlink(entry.path)
    return folder
