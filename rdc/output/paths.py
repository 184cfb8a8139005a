"""The places of generated files, and files that must not be overwritten."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from backends.base import MARK, MARK_LINES
from compiler.diagnostics.model import Diagnostic
from compiler.frontends import endings
from compiler.text.source import without_ending
from rdc.documents.find import Found
from rdc.draw.graphviz import PNG
from rdc.output.write import unwritable_link

NAME_ANOTHER = "choose another file with -o"
NO_PERMISSION = "it is read-only, or you have no write permission"

OF_GITHUB = (".github", "workflows")
"""GitHub's folder of workflows. GitHub ignores its subfolders."""

Identities = Collection[tuple[int, int]]
"""Devices and inodes, which identify files."""


_MARK_BYTES = 4096  # a PNG has no lines, so its mark is in these first bytes


class Output(Struct, frozen=True):
    """A generated file: its source and its path, as a person writes them.

    A companion has an `option` of the target that names it. The main file has none, because `-o` names it. With
    `is_built`, a `[[build]]` of the project names the file.
    """

    source: str
    path: str
    option: str = ""
    is_built: bool = False

    @property
    def advice(self) -> str:
        """How to choose another place."""
        if self.is_built:
            return "choose another file with `out` in its `[[build]]`"
        return f"choose another file with the target's option `{self.option}`" if self.option else NAME_ANOTHER

    @property
    def place(self) -> Path:
        """The file itself, after all links. A circular link stays unchanged."""
        path = Path(self.path)
        try:
            return path.resolve()
        except (OSError, RuntimeError):
            return path.absolute()


def plan(sources: Sequence[Found], out: str | None, suffix: str) -> list[Output]:
    """Return the outputs of a compilation, in the order of the sources.

    `out` is a file; or a folder, if it is one, ends in `/` or there are several sources; or None: beside these.
    """
    if out is None:
        return [Output(one.path, str(Path(one.path).parent / output_name(one.path, suffix))) for one in sources]
    if len(sources) > 1 or out.endswith("/") or os.path.isdir(out):  # noqa: PTH112 (it accepts every path)
        folders = [os.path.abspath(one.folder) for one in sources if one.folder]  # noqa: PTH100 (as above)
        base = os.path.commonpath(folders) if folders else ""
        return [_in_folder(out, one, base, suffix) for one in sources]
    return [Output(sources[0].path, out)]


def _in_folder(out: str, source: Found, base: str, suffix: str) -> Output:
    """Return an output in a folder. A found document keeps its subfolders below `base`, but not for GitHub."""
    name = output_name(source.path, suffix)
    if Path(out).absolute().parts[-2:] == OF_GITHUB:
        return Output(source.path, str(Path(out, name)))
    inner = os.path.relpath(os.path.dirname(source.path) or os.curdir, base) if source.folder else ""  # noqa: PTH120 (as above)
    return Output(source.path, str(Path(out, inner, name)))


def output_name(source: str, suffix: str) -> str:
    """Return the name of a source with another extension: `deploy.py` for `deploy.runbook.md`."""
    return without_ending(Path(source).name, endings()) + suffix


def obstacles(outputs: Sequence[Output], sources: Iterable[str], *, force: bool) -> Iterator[Diagnostic]:
    """Report files that must not be overwritten, and places that cannot be written."""
    documents = set(filter(None, map(_identity, sources)))
    for output in outputs:
        try:
            place = output.place
            problem = "" if _identity(place) in documents else unwritable_link(output.path)
            if problem:
                yield unwritable(output.path, problem, "remove the link")
            elif place.is_dir():
                yield unwritable(output.path, "it is a folder", output.advice)
            elif not (there := next(filter(os.path.lexists, (place.parent, *place.parent.parents)))).is_dir():
                yield unwritable(str(Path(output.path).parent), f"{there.name} is not a folder")
            elif not os.access(there, os.W_OK | os.X_OK):
                yield unwritable(str(Path(output.path).parent), NO_PERMISSION)
            elif place.exists():
                yield from _existing(output, place, documents, force=force)
        except OSError as error:  # for example, a name that is too long
            yield unwritable(output.path, error.strerror or str(error), output.advice)


def collisions(outputs: Sequence[Output]) -> Iterator[Diagnostic]:
    """Report outputs with more than one source."""
    places: dict[Path, list[Output]] = {}
    for output in outputs:
        places.setdefault(output.place, []).append(output)
    for same in places.values():
        if len(same) > 1:
            sources = " and ".join(output.source for output in same)
            message = f"{sources} would be written to the same file {same[0].path}"
            remedy = "compile them one by one with different -o, or rename one"
            yield Diagnostic("RD513", same[0].path, None, message, remedy)


def unwritable(path: str, reason: str, advice: str = "nothing was written") -> Diagnostic:
    """Return the diagnostic for an output that cannot be written."""
    return Diagnostic("RD511", path, None, f"cannot write {path}: {reason}", advice)


def _identity(path: str | Path) -> tuple[int, int] | None:
    """Return the identity of a file, independent of its path; None if it is unknown."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _existing(output: Output, place: Path, sources: Identities, *, force: bool) -> Iterator[Diagnostic]:
    if not place.is_file():
        remedy = output.advice if output.option else "`-o -` writes to standard output"
        yield unwritable(output.path, "it is not a regular file", remedy)
    elif not os.access(place, os.R_OK | os.W_OK):
        yield unwritable(output.path, "you have no permission")
    elif _identity(place) in sources:
        message = f"{output.path} is a source; the output would overwrite it"
        yield Diagnostic("RD510", output.path, None, message, output.advice)
    elif not (force or has_mark(place)):
        message = f"{output.path} was not generated by rdc"
        otherwise = "remove the file" if output.is_built else "overwrite the file with --force"
        yield Diagnostic("RD510", output.path, None, message, f"{output.advice}, or {otherwise}")


def has_mark(path: Path) -> bool:
    """Return whether a file was generated by rdc."""
    with path.open("rb") as stream:
        if stream.read(len(PNG)) == PNG:
            return MARK.encode() in stream.read(_MARK_BYTES)
        stream.seek(0)
        return any(MARK.encode() in stream.readline(_MARK_BYTES) for _ in range(MARK_LINES))
