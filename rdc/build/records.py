"""Records of earlier builds in `.rdc_cache/`: the SHA-256 of all inputs and outputs.

The records can be deleted at any time. Parallel builds don't invalidate them: each record maps inputs to outputs, and
is used only while all of these exist.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from time import time

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic
from compiler.text.files import DISK, Disk
from compiler.version import __version__
from rdc.documents.plan import Rule
from rdc.report.rules import Unmatched

LOCK = "rdc.lock"
FOLDER = ".rdc_cache"
_FILE = "build.json"
_IGNORED = ".gitignore"
MADE_BY = f"rdc {__version__}, format 2"
_CHUNK = 1 << 16
_LEFT = 3600  # in seconds; builds are faster than this, so older temporary files are from killed builds

ABSENT = ""
PRESENT = "there"
LINK = "-> "
"""Special values instead of a hash: no file, some file, or, for a path that ends with `/`, the path's target."""


class Record(Struct, frozen=True):
    """The inputs and outputs of one task: paths from the root with their hashes.

    `rule` is the key of the task's rule. `outputs` has the main file first. `items` has the items to review of each
    file, and the rules of the document by its path. `unmatched` are the problems of the project's rules in it.
    """

    rule: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    items: dict[str, list[str]] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    unmatched: Unmatched = ()

    @property
    def is_done(self) -> bool:
        """Whether the document has no error. One that is only served has no outputs."""
        return bool(self.outputs or self.items)


class BuildRecords(Struct, frozen=True):
    """The records of the last build by main file, and its configuration.

    `made_by` is the version of rdc. `inputs` are the configuration and the lock with their hashes, `rules` the rules of
    the configuration. `place` identifies the folder in which the records were written.
    """

    made_by: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    records: dict[str, Record] = field(default_factory=dict)
    place: str = ""


class Watched(Disk, frozen=True):
    """A disk that records what is read: the hash of each path from the root, `ABSENT` or `PRESENT`."""

    root: str
    seen: dict[str, str]

    def exists(self, file: str, *, follow: bool = True) -> bool:
        """Return whether a file exists, and record it."""
        is_there = DISK.exists(file, follow=follow)
        self.seen.setdefault(os.path.relpath(file, self.root), PRESENT if is_there else ABSENT)
        return is_there

    def resolve(self, file: str) -> str:
        """Return the path with all links resolved, and record it, because a link may appear later."""
        found = DISK.resolve(file)
        self.seen[f"{os.path.relpath(file, self.root)}/"] = LINK + os.path.relpath(found, self.root)
        return found

    def read(self, file: str | os.PathLike[str]) -> bytes:
        """Return the bytes of a file, and record its hash."""
        path = os.path.relpath(file, self.root)
        try:
            data = DISK.read(file)
        except FileNotFoundError:
            self.seen[path] = ABSENT
            raise
        self.seen[path] = sha256(data).hexdigest()
        return data


class FileHashes:
    """The hashes of the present files. Each file is read once. The current folder is the project root."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._ends: dict[str, str] = {}

    def hash(self, path: str) -> str:
        """Return the hash of a file, `ABSENT` if it does not exist, or `PRESENT` if it can't be read as a file."""
        if path not in self._known:
            self._known[path] = self._hash(path)
        return self._known[path]

    def _hash(self, path: str) -> str:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return ABSENT
        except OSError:
            return PRESENT
        digest = sha256()
        try:
            while data := os.read(descriptor, _CHUNK):
                digest.update(data)
        except OSError:
            return PRESENT
        finally:
            os.close(descriptor)
        return digest.hexdigest()

    def is_as(self, noted: Mapping[str, str]) -> bool:
        """Return whether all paths are unchanged since they were recorded."""
        return all(self._is_as(path, was) for path, was in noted.items())

    def _is_as(self, path: str, was: str) -> bool:
        if not was.startswith(LINK):
            return bool(self.hash(path)) if was == PRESENT else self.hash(path) == was
        if path not in self._ends:
            self._ends[path] = os.path.relpath(os.path.realpath(path))
        return LINK + self._ends[path] == was


def load(root: str) -> BuildRecords:
    """Return the records of the last build by this version of rdc, or an empty book."""
    folder = os.path.join(root, FOLDER)
    try:
        with open(os.path.join(folder, _FILE), "rb") as file:
            found = msgspec.json.decode(file.read(), type=BuildRecords)
    except (OSError, msgspec.DecodeError):
        return BuildRecords()
    return found if found.made_by == MADE_BY and found.place == _place(folder) else BuildRecords()


def _place(folder: str) -> str:
    """Return the identity of the records' folder. Records copied from a repository have another one and don't count."""
    try:
        found = os.lstat(os.path.join(folder, _IGNORED))
    except OSError:
        return "none"
    return f"{found.st_ino} {found.st_ctime_ns}"


def save(root: str, last_build: BuildRecords) -> None:
    """Save the records. Errors are ignored, because records only save time."""
    folder = os.path.join(root, FOLDER)
    temporary = os.path.join(folder, f"{os.urandom(8).hex()}.tmp")
    try:
        prepare(root)
        with open(temporary, "xb") as file:
            file.write(msgspec.json.encode(replace(last_build, place=_place(folder))))
        os.replace(temporary, os.path.join(folder, _FILE))
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)


def prepare(root: str) -> str:
    """Create the folder of the records, which git ignores, and remove leftovers of killed builds. Returns its path."""
    folder = os.path.join(root, FOLDER)
    if os.path.islink(folder):
        raise OSError("it is a link")
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
