"""Paths of companions: the files beside a generated file."""

from pathlib import PurePosixPath

LONGEST_NAME = 200  # in bytes, for each part of a path; file systems allow 255

LONGEST_PATH = 1000  # in characters


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
