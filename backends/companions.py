"""Companions: the files that an output needs beside it, such as the program that a workflow calls."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from msgspec import Struct

from backends.options.fields import Check

LONGEST_NAME = 200
"""In bytes, for each part of a path: file systems take 255."""

LONGEST_PATH = 1000
"""In characters."""


def check_path(path: str) -> str:
    """The path as it was given; raises `ValueError` if it does not lead from one folder to a file."""
    pure = PurePosixPath(path)
    named = [part for part in pure.parts if part != ".."]
    if not path.isprintable() or "\\" in path:
        raise ValueError("the path has a backslash or a character that cannot be shown in it")
    if pure.is_absolute():
        raise ValueError("the path is absolute; write it as it leads from the folder of the main file")
    if ".." in pure.parts[len(pure.parts) - len(named) :]:
        raise ValueError("`..` can stand at the beginning of the path only")
    if len(path) > LONGEST_PATH or any(len(part.encode()) > LONGEST_NAME for part in named):
        raise ValueError("the path is too long")
    if path.endswith(("/", "/.")) or not named or not pure.suffix:
        # A document may choose the name: with an ending it is no hook of git and no start-up file of a shell.
        raise ValueError(f"the path {path!r} does not name a file with an ending such as `.py`")
    return path


CompanionPath = Annotated[str, Check(check_path)]
"""The type of an option that names a companion."""


class Companion(Struct, frozen=True):
    """A file that belongs to the main one.

    `path` leads to it from the folder of the main file, and `option` is the option of the target that says so: its
    type is `CompanionPath`. Where the main file is not in the folder `home`, from which the path leads through a
    repository, the companion stands beside it. With `mocks`, the text only says where it is from: it becomes the mocks
    in the YAML file of that path in the project, as JSON.
    """

    path: str
    text: str
    option: str
    executable: bool = False
    home: str = ""
    mocks: str = ""

    def __post_init__(self) -> None:
        """Refuse what its option should have refused."""
        check_path(self.path)
