"""Find the project of a document: its root folder, its configuration, and files in it."""

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from compiler.text.files import DISK, Disk, FileIssue, is_below, read_source, read_text
from compiler.text.source import Source

CONFIGURATION = "rdc.toml"
PYPROJECT = "pyproject.toml"
CONFIGURATIONS = (CONFIGURATION, PYPROJECT)
"""The files that configure how documents are read; the first one that exists counts."""

GIT = ".git"
SKIPPED = frozenset({"node_modules", "__pycache__"})
"""Folders without a project's own documents; hidden folders are skipped too."""

LONGEST_PATH = 4096  # the longest path in characters: no system opens a longer one


SECTION = "[tool.rdc"
"""The start of rdc's tables in `pyproject.toml`."""


class Located(Struct, frozen=True):
    """An existing document: its file with links resolved, its path in messages, and its path from the root."""

    file: str
    path: str
    name: str
    disk: Disk = DISK

    def read(self) -> Source | FileIssue:
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

    def find(self, source: Source, reference: str, noun: str = "document") -> Located | FileIssue:
        """Return the referenced document beside this one, or below the root, but never outside the root.

        `noun` is its name in messages.
        """
        if reference.startswith("/") or "\\" in reference:
            return _outside(reference, noun, "is not a relative path with `/`")
        beside = os.path.normpath(os.path.join(os.path.dirname(source.name), reference))
        if _leaves(beside):
            return _outside(reference, noun, "leaves the project with `..`")
        if len(reference) > LONGEST_PATH:  # each link in it would be resolved from the root
            return FileIssue("RD001", f"the path has more than {LONGEST_PATH:,} characters", "fix the path")
        try:
            for name in dict.fromkeys((beside, os.path.normpath(reference))):
                file = self.disk.resolve(os.path.join(self.root, name))
                if not is_below(file, self.root):
                    return _outside(reference, noun, "leads out of the project through a link")
                if not _leaves(name) and self.disk.exists(file):
                    own = self._name(file)
                    return Located(file, _shown(source, own), own, self.disk)
            problem = f"there is no {noun} `{reference}` in this folder or in the project root"
            return FileIssue("RD301", problem, "fix the path, or check only this document with `rdc check --no-link`")
        except (OSError, RuntimeError, ValueError) as error:
            return FileIssue("RD001", f"cannot look up `{reference}`: {error}", "fix the path")

    def find_below(self, source: Source, reference: str) -> Located | FileIssue | None:
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

    def find_above(self, source: Source, names: Sequence[str]) -> list[Located | FileIssue]:
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

    def _name(self, file: str) -> str:
        return os.path.relpath(file, self.root).replace(os.sep, "/")


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        yield folder


def _leaves(name: str) -> bool:
    return name == ".." or name.startswith("../")


def _shown(source: Source, name: str) -> str:
    """Return a document's path in messages: relative to the same folder as the referring document's path."""
    return (source.path.removesuffix(source.name) if source.path.endswith(source.name) else "") + name


def _outside(reference: str, noun: str, problem: str) -> FileIssue:
    remedy = f"use a relative path to a {noun} inside the project (the folder with `.git` or `rdc.toml`)"
    return FileIssue("RD302", f"`{reference}` {problem}", remedy)


def _beyond(reference: str, problem: str) -> FileIssue:
    return FileIssue("RD740", f"`{reference}` {problem}", "use a file in the document's folder or below it")


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
        return SECTION in read_text(os.path.join(folder, PYPROJECT), folder)
    except (OSError, ValueError):
        return False
