"""The open documents of an editor: the current version of each, and the last results of checking it."""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace
from pygls.uris import from_fs_path, to_fs_path

from compiler.diagnostics.model import Diagnostic, sort_key
from compiler.driver import Opened, Settings, compile_opened
from compiler.frontends import FRONT_ENDS, all_options, recognize
from compiler.frontends.common.names import ENDING
from compiler.project.configuration import DOCS_URL, read_configuration
from compiler.project.project import CONFIGURATION, CONFIGURATIONS, Project
from compiler.project.project import open_project as project_of
from compiler.text.files import FileIssue, UnsavedFiles, source_of
from compiler.text.source import STANDARD_INPUT, Source
from rdc.api import Checked, checked
from rdc.documents.rules import rules
from rdc.lsp.positions import Lines

Made = TypeVar("Made")

SETTINGS = Settings()
"""Editors have no options: the document and its project decide."""

MISSING = frozenset({"RD301", "RD741"})
"""The diagnostics for missing files. A file that opens may be the missing one."""


class Version:
    """One version of an open document, with the answers that were made for it.

    `path` is the file's absolute path without links, or "" for a buffer without a file.
    """

    def __init__(self, uri: str, number: int | None, text: str) -> None:
        self.uri = uri
        self.number = number
        self.text = text
        self.path = path_of(uri)
        self._answers: dict[Hashable, object] = {}

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.text)

    @property
    def name(self) -> str:
        """The path in diagnostics."""
        return self.path or STANDARD_INPUT

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return an answer about the text, and make it the first time; of two threads, both return the first one."""
        answers = self._answers
        return cast("Made", answers[key] if key in answers else answers.setdefault(key, make()))

    def forget(self) -> None:
        """Forget the answers, because another file that they depend on has changed, or because this one has."""
        self.__dict__.pop("lines", None)
        old, self._answers = self._answers, {}
        for one in old.values():
            if isinstance(one, Source):
                one.release()


class Result(Struct, frozen=True):
    """The result of checking a version: all files by path, and the address of the pages about diagnostics, or ""."""

    version: Version
    checked: Checked
    docs_url: str = ""

    def reads(self, path: str) -> bool:
        """Return whether the result may change with a file, which may be new."""
        folder, name = os.path.split(path)
        is_new = name.endswith(ENDING) and folder == os.path.dirname(self.version.path)
        if is_new or name in CONFIGURATIONS or path in map(os.path.abspath, self.checked.sources):
            return True
        return any(found.code in MISSING for found in self.checked.diagnostics)


class Documents:
    """The open documents by URI. Only one thread changes them; others may read them at any time."""

    def __init__(self) -> None:
        self.versions: dict[str, Version] = {}
        self.results: dict[str, Result] = {}
        self.good: dict[str, Checked] = {}
        self._texts: Mapping[str, str] = {}
        self._parser = ThreadPoolExecutor(1, "parse")

    def change(self, uri: str, number: int | None, text: str) -> Version:
        """Keep a new version of a document, or of another open file that documents may read."""
        version = Version(uri, number, text)
        if version.path:
            self._texts = {**self._texts, version.path: text}
        if not version.path or is_document(version.path):
            if uri in self.versions:
                self.versions[uri].forget()  # its result still needs it
            self.versions[uri] = version
        return version

    def close(self, uri: str) -> str:
        """Forget a document. Return the path of its file, or ""."""
        path = path_of(uri)
        for known in (self.versions, self.results, self.good):
            known.pop(uri, None)
        linked = {one.path: one.text for one in self.versions.values() if path and one.path == path}  # a link
        self._texts = {name: text for name, text in self._texts.items() if name != path} | linked
        return path

    def keep(self, result: Result) -> bool:
        """Keep the result of a document's current version; return False for an older one."""
        uri = result.version.uri
        if self.versions.get(uri) is not result.version:
            return False
        self.results[uri] = result
        if result.checked.program or uri not in self.good:
            self.good[uri] = result.checked
        return True

    def result(self, version: Version) -> Result | None:
        """Return the result of a version, or None if only an older one was checked."""
        found = self.results.get(version.uri)
        return found if found and found.version is version else None

    def readers(self, path: str) -> Iterator[str]:
        """Yield the documents whose results may change with a file, or are not there yet, except the file itself."""
        results = [(uri, self.result(one)) for uri, one in self.versions.items() if one.path != path]
        return (uri for uri, one in results if one is None or one.reads(path))

    def is_open(self, path: str) -> bool:
        """Return whether the text of a file comes from the editor."""
        return path in self._texts

    def uri_of(self, path: str, reader: Version) -> str:
        """Return the URI of a path in a document's diagnostics; for an open document, the editor's own."""
        if path == reader.name:
            return reader.uri
        file = os.path.abspath(path)
        return next((one.uri for one in [*self.versions.values()] if one.path == file), from_fs_path(file))

    def opened(self, version: Version) -> Opened:
        """Return a document to compile, which reads the open files as they are in the editor."""
        disk = UnsavedFiles(self._texts)
        if version.path:
            project = replace(project_of(version.path), disk=disk)
            name = project.locate(version.path).name
        else:
            project, name = Project(os.devnull, disk), "untitled"  # a folder with no files that the text could name

        def read() -> Source | FileIssue:
            source = source_of(version.text.encode("utf-8", "surrogatepass"), version.name, name)
            if isinstance(source, Source):
                version.lines = Lines(version.text, source.lines)  # the same strings
                source.share(self._parser)
            return source

        return Opened(version.name, project, version.once(("source", name), read))

    def check(self, version: Version) -> Result:
        """Check a version, which may take long."""
        opened = self.opened(version)
        if os.path.basename(version.path) == CONFIGURATION:
            return Result(version, _checked_configuration(opened))
        if not version.path and not (isinstance(opened.source, Source) and recognize(opened.source)):
            return Result(version, Checked(version.name, "", (), {}, None))
        found = checked(compile_opened(opened, SETTINGS))
        if isinstance(opened.source, Source):
            opened.source.release()  # its blocks take more memory than its program
        has_address = any(DOCS_URL in one.text for path, one in found.sources.items() if path != version.name)
        address = read_configuration(opened.project, ()).docs_url if has_address else ""
        return Result(version, found, address)


def is_document(path: str) -> bool:
    """Return whether a file has the name of a document or of the configuration."""
    return os.path.basename(path) == CONFIGURATION or any(form.has(path) for form in FRONT_ENDS.values())


def path_of(uri: str) -> str:
    """Return the absolute path of a URI's file without links, or "" if it isn't one."""
    try:
        path = to_fs_path(uri) or ""
        is_file = path.startswith("/") and not path.startswith("//") and "\0" not in path  # `//` is another computer
        return os.path.realpath(path) if is_file else ""
    except ValueError:  # no system has such a path
        return ""


def _checked_configuration(opened: Opened) -> Checked:
    configuration = read_configuration(opened.project, all_options())
    _, wrong = rules(configuration)
    found: tuple[Diagnostic, ...] = tuple(sorted((*configuration.diagnostics, *wrong), key=sort_key))
    return Checked(opened.path, "", found, configuration.sources, None)
