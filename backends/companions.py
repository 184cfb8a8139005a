"""Companion files: the files that an output needs beside it, such as the program that a workflow calls."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from msgspec import Struct

from backends.options.fields import Check

LONGEST_NAME = 200
"""In bytes, for each part of a path. File systems allow 255."""

LONGEST_PATH = 1000
"""In characters."""


def check_path(path: str) -> str:
    """Return the path; raises `ValueError` if it is not a relative path to a file."""
    pure = PurePosixPath(path)
    named = [part for part in pure.parts if part != ".."]
    if not path.isprintable() or "\\" in path:
        raise ValueError("the path has a backslash or an invisible character")
    if pure.is_absolute():
        raise ValueError("the path is absolute; make it relative to the folder of the main file")
    if ".." in pure.parts[len(pure.parts) - len(named) :]:
        raise ValueError("`..` is only allowed at the start of the path")
    if len(path) > LONGEST_PATH or any(len(part.encode()) > LONGEST_NAME for part in named):
        raise ValueError("the path is too long")
    if path.endswith(("/", "/.")) or not named or not pure.suffix:
        # A document may choose the name. With an extension it is not a Git hook or a startup file of a shell.
        raise ValueError(f"the path {path!r} needs a file extension such as `.py`")
    return path


CompanionPath = Annotated[str, Check(check_path)]
"""The type of an option that names a companion."""


class Companion(Struct, frozen=True):
    """A file that belongs to the main one.

    `path` is relative to the folder of the main file. `option` is the target's option with the path; its type is
    `CompanionPath`. If the main file is not in the folder `home` of the repository, the companion is written next to
    it.
    """

    path: str
    text: str
    option: str
    executable: bool = False
    home: str = ""

    def __post_init__(self) -> None:
        """Reject what the option should have rejected."""
        check_path(self.path)
