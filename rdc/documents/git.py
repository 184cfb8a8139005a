"""Documents in a revision of git."""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from msgspec import Struct

from compiler.project.project import CONFIGURATIONS

LARGEST = 8 * 1024 * 1024 + 1  # the bytes that are read of a file: enough to see that it is too large

TIME_LIMIT = 60  # in seconds, for a call of git; its configuration may include a pipe that no one writes to


class RevisionError(ValueError):
    """The revision does not exist, or does not have the file."""


class CheckedOut(Struct, frozen=True):
    """A folder with files of a revision, and the document in it."""

    root: str
    path: str

    def name(self, path: str) -> str:
        """Return the repository's path of a file in the folder."""
        return os.path.relpath(os.path.realpath(path), self.root)


PRESENT = ("--cached", "--others", "--exclude-standard", "--deduplicate")
"""The files that git tracks or could track, without ignored ones."""

IGNORED = ("--others", "--ignored", "--exclude-standard", "--directory")
"""The paths that git ignores. An ignored folder ends with `/` and hides its content."""


def files_of(folder: str | Path, which: Sequence[str]) -> list[str]:
    """Return the paths below a folder that are `PRESENT` or `IGNORED`; raises `RevisionError` without a repository."""
    # A file system monitor could be a program.
    listed = _git(folder, "-c", "core.fsmonitor=false", "ls-files", "-z", *which)
    return list(filter(None, os.fsdecode(listed).split("\0")))


def path_of(name: str) -> str:
    """Return the current place of the file in REVISION:NAME: `./` and `../` are relative to the current folder."""
    if name.startswith(("./", "../")):
        return name
    return os.path.join(_top(Path.cwd()), name)


@contextmanager
def checked_out(revision: str, file: str) -> Iterator[CheckedOut]:
    """Check out a file from a revision, with the documents around it, while the context lasts.

    Only Markdown files and configurations are written, to a temporary folder. The repository stays unchanged, and
    nothing in it is executed.

    Raises:
        RevisionError: There is no git, no repository, no such revision, or no such file.
    """
    place = Path(os.path.realpath(file))  # of a link: its target, which may be in another repository
    top = _top(next(above for above in place.parents if above.is_dir()))  # the folder may be gone
    if not place.is_relative_to(os.path.realpath(top)):
        raise RevisionError("the files of its repository are in another place")
    name = place.relative_to(os.path.realpath(top)).as_posix()
    entries = dict(_entries(_git(top, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", revision)))
    if name not in entries:
        raise RevisionError(f"the revision {revision} has no file `{name}`")
    around = {path for path in entries if path.endswith(".md") or PurePosixPath(path).name in CONFIGURATIONS}
    wanted = {path: blob for path, blob in entries.items() if path == name or path in around}
    with tempfile.TemporaryDirectory(prefix="rdc-") as temporary:
        root = Path(os.path.realpath(temporary))
        (root / ".git").mkdir()
        _write(root, name, wanted, _blobs(top, wanted.values()))
        yield CheckedOut(str(root), str(root / name))


def _top(folder: Path) -> str:
    return os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n"))


def _entries(listed: bytes) -> Iterator[tuple[str, str]]:
    """Yield the plain files of a tree with their blob names, without unsafe paths."""
    for entry in os.fsdecode(listed).split("\0"):
        mode, _, rest = entry.partition(" ")
        blob, _, path = rest.removeprefix("blob ").partition("\t")
        if mode in {"100644", "100755"} and ".." not in path.split("/") and not path.startswith("/"):
            yield path, blob


def _write(root: Path, name: str, wanted: Mapping[str, str], blobs: Iterable[bytes]) -> None:
    """Write files. Files around the document `name` may have paths that the file system rejects."""
    for path, data in zip(wanted, blobs, strict=True):
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        except OSError as error:
            if path == name:
                raise RevisionError(f"cannot write `{name}`: {error.strerror}") from None


# --- git --------------------------------------------------------------------------------------------------------------


def _git(folder: str | Path, *words: str) -> bytes:
    with _running(folder, *words) as git:
        try:
            output, complaint = git.communicate(timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            git.kill()
            raise RevisionError(f"git took more than {TIME_LIMIT} seconds") from None
    if git.returncode:
        reason = complaint.decode(errors="replace").strip() or "git failed"
        raise RevisionError(reason.splitlines()[0].removeprefix("fatal: "))
    return output


def _blobs(folder: str | Path, names: Iterable[str]) -> Iterator[bytes]:
    """Yield contents by their names, from one process. It gets one request at a time, so that no pipe fills up."""
    try:
        with _running(folder, "cat-file", "--batch") as git:
            assert git.stdin  # noqa: S101 (for mypy)
            assert git.stdout  # noqa: S101 (as above)
            for name in names:
                git.stdin.write(f"{name}\n".encode())
                git.stdin.flush()
                yield _blob(git.stdout)
    except BrokenPipeError:
        raise RevisionError("git ended too early") from None


def _blob(answers: IO[bytes]) -> bytes:
    """Return the next content, limited to `LARGEST` bytes."""
    _, kind, *rest = answers.readline().split() or (b"", b"")
    if kind != b"blob":
        raise RevisionError("a file of this revision is missing; is this a partial clone?")
    size = int(rest[0])
    data = answers.read(min(size, LARGEST))
    left = size - len(data) + 1  # followed by a line break
    while left:
        more = answers.read(min(left, LARGEST))
        if not more:
            raise RevisionError("git ended too early")
        left -= len(more)
    return data


def _running(folder: str | Path, *words: str) -> subprocess.Popen[bytes]:
    """Return a git process for a folder's repository. It speaks English, and fetches nothing."""
    # A partial clone could run a configured program to fetch files. A hook of git sets the repository in the
    # environment. Files next to documents can look like a repository without a working tree.
    inherited = {name: value for name, value in os.environ.items() if name not in {"GIT_DIR", "GIT_WORK_TREE"}}
    environment = {**inherited, "LC_ALL": "C", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    command = ["git", "-c", "safe.bareRepository=explicit", "-C", str(folder), *words]
    pipe = subprocess.PIPE
    stderr = subprocess.DEVNULL if words[0] == "cat-file" else pipe
    try:
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, env=environment)  # noqa: S603
    except OSError as error:
        raise RevisionError(f"cannot run git: {error.strerror}") from None
