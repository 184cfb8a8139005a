"""The project that a document belongs to: its root folder, its configuration, and safe look-up of files in it (V11)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.files import DISK, Disk, Refusal, is_below, read_source, read_standard_input, read_text
from compiler.options import Known, Level, Option, Options, Place, Places, Table, read_options
from compiler.source import STANDARD_INPUT, Source, Spans, below
from compiler.version import __version__

CONFIGURATION = "rdc.toml"
PYPROJECT = "pyproject.toml"
CONFIGURATIONS = (CONFIGURATION, PYPROJECT)
"""The files that say how a document is read; the first that exists counts."""

GIT = ".git"
SKIPPED = frozenset({"node_modules", "__pycache__"})
"""Folders that hold nobody's own documents; hidden ones are skipped too."""

LONGEST_PATH = 4096
"""In characters: no system opens a longer one."""

REQUIRED_VERSION = "required-version"
BUILD = "build"
CHECK = "check"
DOCS_URL = "docs-url"
OWN_KEYS = (REQUIRED_VERSION, BUILD, CHECK, DOCS_URL)
"""The keys of a configuration that are about the project, and not about how its documents are read."""

_SECTION = "[tool.rdc"


class Located(Struct, frozen=True):
    """A document that is there: its file, links resolved, what messages call it, and its path from the root."""

    file: str
    path: str
    name: str
    disk: Disk = DISK

    def read(self) -> Source | Refusal:
        """The document itself."""
        return read_source(self.file, self.path, self.name, self.disk)


class Project(Struct, frozen=True):
    """`root` is an absolute path without links; all that documents need of the project is read from `disk`."""

    root: str
    disk: Disk = DISK

    def locate(self, path: str) -> Located:
        """The document at a path that the user gave; that it can be read is for `read` to say."""
        file = os.path.realpath(path)
        name = self._name(file) if is_below(file, self.root) else os.path.basename(file)
        return Located(file, path, name, self.disk)

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
            file = self.disk.resolve(os.path.join(folder, reference))
            if not is_below(file, folder):
                return _beyond(reference, "leads out of the folder of the document through a link")
            if not self.disk.exists(file):
                return None
        except (OSError, RuntimeError, ValueError) as error:
            return _beyond(reference, f"cannot be looked up: {error}")
        own = self._name(file)
        return Located(file, _shown(source, own), own, self.disk)

    def find_above(self, source: Source, name: str) -> Located | Refusal | None:
        """The file of this name, a path with `/`, in the folder of a document, else in the nearest folder above it.

        It lies in the project, whatever links there are; None if there is none.
        """
        folder = os.path.dirname(source.name)
        for above in _upwards(folder):
            path = os.path.join(above, name)
            if self.disk.exists(os.path.join(self.root, path), follow=False):
                return self.find(source, os.path.relpath(path, folder or "."), "file")
        return None

    def _find(self, source: Source, reference: str, beside: str, noun: str) -> Located | Refusal:
        for name in dict.fromkeys((beside, os.path.normpath(reference))):
            file = self.disk.resolve(os.path.join(self.root, name))
            if not is_below(file, self.root):
                return _outside(reference, noun, "leads out of the project through a link")
            if not _leaves(name) and self.disk.exists(file):
                own = self._name(file)
                return Located(file, _shown(source, own), own, self.disk)
        problem = f"there is no {noun} `{reference}` in this folder or in the project root"
        return Refusal("RD301", problem, "correct the path; `rdc check --no-link` checks a document on its own")

    def _name(self, file: str) -> str:
        """The path of a file in the project, from the root with `/`."""
        return os.path.relpath(file, self.root).replace(os.sep, "/")


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
    return Project(next(filter(is_root, _upwards(folder)), folder))


def is_root(folder: str) -> bool:
    """Whether a folder is the root of a project, by its files."""
    if any(os.path.exists(os.path.join(folder, name)) for name in (GIT, CONFIGURATION)):
        return True
    try:
        return _SECTION in read_text(os.path.join(folder, PYPROJECT), folder)
    except (OSError, ValueError):
        return False


class Configuration(Struct, frozen=True):
    """The options that hold for all documents of a project, what is wrong with them, and the file by its path.

    `own` has the keys in `OWN_KEYS` as they are written. `ignored` are the codes of the warnings and notes that the
    project asks rdc to ignore.
    """

    options: Options
    diagnostics: list[Diagnostic]
    sources: dict[str, Source]
    own: Table = Table()
    ignored: frozenset[str] = frozenset()
    docs_url: str = ""


def read_configuration(project: Project, options: Sequence[Option[Any]]) -> Configuration:
    """The project's configuration: `rdc.toml`, else `[tool.rdc]`; `options` are those of all formats."""
    own = os.path.join(project.root, CONFIGURATION)
    file = own if project.disk.exists(own) else os.path.join(project.root, PYPROJECT)
    try:
        text = read_text(file, project.root, project.disk)
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
    spans = below(find_keys(source), *section)
    place = Place("RD501", source.path, spans.get(()))
    own, rest = _parted(table)
    places = {path: replace(place, span=span) for path, span in spans.items() if path[:1] in [(name,) for name in own]}
    if wrong := _wrong_version(own, places):
        return Configuration(Options(), [wrong], {source.path: source})
    ignored, wrong_codes = _ignored(own, place, spans)
    docs_url, wrong_address = _docs_url(own, place, spans)
    options, found = read_options(rest, place, spans, known)
    wrong_keys = [*found, *wrong_codes, *wrong_address]
    return Configuration(options, wrong_keys, {source.path: source}, Table(own, places), ignored, docs_url)


def _ignored(own: Mapping[str, object], place: Place, spans: Spans) -> tuple[frozenset[str], list[Diagnostic]]:
    """The codes that the project ignores, and what is wrong with them (B-10)."""
    if CHECK not in own:
        return frozenset(), []
    from compiler.suppression import read_check  # noqa: PLC0415 (few projects ignore anything)

    return read_check(own[CHECK], replace(place, span=spans.get((CHECK,))), below(spans, CHECK))


def _docs_url(own: Mapping[str, object], place: Place, spans: Spans) -> tuple[str, list[Diagnostic]]:
    """Return the address to which messages link, "" for none, and the errors in it."""
    if DOCS_URL not in own:
        return "", []
    from compiler.documentation import read_docs_url  # noqa: PLC0415 (few projects publish the documentation)

    return read_docs_url(own, replace(place, span=spans.get((DOCS_URL,))))


def _parted(table: object) -> tuple[dict[str, object], object]:
    """The keys about the project, and what else stands in a configuration."""
    if not isinstance(table, Mapping):
        return {}, table
    own = {name: table[name] for name in OWN_KEYS if name in table}
    return own, {name: value for name, value in table.items() if name not in own}


def _wrong_version(own: Mapping[str, object], places: Places) -> Diagnostic | None:
    """What is wrong if the project requires another version of rdc (B-1)."""
    wanted = own.get(REQUIRED_VERSION)
    if wanted is None:
        return None
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 (few projects name a version)

    place, text = places[(REQUIRED_VERSION,)], str(wanted) if isinstance(wanted, str) else "?"
    try:
        is_met = SpecifierSet(text if text[:1] in "<>=!~" else f"=={text}").contains(__version__, prereleases=True)
    except InvalidSpecifier:
        return place.finding(f"`{REQUIRED_VERSION}` is no version", f'write `{REQUIRED_VERSION} = "=={__version__}"`')
    if is_met:
        return None
    problem = f"this project requires rdc {wanted}, and this is rdc {__version__}"
    return Diagnostic("RD542", place.path, place.span, problem, f"install that version, or change `{REQUIRED_VERSION}`")


def _invalid(path: str, problem: str) -> Diagnostic:
    return Place("RD501", path, None).finding(problem, "correct the file; `rdc explain RD501` shows an example")
