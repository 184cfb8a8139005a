"""Find the project of a document: its root folder, its configuration, and files in it (V11)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.documentation import DOCS_URL, read_docs_url
from compiler.files import DISK, Disk, Refusal, is_below, read_source, read_text
from compiler.issues import Place, Places
from compiler.options import Known, Level, Option, Options, Table, read_options
from compiler.source import Source, below
from compiler.suppression import read_check
from compiler.toml_text import find_keys, load_toml
from compiler.version import __version__

CONFIGURATION = "rdc.toml"
PYPROJECT = "pyproject.toml"
CONFIGURATIONS = (CONFIGURATION, PYPROJECT)
"""The files that configure how documents are read; the first one that exists counts."""

GIT = ".git"
LONGEST_PROJECT = 64
SKIPPED = frozenset({"node_modules", "__pycache__"})
"""Folders without a project's own documents; hidden folders are skipped too."""

LONGEST_PATH = 4096
"""The longest path in characters: no system opens a longer one."""

REQUIRED_VERSION = "required-version"
BUILD = "build"
CHECK = "check"
PROJECT = "project"
OWN_KEYS = (REQUIRED_VERSION, BUILD, CHECK, DOCS_URL, PROJECT)
"""The configuration keys about the project itself; other keys configure how its documents are read."""

_SECTION = "[tool.rdc"


class Located(Struct, frozen=True):
    """An existing document: its file with links resolved, its path in messages, and its path from the root."""

    file: str
    path: str
    name: str
    disk: Disk = DISK

    def read(self) -> Source | Refusal:
        """Return the document."""
        return read_source(self.file, self.path, self.name, self.disk)


class Project(Struct, frozen=True):
    """A project: `root` is an absolute path without links, and `disk` reads its files."""

    root: str
    disk: Disk = DISK

    def locate(self, path: str) -> Located:
        """Return the document at a path from the user, which may be unreadable."""
        file = os.path.realpath(path)
        name = self._name(file) if is_below(file, self.root) else os.path.basename(file)
        return Located(file, path, name, self.disk)

    def find(self, source: Source, reference: str, noun: str = "document") -> Located | Refusal:
        """Return the referenced document beside this one, or below the root, but never outside the root (V11).

        `noun` is its name in messages.
        """
        if reference.startswith("/") or "\\" in reference:
            return _outside(reference, noun, "is not a relative path with `/`")
        beside = os.path.normpath(os.path.join(os.path.dirname(source.name), reference))
        if _leaves(beside):
            return _outside(reference, noun, "leaves the project with `..`")
        if len(reference) > LONGEST_PATH:  # each link in it would be resolved from the root
            return Refusal("RD001", f"the path has more than {LONGEST_PATH:,} characters", "fix the path")
        try:
            return self._find(source, reference, beside, noun)
        except (OSError, RuntimeError, ValueError) as error:
            return Refusal("RD001", f"cannot look up `{reference}`: {error}", "fix the path")

    def find_below(self, source: Source, reference: str) -> Located | Refusal | None:
        """Return the file at a path from the document's folder, or None if there is none.

        The file must be in that folder or below it, also after resolving links, and the path may not go up.
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
                return _beyond(reference, "leads out of the document's folder through a link")
            if not self.disk.exists(file):
                return None
        except (OSError, RuntimeError, ValueError) as error:
            return _beyond(reference, f"cannot be looked up: {error}")
        own = self._name(file)
        return Located(file, _shown(source, own), own, self.disk)

    def find_above(self, source: Source, names: Sequence[str]) -> list[Located | Refusal]:
        """Return the files of these names in the document's folder or the nearest folder above it that has one.

        The names are paths with `/`. The files must be in the project, also after resolving links.
        """
        folder = os.path.dirname(source.name)
        for above in _upwards(folder):
            paths = (os.path.join(above, name) for name in names)
            there = [path for path in paths if self.disk.exists(os.path.join(self.root, path), follow=False)]
            if there:
                return [self.find(source, os.path.relpath(path, folder or "."), "file") for path in there]
        return []

    def _find(self, source: Source, reference: str, beside: str, noun: str) -> Located | Refusal:
        for name in dict.fromkeys((beside, os.path.normpath(reference))):
            file = self.disk.resolve(os.path.join(self.root, name))
            if not is_below(file, self.root):
                return _outside(reference, noun, "leads out of the project through a link")
            if not _leaves(name) and self.disk.exists(file):
                own = self._name(file)
                return Located(file, _shown(source, own), own, self.disk)
        problem = f"there is no {noun} `{reference}` in this folder or in the project root"
        return Refusal("RD301", problem, "fix the path, or check only this document with `rdc check --no-link`")

    def _name(self, file: str) -> str:
        """Return a file's path from the project root, with `/`."""
        return os.path.relpath(file, self.root).replace(os.sep, "/")


def _upwards(folder: str) -> Iterator[str]:
    """Yield a folder and all folders above it."""
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        yield folder


def _leaves(name: str) -> bool:
    return name == ".." or name.startswith("../")


def _shown(source: Source, name: str) -> str:
    """Return a document's path in messages: relative to the same folder as the referring document's path."""
    base = source.path.removesuffix(source.name) if source.path.endswith(source.name) else ""
    return base + name


def _outside(reference: str, noun: str, problem: str) -> Refusal:
    remedy = f"use a relative path to a {noun} inside the project (the folder with `.git` or `rdc.toml`)"
    return Refusal("RD302", f"`{reference}` {problem}", remedy)


def _beyond(reference: str, problem: str) -> Refusal:
    remedy = "use a file in the document's folder or below it"
    return Refusal("RD740", f"`{reference}` {problem}", remedy)


def open_project(path: str) -> Project:
    """Return a file's project: the nearest folder above it with `.git` or a configuration, or its own folder."""
    return project_around(os.path.dirname(os.path.realpath(path)))


def project_around(folder: str) -> Project:
    """Return the project of a folder, which must be an absolute path without links."""
    return Project(next(filter(is_root, _upwards(folder)), folder))


def is_root(folder: str) -> bool:
    """Return whether a folder is the root of a project."""
    if any(os.path.exists(os.path.join(folder, name)) for name in (GIT, CONFIGURATION)):
        return True
    try:
        return _SECTION in read_text(os.path.join(folder, PYPROJECT), folder)
    except (OSError, ValueError):
        return False


class Configuration(Struct, frozen=True):
    """The options for all documents of a project, the diagnostics for them, and the configuration file.

    `own` has the keys in `OWN_KEYS` as written. `name` is the name of the project, or "". `ignored` are the codes of
    warnings and notes that the project ignores.
    """

    options: Options
    diagnostics: list[Diagnostic]
    sources: dict[str, Source]
    own: Table = Table()
    ignored: frozenset[str] = frozenset()
    docs_url: str = ""
    name: str = ""


def read_configuration(project: Project, options: Sequence[Option[Any]]) -> Configuration:
    """Return the project's configuration from `rdc.toml` or `[tool.rdc]`; `options` are those of all formats."""
    own = os.path.join(project.root, CONFIGURATION)
    file = own if project.disk.exists(own) else os.path.join(project.root, PYPROJECT)
    try:
        text = read_text(file, project.root, project.disk)
    except FileNotFoundError:
        text = ""
    except (OSError, ValueError) as error:
        found = [_invalid(os.path.relpath(file), f"cannot read the file: {error}")] if file == own else []
        return Configuration(Options(), found, {})
    if not text or (file != own and _SECTION not in text):
        return Configuration(Options(), [], {})
    section = () if file == own else ("tool", "rdc")
    source = Source.from_text(os.path.relpath(file), text)
    return _configuration(source, section, Known(options, Level.PROJECT, OWN_KEYS))


def _configuration(source: Source, section: tuple[str, ...], known: Known) -> Configuration:
    try:
        table: object = load_toml(source.text)
    except (RecursionError, ValueError) as error:
        problem = "its values are nested too deeply" if isinstance(error, RecursionError) else str(error)
        return Configuration(Options(), [_invalid(source.path, problem)], {})
    for key in section:
        table = table.get(key, {}) if isinstance(table, dict) else table
    spans = below(find_keys(source), *section)
    place = Place("RD501", source.path, spans.get(()))
    own, rest = _parted(table)
    places = {path: replace(place, span=span) for path, span in spans.items() if path[:1] in [(name,) for name in own]}
    if wrong := _wrong_version(own, places):
        return Configuration(Options(), [wrong], {source.path: source})
    at = {name: replace(place, span=spans.get((name,))) for name in OWN_KEYS}
    ignored, wrong_codes = read_check(own.get(CHECK, {}), at[CHECK], below(spans, CHECK))  # B-10
    docs_url, wrong_address = read_docs_url(own, at[DOCS_URL])
    name, wrong_name = _project_name(own.get(PROJECT, {}), at[PROJECT])
    options, found = read_options(rest, place, spans, known)
    wrong_keys = [*found, *wrong_codes, *wrong_address, *wrong_name]
    return Configuration(options, wrong_keys, {source.path: source}, Table(own, places), ignored, docs_url, name)


def _project_name(table: object, place: Place) -> tuple[str, list[Diagnostic]]:
    """Return the project's name, "" if it is invalid or missing, and the errors in it (R4)."""
    name = table.get("name", "") if isinstance(table, Mapping) and not {*table} - {"name"} else None
    if isinstance(name, str) and name.isprintable() and len(name) <= LONGEST_PROJECT and (name or not table):
        return name, []
    problem = f"`[project]` needs one key, `name`, with a text of 1 to {LONGEST_PROJECT} characters"
    return "", [place.finding(problem, 'write `name = "shop"` below `[project]`, or remove the table')]


def _parted(table: object) -> tuple[dict[str, object], object]:
    """Split a configuration into the keys about the project and the other keys."""
    if not isinstance(table, Mapping):
        return {}, table
    own = {name: table[name] for name in OWN_KEYS if name in table}
    return own, {name: value for name, value in table.items() if name not in own}


def _wrong_version(own: Mapping[str, object], places: Places) -> Diagnostic | None:
    """Return a diagnostic if the project requires another version of rdc (B-1)."""
    wanted = own.get(REQUIRED_VERSION)
    if wanted is None:
        return None
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 (few projects name a version)

    place, text = places[(REQUIRED_VERSION,)], str(wanted) if isinstance(wanted, str) else "?"
    try:
        is_met = SpecifierSet(text if text[:1] in "<>=!~" else f"=={text}").contains(__version__, prereleases=True)
    except ValueError:  # also for numbers that are too long
        problem = f"`{REQUIRED_VERSION}` is not a valid version"
        return place.finding(problem, f'write `{REQUIRED_VERSION} = "=={__version__}"`')
    if is_met:
        return None
    problem = f"this project requires rdc {wanted}, but this is rdc {__version__}"
    return Diagnostic("RD542", place.path, place.span, problem, f"install that version, or change `{REQUIRED_VERSION}`")


def _invalid(path: str, problem: str) -> Diagnostic:
    return Place("RD501", path, None).finding(problem, "fix the file; `rdc explain RD501` shows an example")
