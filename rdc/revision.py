"""Documents as they were in a revision of git."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

CONFIGURATIONS = ("rdc.toml", "pyproject.toml")
LARGEST = 8 * 1024 * 1024
"""Bytes of a document that is looked at (D1)."""


class RevisionError(ValueError):
    """There is no such revision, or no such file in it."""


@contextmanager
def checked_out(revision: str, file: str) -> Iterator[str]:
    """The path of a file as it was in a revision, with the documents around it, as long as the context lasts.

    Only Markdown files and configurations are written, into a folder of their own; the repository is not touched, and
    nothing of it is run.

    Raises:
        RevisionError: There is no git, no repository, no such revision, or the file is not in it.
    """
    place = Path(file).absolute()
    top = Path(_git(place.parent, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
    name = place.resolve().relative_to(top.resolve()).as_posix()
    listed = _git(top, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", revision)
    entries = dict(_entries(listed))
    if name not in entries:
        raise RevisionError(f"there is no `{name}` in the revision {revision}")
    with tempfile.TemporaryDirectory(prefix="rdc-") as folder:
        root = Path(folder)
        (root / ".git").mkdir()
        for path, blob in entries.items():
            if path == name or path.endswith(".md") or path in CONFIGURATIONS:
                _write(root / path, _git(top, "cat-file", "blob", blob))
        yield str(root / name)


def _entries(listed: bytes) -> Iterator[tuple[str, str]]:
    """The plain files of a tree that are not too large, with the names of their contents."""
    for line in listed.decode(errors="surrogateescape").split("\0"):
        mode, _, rest = line.partition(" ")
        blob, _, path = rest.removeprefix("blob ").partition("\t")
        if mode in {"100644", "100755"} and ".." not in PurePosixPath(path).parts:
            yield path, blob


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)  # noqa: S603, S607
    except OSError as error:
        raise RevisionError(f"git cannot be run: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise RevisionError(said[0].removeprefix("fatal: ") if said else "git failed")
    return done.stdout
