"""The project that a document belongs to: its root folder, its configuration, and safe look-up of files in it (V11)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from compiler.diagnostic import Diagnostic
from compiler.files import Refusal, is_below, read_source, read_standard_input, read_text
from compiler.options import Known, Level, Option, Options, Place, read_options
from compiler.source import STANDARD_INPUT, Source, Spans, beneath

CONFIGURATION = "rdc.toml"
LONGEST_PATH = 4096
"""In characters: no system opens a longer one."""

_PYPROJECT = "pyproject.toml"
_SECTION = "[tool.rdc"


class Located(Struct, frozen=True):
    """A document that is there: its file, links resolved, what messages call it, and its path from the root."""

    file: str
    path: str
    name: str

    def read(self) -> Source | Refusal:
        """The document itself."""
        return read_source(self.file, self.path, self.name)


class Project(Struct, frozen=True):
    """`root` is an absolute path without links."""

    root: str

    def locate(self, path: str) -> Located:
        """The document at a path that the user gave; that it can be read is for `read` to say."""
        file = os.path.realpath(path)
        return Located(file, path, self._name(file) if is_below(file, self.root) else os.path.basename(file))

    def read_standard_input(self) -> Source | Refusal:
        """The document on standard input, as if it stood in the current folder: it refers to others from there."""
        return read_standard_input(self.locate(STANDARD_INPUT).name)

    def find(self, source: Source, reference: str, noun: str = "document") -> Located | Refusal:
        """The document that another one refers to: beside it, else from the root; never outside of the root (V11).

        `noun` is what messages call it.
        """
        if reference.startswith("/") or "\\" in reference:
            return _outside(reference, noun, "is not a relative path with `/`")
        beside = os.path.normpath(os.path.join(os.path.dirname(source.name), reference))
        if _leaves(beside):
            return _outside(reference, noun, "leaves the project by `..`")
        if len(reference) > LONGEST_PATH:  # links in it would be followed one by one, each from the root on
            return Refusal("RD001", f"the path has more than {LONGEST_PATH:,} characters", "correct the path")
        try:
            return self._find(source, reference, beside, noun)
        except (OSError, RuntimeError, ValueError) as error:
            return Refusal("RD001", f"`{reference}` cannot be looked up: {error}", "correct the path")

    def find_below(self, source: Source, reference: str) -> Located | Refusal | None:
        """The file that a document names by a path from its own folder; None if there is none.

        It lies in that folder or below it, whatever links there are, and the path never goes up.
        """
        folder = os.path.normpath(os.path.join(self.root, os.path.dirname(source.name)))
        parts = [part for part in reference.split("/") if part not in ("", ".")]
        if reference.startswith("/") or "\\" in reference or ".." in parts or not parts:
            return _beyond(reference, "is not a relative path with `/` and without `..`")
        if len(reference) > LONGEST_PATH:
            return _beyond(f"{reference[:80]}…", f"has more than {LONGEST_PATH:,} characters")
        try:
            file = os.path.realpath(os.path.join(folder, reference))
            if not is_below(file, folder):
                return _beyond(reference, "leads out of the folder of the document through a link")
            if not _exists(file):
                return None
        except (OSError, RuntimeError, ValueError) as error:
            return _beyond(reference, f"cannot be looked up: {error}")
        own = self._name(file)
        return Located(file, _shown(source, own), own)

    def find_above(self, source: Source, name: str) -> Located | Refusal | None:
        """The file of this name, a path with `/`, in the folder of a document, else in the nearest folder above it.

        It lies in the project, whatever links there are; None if there is none.
        """
        folder = os.path.dirname(source.name)
        for above in _upwards(folder):
            path = os.path.join(above, name)
            if os.path.lexists(os.path.join(self.root, path)):
                return self.find(source, os.path.relpath(path, folder or "."), "file")
        return None

    def _find(self, source: Source, reference: str, beside: str, noun: str) -> Located | Refusal:
        for name in dict.fromkeys((beside, os.path.normpath(reference))):
            file = os.path.realpath(os.path.join(self.root, name))
            if not is_below(file, self.root):
                return _outside(reference, noun, "leads out of the project through a link")
            if not _leaves(name) and _exists(file):
                own = self._name(file)
                return Located(file, _shown(source, own), own)
        problem = f"there is no {noun} `{reference}` in this folder or in the project root"
        return Refusal("RD301", problem, "correct the path; `rdc check --no-link` checks a document on its own")

    def _name(self, file: str) -> str:
        """The path of a file in the project, from the root with `/`."""
        return os.path.relpath(file, self.root).replace(os.sep, "/")


def _exists(file: str) -> bool:
    """Whether something is there. Raises `OSError` where that cannot be known."""
    try:
        os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _upwards(folder: str) -> Iterator[str]:
    """A folder and all above it, by their paths."""
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        yield folder


def _leaves(name: str) -> bool:
    return name == ".." or name.startswith("../")


def _shown(source: Source, name: str) -> str:
    """What messages call a document: relative to where the user called the one that refers to it from."""
    base = source.path.removesuffix(source.name) if source.path.endswith(source.name) else ""
    return base + name


def _outside(reference: str, noun: str, problem: str) -> Refusal:
    remedy = f"name the {noun} by a relative path inside the project (the folder with `.git` or `rdc.toml`)"
    return Refusal("RD302", f"`{reference}` {problem}", remedy)


def _beyond(reference: str, problem: str) -> Refusal:
    remedy = "name a file in the folder of the document, or in a folder below it"
    return Refusal("RD740", f"`{reference}` {problem}", remedy)


def open_project(path: str) -> Project:
    """The project of a file: the nearest folder above it with `.git` or a configuration, else its own folder."""
    return project_around(os.path.dirname(os.path.realpath(path)))


def project_around(folder: str) -> Project:
    """The project of what lies in a folder, whose path is absolute and without links."""
    return Project(next(filter(_is_root, _upwards(folder)), folder))


def _is_root(folder: str) -> bool:
    if any(os.path.exists(os.path.join(folder, name)) for name in (".git", CONFIGURATION)):
        return True
    try:
        return _SECTION in read_text(os.path.join(folder, _PYPROJECT), folder)
    except (OSError, ValueError):
        return False


class Configuration(Struct, frozen=True):
    """The options that hold for all documents of a project, what is wrong with them, and the file by its path.

    `ignored` are the codes of the warnings and notes that the project asks rdc to ignore.
    """

    options: Options
    diagnostics: list[Diagnostic]
    sources: dict[str, Source]
    ignored: frozenset[str] = frozenset()


def read_configuration(project: Project, options: Sequence[Option[Any]]) -> Configuration:
    """The project's configuration: `rdc.toml`, else `[tool.rdc]`; `options` are those of all formats."""
    own = os.path.join(project.root, CONFIGURATION)
    file = own if os.path.exists(own) else os.path.join(project.root, _PYPROJECT)
    try:
        text = read_text(file, project.root)
    except FileNotFoundError:
        text = ""
    except (OSError, ValueError) as error:
        found = [_invalid(os.path.relpath(file), f"it cannot be read: {error}")] if file == own else []
        return Configuration(Options(), found, {})
    if not text or (file != own and _SECTION not in text):
        return Configuration(Options(), [], {})
    section = () if file == own else ("tool", "rdc")
    return _configuration(Source.from_text(os.path.relpath(file), text), section, Known(options, Level.PROJECT))


def _configuration(source: Source, section: tuple[str, ...], known: Known) -> Configuration:
    import tomllib  # noqa: PLC0415 (most projects configure nothing, and importing it takes time)

    from compiler.toml_text import check_numbers, find_keys  # noqa: PLC0415 (as above)

    try:
        table: object = tomllib.loads(source.text)
        check_numbers(table)
    except RecursionError:
        return Configuration(Options(), [_invalid(source.path, "its values are nested too deeply")], {})
    except ValueError as error:
        return Configuration(Options(), [_invalid(source.path, str(error))], {})
    for key in section:
        table = table.get(key, {}) if isinstance(table, dict) else table
    spans = beneath(find_keys(source), *section)
    ignored, wrong = _check(table, source, spans)
    options, found = read_options(table, Place("RD501", source.path, spans.get(())), spans, known)
    return Configuration(options, [*found, *wrong], {source.path: source}, ignored)


def _check(table: object, source: Source, spans: Spans) -> tuple[frozenset[str], list[Diagnostic]]:
    """Take the table `check` out of the configuration: the codes that are ignored, and what is wrong in it."""
    if not isinstance(table, dict) or "check" not in table:
        return frozenset(), []
    from compiler.suppression import read_check  # noqa: PLC0415 (few projects ignore anything)

    return read_check(table.pop("check"), Place("RD501", source.path, spans.get(("check",))), beneath(spans, "check"))


def _invalid(path: str, problem: str) -> Diagnostic:
    return Place("RD501", path, None).finding(problem, "correct the file; `rdc explain RD501` shows an example")
