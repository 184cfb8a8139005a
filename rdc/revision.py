"""Documents as they were in a revision of git."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from msgspec import Struct

from compiler.project import CONFIGURATIONS

LARGEST = 8 * 1024 * 1024 + 1
"""Bytes that are kept of a file: enough to see that it is too large (D1)."""

TIME_LIMIT = 60
"""In seconds, for a call of git that says what there is. Its configuration may include a pipe that nobody writes to."""


_PLAIN = ("-c", "core.fsmonitor=false")  # which could be a program


class RevisionError(ValueError):
    """There is no such revision, or no such file in it."""


class CheckedOut(Struct, frozen=True):
    """A folder with what was in a revision, and the document there."""

    root: str
    path: str

    def name(self, path: str) -> str:
        """What the repository calls a file in the folder."""
        return os.path.relpath(os.path.realpath(path), self.root)


def present_files(folder: Path) -> list[str]:
    """The files below a folder that git knows or would take, by their paths from there; not those that it ignores.

    Raises:
        RevisionError: There is no git, or the folder is in no repository.
    """
    listed = _git(folder, *_PLAIN, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    return list(filter(None, os.fsdecode(listed).split("\0")))


def ignored_files(folder: str | Path) -> list[str]:
    """What git ignores below a folder, by paths from there; of an ignored folder only its own, with a `/` at its end.

    Raises:
        RevisionError: There is no git, or the folder is in no repository.
    """
    which = ("--others", "--ignored", "--exclude-standard", "--directory")
    return list(filter(None, os.fsdecode(_git(folder, *_PLAIN, "ls-files", "-z", *which)).split("\0")))


def path_of(name: str) -> str:
    """Return where the file of REVISION:NAME is now: from the top of the repository, except for `./` and `../`."""
    if name.startswith(("./", "../")):
        return name
    return os.path.join(_top(Path.cwd()), name)  # noqa: PTH118 (an odd name stays as it is)


@contextmanager
def checked_out(revision: str, file: str) -> Iterator[CheckedOut]:
    """A file as it was in a revision, with the documents around it, as long as the context lasts.

    Only Markdown files and configurations are written, into a folder of their own; the repository is not touched, and
    nothing of it is run.

    Raises:
        RevisionError: There is no git, no repository, no such revision, or the file is not in it.
    """
    place = Path(os.path.realpath(file))  # of a link: what it leads to, which may be in another repository
    folder = next(above for above in place.parents if above.is_dir())  # it may be gone by now
    top = _top(folder)
    if not place.is_relative_to(os.path.realpath(top)):
        raise RevisionError("its repository has its files elsewhere")
    name = place.relative_to(os.path.realpath(top)).as_posix()
    entries = dict(_entries(_git(top, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", revision)))
    if name not in entries:
        raise RevisionError(f"there is no `{name}` in the revision {revision}")
    wanted = {path: blob for path, blob in entries.items() if path == name or _is_around(path)}
    with tempfile.TemporaryDirectory(prefix="rdc-") as temporary:
        root = Path(os.path.realpath(temporary))
        (root / ".git").mkdir()
        _write(root, name, wanted, _blobs(top, wanted.values()))
        yield CheckedOut(str(root), str(root / name))


def _top(folder: Path) -> str:
    """The top of the repository that a folder is in."""
    return os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n"))


def _is_around(path: str) -> bool:
    """Whether a document may need a file."""
    return path.endswith(".md") or PurePosixPath(path).name in CONFIGURATIONS


def _entries(listed: bytes) -> Iterator[tuple[str, str]]:
    """The plain files of a tree, with the names of their contents; not those that would stand outside of it."""
    for entry in os.fsdecode(listed).split("\0"):
        mode, _, rest = entry.partition(" ")
        blob, _, path = rest.removeprefix("blob ").partition("\t")
        if mode in {"100644", "100755"} and ".." not in path.split("/") and not path.startswith("/"):
            yield path, blob


def _write(root: Path, name: str, wanted: Mapping[str, str], blobs: Iterable[bytes]) -> None:
    """Write files. What only stands around the document `name` may have paths that no file system takes."""
    for path, data in zip(wanted, blobs, strict=True):
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        except OSError as error:
            if path == name:
                raise RevisionError(f"cannot write `{name}`: {error.strerror}") from None


# --- git --------------------------------------------------------------------------------------------------------------


def _git(folder: str | Path, *words: str) -> bytes:
    """What git says."""
    with _running(folder, *words) as git:
        try:
            said, complaint = git.communicate(timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            git.kill()
            raise RevisionError(f"git needs more than {TIME_LIMIT} seconds") from None
    if git.returncode:
        raise RevisionError(_reason(complaint))
    return said


def _blobs(folder: str | Path, names: Iterable[str]) -> Iterator[bytes]:
    """Contents by their names. One process gives all; it is asked for one after the other, so that nothing fills up."""
    try:
        with _running(folder, "cat-file", "--batch") as git:
            assert git.stdin  # noqa: S101 (tells mypy)
            assert git.stdout  # noqa: S101 (as above)
            for name in names:
                git.stdin.write(f"{name}\n".encode())
                git.stdin.flush()
                yield _blob(git.stdout)
    except BrokenPipeError:
        raise RevisionError("git ended too early") from None


def _blob(answers: IO[bytes]) -> bytes:
    """The next content, of which no more than `LARGEST` bytes are kept."""
    _, kind, *rest = answers.readline().split() or (b"", b"")
    if kind != b"blob":
        raise RevisionError("a file of this revision is not here; is the clone a partial one?")
    size = int(rest[0])
    data = answers.read(min(size, LARGEST))
    left = size - len(data) + 1  # a line end comes after it
    while left:
        more = answers.read(min(left, LARGEST))
        if not more:
            raise RevisionError("git ended too early")
        left -= len(more)
    return data


def _running(folder: str | Path, *words: str) -> subprocess.Popen[bytes]:
    """A process of git that looks at the repository of a folder, speaks English, and fetches nothing.

    A partial clone would run what its configuration says to fetch; a hook of git says which repository it is in; and
    files that came with the documents can look like a repository that has no working tree.
    """
    kept = {name: value for name, value in os.environ.items() if name not in {"GIT_DIR", "GIT_WORK_TREE"}}
    environment = {**kept, "LC_ALL": "C", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    command = ["git", "-c", "safe.bareRepository=explicit", "-C", str(folder), *words]
    pipe = subprocess.PIPE
    stderr = subprocess.DEVNULL if words[0] == "cat-file" else pipe
    try:
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, env=environment)  # noqa: S603
    except OSError as error:
        raise RevisionError(f"git cannot be run: {error.strerror}") from None


def _reason(complaint: bytes) -> str:
    said = complaint.decode(errors="replace").strip().splitlines()
    return said[0].removeprefix("fatal: ") if said else "git failed"
