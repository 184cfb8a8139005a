"""Where generated files go, and what must not be overwritten."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from backends.base import MARK, MARK_LINES
from compiler.diagnostic import Diagnostic
from compiler.frontends import endings
from compiler.source import without_ending
from rdc.documents import Found
from rdc.drawing.pictures import PNG

NAME_ANOTHER = "name another file with -o"

OF_GITHUB = (".github", "workflows")
"""The folder of GitHub's workflows; it reads none in folders below it."""

Identities = Collection[tuple[int, int]]
"""What tells files from all others: their devices and inodes."""

_MARK_BYTES = 4096
"""Where a PNG has its mark, since it has no lines."""


class Output(Struct, frozen=True):
    """A generated file: the source that it is compiled from and its path, both as a person writes them.

    A companion also has the option of the target that names it; the main file, which `-o` names, has none. With
    `is_built` a `[[build]]` of the project names it. With `makes_folders` missing folders are made for it.
    """

    source: str
    path: str
    option: str = ""
    is_built: bool = False
    makes_folders: bool = False

    @property
    def advice(self) -> str:
        """How to have it written elsewhere."""
        if self.is_built:
            return "let the `out` of its `[[build]]` name another file"
        return f"name another file with the option `{self.option}` of the target" if self.option else NAME_ANOTHER

    @property
    def place(self) -> Path:
        """The file itself, at the end of all links; a link that leads in a circle stays what it is."""
        path = Path(self.path)
        try:
            return path.resolve()
        except (OSError, RuntimeError):
            return path.absolute()


def plan(sources: Sequence[Found], out: str | None, suffix: str) -> list[Output]:
    """Return the outputs of a compilation, in the order of the sources.

    Args:
        sources: The documents.
        out: A file; a folder if it is one, ends in `/` or there are several sources; None: beside these.
        suffix: The extension of the target's files, such as `.py`.
    """
    if out is None:
        return [Output(one.path, str(Path(one.path).parent / output_name(one.path, suffix))) for one in sources]
    if len(sources) > 1 or out.endswith("/") or os.path.isdir(out):  # noqa: PTH112 (it takes every path, Path.is_dir raises for some)
        base = _common([one.folder for one in sources if one.folder])
        return [_in_folder(out, one, base, suffix) for one in sources]
    return [Output(sources[0].path, out)]


def _common(folders: Sequence[str]) -> str:
    """The nearest folder that holds all of these; "" if there are none."""
    return os.path.commonpath([os.path.abspath(folder) for folder in folders]) if folders else ""  # noqa: PTH100 (as above)


def _in_folder(out: str, source: Found, base: str, suffix: str) -> Output:
    """The output in a folder; a document that was found keeps its own folders from the base on, but not for GitHub."""
    name = output_name(source.path, suffix)
    if Path(out).absolute().parts[-2:] == OF_GITHUB:
        return Output(source.path, str(Path(out, name)), makes_folders=bool(source.folder))
    inner = os.path.relpath(os.path.dirname(source.path) or os.curdir, base) if source.folder else ""  # noqa: PTH120 (as above)
    return Output(source.path, str(Path(out, inner, name)), makes_folders=bool(source.folder))


def output_name(source: str, suffix: str) -> str:
    """The name of a source with its ending replaced: `deploy.runbook.md` becomes `deploy.py`."""
    return without_ending(Path(source).name, endings()) + suffix


def obstacles(outputs: Sequence[Output], sources: Iterable[str], *, force: bool) -> Iterator[Diagnostic]:
    """What forbids to write the outputs.

    Args:
        outputs: What would be written.
        sources: The paths of all documents that were read. They are never overwritten.
        force: Allows to overwrite other files that rdc did not generate.
    """
    documents = set(filter(None, map(_identity, sources)))
    for output in outputs:
        try:
            yield from _obstacle(output, documents, force=force)
        except OSError as error:  # a name that is too long, say
            yield unwritable(output.path, error.strerror or str(error), output.advice)


def collisions(outputs: Sequence[Output]) -> Iterator[Diagnostic]:
    """The outputs that more than one source would become."""
    places: dict[Path, list[Output]] = {}
    for output in outputs:
        places.setdefault(output.place, []).append(output)
    for same in places.values():
        if len(same) > 1:
            sources = " and ".join(output.source for output in same)
            message = f"{sources} would both be written to {same[0].path}"
            remedy = "compile them one by one, each with its own -o, or rename one"
            yield Diagnostic("RD513", same[0].path, None, message, remedy)


def unwritable(path: str, reason: str, advice: str = "nothing was written") -> Diagnostic:
    """The diagnostic for an output that cannot be written."""
    return Diagnostic("RD511", path, None, f"cannot write {path}: {reason}", advice)


def _obstacle(output: Output, sources: Identities, *, force: bool) -> Iterator[Diagnostic]:
    place = output.place
    if place.is_symlink():
        yield unwritable(output.path, "its links lead in a circle", "remove the link")
    elif not (place.parent.is_dir() or output.option or output.is_built or output.makes_folders):
        yield unwritable(str(Path(output.path).parent), "there is no such folder", "create the folder first")
    elif place.is_dir():
        yield unwritable(output.path, "it is a folder", output.advice)
    elif problem := _folder_problem(place.parent):
        yield unwritable(str(Path(output.path).parent), problem)
    elif place.exists():
        yield from _existing(output, place, sources, force=force)


def _identity(path: str | Path) -> tuple[int, int] | None:
    """What tells a file from all others, whatever its path; None if it cannot be told."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _folder_problem(folder: Path) -> str:
    """What forbids to write in a folder, or to make it, in the words of a diagnostic; "" for nothing."""
    there = next(around for around in (folder, *folder.parents) if os.path.lexists(around))
    if not there.is_dir():
        return f"{there.name} is no folder"
    return "" if os.access(there, os.W_OK | os.X_OK) else "it is read-only, or you may not write in it"


def _existing(output: Output, place: Path, sources: Identities, *, force: bool) -> Iterator[Diagnostic]:
    if not place.is_file():
        remedy = output.advice if output.option else "`-o -` writes to standard output"
        yield unwritable(output.path, "it is not a regular file", remedy)
    elif not os.access(place, os.R_OK | os.W_OK):
        yield unwritable(output.path, "no permission")
    elif _identity(place) in sources:
        message = f"{output.path} is a source, and the output would replace it"
        yield Diagnostic("RD510", output.path, None, message, output.advice)
    elif not (force or has_mark(place)):
        message = f"{output.path} was not generated by rdc"
        otherwise = "remove the file" if output.is_built else "overwrite it with --force"
        yield Diagnostic("RD510", output.path, None, message, f"{output.advice}, or {otherwise}")


def has_mark(path: Path) -> bool:
    """Whether a file was generated by rdc."""
    with path.open("rb") as stream:
        if stream.read(len(PNG)) == PNG:
            return MARK.encode() in stream.read(_MARK_BYTES)
        stream.seek(0)
        return any(MARK.encode() in stream.readline(_MARK_BYTES) for _ in range(MARK_LINES))
