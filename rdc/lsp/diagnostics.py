"""Diagnostics for editors: those of each file, from all documents that are open."""

from lsprotocol import types as lsp

from compiler.diagnostics.issues import page_of
from compiler.diagnostics.model import Diagnostic, Related, Severity
from rdc.lsp.documents import Documents, Result
from rdc.lsp.positions import Lines

MOST = 1000
"""The most diagnostics of a file: VS Code shows no more."""

MOST_PLACES = 20
"""The most related places of a diagnostic."""

LEVELS = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}

Found = dict[str, list[lsp.Diagnostic]]
"""Diagnostics by URI."""


class Shown:
    """The diagnostics that the editor shows."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self._found: dict[str, Found] = {}

    def update(self, uri: str, found: Found) -> list[lsp.PublishDiagnosticsParams]:
        """Replace the diagnostics that a document's check found. Return the messages for the files that changed."""
        before = self._found.pop(uri, {})
        if found:
            self._found[uri] = found
        changed = [one for one in {**before, **found} if one == uri or before.get(one) != found.get(one)]
        return [self._message(one) for one in changed]

    def _message(self, uri: str) -> lsp.PublishDiagnosticsParams:
        """Return the diagnostics of a file: of its own check, and others of the documents that read it."""
        lists = [self._found.get(uri, {}), *(found for main, found in self._found.items() if main != uri)]
        every = {_key(one): one for found in reversed(lists) for one in found.get(uri, ())}
        version = self.documents.versions.get(uri)
        chosen = sorted(every.values(), key=lambda one: (one.severity or 1, one.range.start.line))[:MOST]
        return lsp.PublishDiagnosticsParams(uri, chosen, version.number if version else None)


def _key(one: lsp.Diagnostic) -> tuple[int, int, object, str]:
    return one.range.start.line, one.range.start.character, one.code, one.message


def diagnostics_of(result: Result, documents: Documents) -> Found:
    """Return the diagnostics of a result by the URIs of their files; the document itself is always there."""
    return _Converter(result, documents).found()


class _Converter:
    def __init__(self, result: Result, documents: Documents) -> None:
        self.result = result
        self.documents = documents
        self._lines: dict[str, Lines] = {result.version.name: result.version.lines}
        self._uris: dict[str, str] = {}

    def found(self) -> Found:
        found: Found = {self.result.version.uri: []}
        for one in self.result.checked.diagnostics:
            found.setdefault(self.uri(one.path), []).append(self.diagnostic(one))
        return found

    def uri(self, path: str) -> str:
        if path not in self._uris:
            self._uris[path] = self.documents.uri_of(path, self.result.version)
        return self._uris[path]

    def lines(self, path: str) -> Lines:
        if path not in self._lines:
            source = self.result.checked.sources.get(path)
            self._lines[path] = Lines(source.text if source else "")
        return self._lines[path]

    def diagnostic(self, one: Diagnostic) -> lsp.Diagnostic:
        address = self.result.docs_url
        return lsp.Diagnostic(
            self.lines(one.path).range(one.span),
            f"{one.message}\nhelp: {one.help}" if one.help else one.message,
            LEVELS[one.severity],
            one.code,
            lsp.CodeDescription(page_of(address, one.code)) if address else None,
            "rdc",
            related_information=[self.place(each) for each in (*one.related, *one.flow)[:MOST_PLACES]] or None,
        )

    def place(self, one: Related) -> lsp.DiagnosticRelatedInformation:
        location = lsp.Location(self.uri(one.path), self.lines(one.path).range(one.span))
        return lsp.DiagnosticRelatedInformation(location, one.message)
