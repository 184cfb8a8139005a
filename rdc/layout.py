"""Where all that a compilation generates goes: the main files, and the companions beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from msgspec import Struct

from backends.base import Backend, Reason
from backends.companions import Companion
from backends.remarks import listed
from compiler.diagnostic import Diagnostic
from compiler.project import project_around
from rdc.generation import Product
from rdc.outputs import OF_GITHUB, Output, collisions

_OF_GIT = frozenset({".git", "git~1"})
"""Git runs the files in this folder, so a document must not choose them. Windows has the second name for it too."""


class Laid(Struct, frozen=True):
    """A file that is generated, with its place."""

    output: Output
    data: bytes
    executable: bool


class Group(Struct, frozen=True):
    """All that one source becomes."""

    main: Laid
    companions: tuple[Laid, ...] = ()

    @property
    def company(self) -> str:
        """The companions, as the end of a sentence about the main file."""
        names = listed([laid.output.path for laid in self.companions])
        return f", with {names} beside it" if names else ""


class Layout(Struct, frozen=True, dict=True):
    """What each source without errors becomes, without the companions that must not be where they are put.

    `mains` are the main files of all sources. The findings say which files are in the way of each other.
    """

    mains: tuple[Output, ...]
    groups: tuple[Group, ...]
    findings: tuple[Diagnostic, ...]

    @property
    def stages(self) -> tuple[tuple[Laid, ...], tuple[Laid, ...]]:
        """The companions, then the main files: so written, no main file ever stands without what it needs."""
        return self._companions, tuple(group.main for group in self.groups)

    @property
    def files(self) -> tuple[Laid, ...]:
        """Each file once."""
        return tuple(chain.from_iterable(self.stages))

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Where something is to be written, once there are no errors."""
        return (*self.mains, *(laid.output for laid in self._companions))

    @cached_property
    def _companions(self) -> tuple[Laid, ...]:
        """The companions, one that several sources share once."""
        places: dict[Path, Laid] = {}
        for laid in (companion for group in self.groups for companion in group.companions):
            places.setdefault(laid.output.place, laid)
        return tuple(places.values())


def lay_out(mains: Sequence[Output], products: Sequence[Product | None], *, executable: bool) -> Layout:
    """Put the products of a compilation in their places.

    Args:
        mains: The main file of each source.
        products: What each source has become.
        executable: Whether the main files are programs.
    """
    findings = list(collisions(mains))
    groups: list[Group] = []
    for main, product in zip(mains, products, strict=True):
        if product is None:
            continue
        beside: list[Laid] = []
        for companion in product.companions:
            own = laid(main, companion)
            if problem := _trespass(main, own.output):
                findings.append(problem)
            else:
                beside.append(own)
        groups.append(Group(Laid(main, product.data, executable), tuple(beside)))
        if product.reason and beside and not product.companions[0].mocks:  # the workflow may have the program in it
            findings.append(_calls(product.reason, main, beside))
    findings += _clashes(mains, [companion for group in groups for companion in group.companions])
    return Layout(tuple(mains), tuple(groups), tuple(findings))


def unfit_paths(mains: Iterable[Output], backend: Backend[Any]) -> Iterator[Diagnostic]:
    """What a target cannot do with the paths of main files."""
    for main in mains:
        if problem := backend.path_problem(main.path):
            code, text, remedy = problem
            yield Diagnostic(code, main.source, None, text, remedy)


def beside(main: str, path: str) -> str:
    """The path of a companion: `a/b/main.yml` and `../c/program.py` give `a/c/program.py`."""
    folder = PurePath(main).parent
    for part in PurePosixPath(path).parts:
        folder = folder.parent if part == ".." and folder.name not in ("", "..") else folder / part
    return str(folder)


def laid(main: Output, companion: Companion) -> Laid:
    """Return a companion of a main file with its place."""
    is_away = companion.home and not main.place.parent.as_posix().endswith(f"/{companion.home}")
    path = PurePosixPath(companion.path).name if is_away else companion.path
    output = Output(main.source, beside(main.path, path), companion.option)
    return Laid(output, companion.text.encode(), companion.executable)


def _calls(reason: Reason, main: Output, beside: Sequence[Laid]) -> Diagnostic:
    """Why a main file calls the program beside it (rule 9)."""
    files = [laid.output.path for laid in beside]
    message = f"{reason.clause}: {main.path} calls {files[0]}"
    return Diagnostic("RD539", reason.path, reason.span, message, f"keep {listed([main.path, *files])} together")


def _root_around(folder: Path) -> Path:
    """The root of the project of a folder; workflows of GitHub lie two folders below it, whatever marks it."""
    root = Path(project_around(str(folder)).root)
    return folder.parents[1] if root == folder and folder.parts[-2:] == OF_GITHUB else root


def is_of_git(path: PurePath) -> bool:
    """Whether a path leads into a folder of git, on any file system: some ignore case, dots or invisible characters."""
    plain = ("".join(filter(str.isprintable, part)).rstrip(" .").casefold() for part in path.parts)
    return not _OF_GIT.isdisjoint(plain)


def _trespass(main: Output, companion: Output) -> Diagnostic | None:
    """What is wrong with the place of a companion: a document may name it, so it stays within the project."""
    root, place = _root_around(main.place.parent), companion.place
    if not place.is_relative_to(root):
        problem = f"is outside of the project of {main.path}"
    elif is_of_git(place.relative_to(root)):
        problem = "is in the folder .git, whose files git runs and relies on"
    else:
        return None
    message = f"{companion.path}, which {main.source} needs beside {main.path}, {problem}"
    remedy = (
        f"{companion.advice}, within the project (the nearest folder with `.git` or `rdc.toml`, "
        "else the folder of the main file)"
    )
    return Diagnostic("RD524", companion.path, None, message, remedy)


def _clashes(mains: Sequence[Output], companions: Sequence[Laid]) -> Iterator[Diagnostic]:
    """The companions in whose place something else is to stand."""
    taken = {main.place: main for main in mains}
    first: dict[Path, Laid] = {}
    for laid in companions:
        own, path = laid.output, laid.output.path
        if main := taken.get(own.place):
            whose = "this is its main file" if main.source == own.source else f"{main.source} is compiled to this file"
            yield _clash(own, f"{own.source} needs {path} beside its main file, but {whose}")
            continue
        other = first.setdefault(own.place, laid)
        if other is laid:
            continue
        if other.output.source == own.source:
            both = f"the options `{other.output.option}` and `{own.option}`"
            yield _clash(own, f"{own.source} needs two files beside its main file, and {both} name {path} for both")
        elif (other.data, other.executable) != (laid.data, laid.executable):
            yield _clash(own, f"{other.output.source} and {own.source} both need {path}, but with different contents")


def _clash(companion: Output, message: str) -> Diagnostic:
    return Diagnostic("RD525", companion.path, None, message, companion.advice)
