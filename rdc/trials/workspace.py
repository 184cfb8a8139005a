"""The folders of trials: a copy of the project, so that commands don't change the original."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compiler.regex import Regex
from rdc.revision import RevisionError, present_files
from rdc.trials.run import TrialError

_PLAIN = Regex(r"[A-Za-z0-9/._-]+")

LEFT_OUT = {".git", ".rdc"}
"""Folders that aren't part of a project: Git's data, and the state of runs."""


def plain_folder() -> str | None:
    """Return a folder for temporary files without special characters, because make doesn't support spaces."""
    folders = (tempfile.gettempdir(), "/tmp", "/var/tmp")  # noqa: S108 (a private folder is made there)
    return next((folder for folder in folders if _PLAIN.fullmatch(folder) and os.access(folder, os.W_OK)), None)


def copied(root: Path, target: Path) -> Path:
    """Copy a project, and return the folder in the copy that corresponds to the current one.

    Files that Git ignores are left out, as in a workflow. Links stay links; other special files are left out.

    Raises:
        TrialError: The copy cannot be made.
    """
    try:
        for name in _files(root):
            _copy(root / name, target / name)
        here = Path.cwd().resolve()
        place = target / here.relative_to(root) if here.is_relative_to(root) else target
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrialError(f"cannot copy the project: {error}") from None
    return place


def _files(root: Path) -> Iterator[str]:
    """Yield the files of a project: the files that Git includes, or all files outside a repository."""
    try:
        yield from present_files(root)
    except RevisionError:
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in LEFT_OUT]
            links = [name for name in folders if Path(folder, name).is_symlink()]
            yield from (os.path.relpath(os.path.join(folder, name), root) for name in (*names, *links))  # noqa: PTH118


def _copy(source: Path, target: Path) -> None:
    try:
        mode = source.lstat().st_mode
    except FileNotFoundError:
        return  # it is in Git's index, but was deleted
    if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
