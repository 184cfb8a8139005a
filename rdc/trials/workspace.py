"""The folders in which trials run: a copy of the project, so that what commands do leaves it as it is."""

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
"""What is no part of a project: Git's data, and the state of runs."""


def plain_folder() -> str | None:
    """A folder for temporary files whose name the tools of all targets can take: make knows no spaces; None for any."""
    folders = (tempfile.gettempdir(), "/tmp", "/var/tmp")  # noqa: S108 (a private folder is made there)
    return next((folder for folder in folders if _PLAIN.fullmatch(folder) and os.access(folder, os.W_OK)), None)


def copied(root: Path, target: Path) -> Path:
    """A copy of a project, and in it the folder that corresponds to the current one.

    What Git ignores is left out, as it is where a workflow runs. Links stay links; other special files are left out.

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
        raise TrialError(f"the project cannot be copied: {error}") from None
    return place


def _files(root: Path) -> Iterator[str]:
    """The files of a project from its root: those that Git takes, or, if it is no repository, all."""
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
        return  # it is in Git's index, and was deleted
    if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
