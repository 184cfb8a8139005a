"""The places of all generated files: the main files, and their companions."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from msgspec import Struct

from backends.base import Backend, CallReason, Companion
from backends.common.command import read_command
from backends.common.remarks import listed
from compiler.diagnostics.model import Diagnostic
from compiler.project.project import project_around
from compiler.text.source import sha256_of
from rdc.output.generate import Product
from rdc.output.paths import OF_GITHUB, Output, collisions, has_mark
from rdc.output.write import File, is_of_git


class PlacedFile(Struct, frozen=True):
    """A generated file with its place."""

    output: Output
    data: bytes
    executable: bool

    @property
    def file(self) -> File:
        """The file to write."""
        return File(Path(self.output.path), self.data, self.executable)


class Group(Struct, frozen=True):
    """All files for one source."""

    main: PlacedFile
    companions: tuple[PlacedFile, ...] = ()

    @property
    def names(self) -> str:
        """The main file and its companions, for a message."""
        return listed([str(Path(self.main.output.path)), *(placed_file.output.path for placed_file in self.companions)])

    @property
    def is_current(self) -> str:
        """The message that all files are up to date."""
        return f"{self.names} {'are' if self.companions else 'is'} up to date"


class Layout(Struct, frozen=True, dict=True):
    """The files for each source without errors, without companions in forbidden places.

    `mains` are the main files of all sources. The findings report files with conflicting places.
    """

    mains: tuple[Output, ...]
    groups: tuple[Group, ...]
    findings: tuple[Diagnostic, ...]

    @property
    def stages(self) -> tuple[tuple[PlacedFile, ...], tuple[PlacedFile, ...]]:
        """The companions, then the main files, so that no main file exists without its companions."""
        return self._companions, tuple(group.main for group in self.groups)

    @property
    def files(self) -> tuple[PlacedFile, ...]:
        """Each file once."""
        return tuple(chain.from_iterable(self.stages))

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The places of all files, without errors."""
        return (*self.mains, *(placed_file.output for placed_file in self._companions))

    @cached_property
    def _companions(self) -> tuple[PlacedFile, ...]:
        """The companions, with shared ones only once."""
        places: dict[Path, PlacedFile] = {}
        for placed_file in (companion for group in self.groups for companion in group.companions):
            places.setdefault(placed_file.output.place, placed_file)
        return tuple(places.values())


def lay_out(mains: Sequence[Output], products: Sequence[Product | None], *, executable: bool) -> Layout:
    """Return the places of the files."""
    findings = list(collisions(mains))
    groups: list[Group] = []
    for main, product in zip(mains, products, strict=True):
        if product is None:
            continue
        beside: list[PlacedFile] = []
        for companion in product.companions:
            own = placed_file(main, companion)
            if problem := _trespass(main, own.output):
                findings.append(problem)
            else:
                beside.append(own)
        groups.append(Group(PlacedFile(main, product.data, executable), tuple(beside)))
        if product.reason and beside:
            findings.append(_calls(product.reason, main, beside))
    findings += _clashes(mains, [companion for group in groups for companion in group.companions])
    return Layout(tuple(mains), tuple(groups), tuple(findings))


def unfit_paths(mains: Iterable[Output], backend: Backend[Any]) -> Iterator[Diagnostic]:
    """Report paths of main files that the target cannot use."""
    for main in mains:
        if problem := backend.path_issue(main.path):
            code, text, remedy = problem
            yield Diagnostic(code, main.source, None, text, remedy)


def beside(main: str, path: str) -> str:
    """Return the path of a companion: `a/c/program.py` for `a/b/main.yml` and `../c/program.py`."""
    folder = PurePath(main).parent
    for part in PurePosixPath(path).parts:
        folder = folder.parent if part == ".." and folder.name not in ("", "..") else folder / part
    return str(folder)


def placed_file(main: Output, companion: Companion) -> PlacedFile:
    """Return a companion of a main file with its place."""
    output = Output(main.source, placed(main, companion.path, companion.home), companion.option)
    return PlacedFile(output, companion.text.encode(), companion.executable)


def placed(main: Output, path: str, home: str) -> str:
    """Return the path of a companion; if the main file is not in its home, the companion is next to it."""
    is_away = home and not main.place.parent.as_posix().endswith(f"/{home}")
    return beside(main.path, PurePosixPath(path).name if is_away else path)


def _calls(reason: CallReason, main: Output, beside: Sequence[PlacedFile]) -> Diagnostic:
    """Report why a main file calls the program beside it."""
    files = [placed_file.output.path for placed_file in beside]
    message = f"{reason.clause}: {main.path} calls {files[0]}"
    return Diagnostic("RD539", reason.path, reason.span, message, f"keep {listed([main.path, *files])} together")


def _root_around(folder: Path) -> Path:
    """Return the root of a folder's project."""
    # For GitHub workflows, it is two folders above if there is no other sign.
    root = Path(project_around(str(folder)).root)
    return folder.parents[1] if root == folder and folder.parts[-2:] == OF_GITHUB else root


def _trespass(main: Output, companion: Output) -> Diagnostic | None:
    """Report a companion outside of the project, because a document may choose its path."""
    root, place = _root_around(main.place.parent), companion.place
    if not place.is_relative_to(root):
        problem = f"is outside the project of {main.path}"
    elif is_of_git(place.relative_to(root)):
        problem = "is in the folder .git, which only git may change"
    else:
        return None
    message = f"{companion.path}, a companion file of {main.path}, {problem}"
    remedy = (
        f"{companion.advice}, inside the project (the nearest folder with `.git` or `rdc.toml`, "
        "or the folder of the main file)"
    )
    return Diagnostic("RD524", companion.path, None, message, remedy)


def _clashes(mains: Sequence[Output], companions: Sequence[PlacedFile]) -> Iterator[Diagnostic]:
    taken = {main.place: main for main in mains}
    first: dict[Path, PlacedFile] = {}
    for placed_file in companions:
        own, path = placed_file.output, placed_file.output.path
        if main := taken.get(own.place):
            whose = "the main file itself" if main.source == own.source else f"the main file of {main.source}"
            yield _clash(own, f"{own.source} needs the companion file {path}, which is {whose}")
            continue
        other = first.setdefault(own.place, placed_file)
        if other is placed_file:
            continue
        if other.output.source == own.source:
            both = f"the options `{other.output.option}` and `{own.option}`"
            yield _clash(own, f"{own.source} needs two companion files, but {both} both name {path}")
        elif (other.data, other.executable) != (placed_file.data, placed_file.executable):
            yield _clash(own, f"{other.output.source} and {own.source} both need {path}, with different content")


_PURPOSES = {"make": "the program of a Makefile", "github": "the program of a workflow"}


def _purpose(data: bytes) -> str:
    """Return the purpose of a generated file, which the command in its header shows."""
    lines = data.partition(b"\n\n")[0].decode(errors="replace").split("\n")
    commands = filter(None, (read_command(line.removeprefix("#   ")) for line in lines))
    return _PURPOSES.get(next((one.options.get("caller", "") for one in commands), ""), "a program for people")


def broken(layout: Layout) -> Iterator[Diagnostic]:
    """Report files with another purpose, and files that another one pins (T-28)."""
    mains = {main.place for main in layout.mains}
    for group in layout.groups:
        for own, data in ((one.output, one.data) for one in (group.main, *group.companions)):
            with suppress(OSError):
                if not has_mark(own.place) or (old := own.place.read_bytes()) == data:
                    continue
                if _purpose(old) != _purpose(data):
                    yield _clash(own, f"{own.path} is {_purpose(old)}, and {own.source} would overwrite it")
                else:
                    yield from _pinned(own, old, group.main.output.place.parent, mains)


def _pinned(own: Output, old: bytes, beside: Path, mains: Collection[Path]) -> Iterator[Diagnostic]:
    """Report other files that call the old one: in the folder of the new main file, or above the old one's."""
    for other in sorted({*beside.glob("*"), *own.place.parent.parent.glob("*")}.difference(mains)):
        with suppress(OSError):
            if other.is_file() and has_mark(other) and sha256_of(old).encode() in other.read_bytes():
                message = f"{own.source} would overwrite {own.path}, which {other.name} uses with other content"
                yield _clash(own, message)


def _clash(companion: Output, message: str) -> Diagnostic:
    return Diagnostic("RD525", companion.path, None, message, companion.advice)
