"""A question of an editor about a document, and the parts of answers that several features need."""

from collections.abc import Iterable
from typing import Any

from lsprotocol import types as lsp
from msgspec import Struct

from compiler.diagnostics.model import Edit
from compiler.driver import Opened, marks_of
from compiler.frontends.common.marks import Mark, mark_at
from compiler.text.source import line_end_of
from rdc.api import Checked
from rdc.lsp.documents import SETTINGS, Documents, Result, Version
from rdc.lsp.positions import Lines


class Question(Struct, frozen=True):
    """A question about a version of a document. `params` are those of the protocol, which differ by feature."""

    documents: Documents
    version: Version
    params: Any
    client: lsp.ClientCapabilities

    @property
    def lines(self) -> Lines:
        """The lines of the document."""
        return self.version.lines

    @property
    def opened(self) -> Opened:
        """The document to compile."""
        return self.documents.opened(self.version)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of the document, also after errors."""
        return self.version.once("marks", lambda: marks_of(self.opened, SETTINGS))

    @property
    def place(self) -> tuple[int, int]:
        """The line and the column of the question's position."""
        return self.lines.place(self.params.position)

    @property
    def mark(self) -> Mark | None:
        """The mark at the question's position."""
        return mark_at(self.marks, *self.place)

    @property
    def result(self) -> Result | None:
        """The result of checking this version, if it was checked yet."""
        return self.documents.result(self.version)

    @property
    def good(self) -> Checked | None:
        """The last result with a program, or the last one."""
        return self.documents.good.get(self.version.uri)

    def edits(self, edits: Iterable[Edit]) -> list[lsp.TextEdit]:
        """Return edits of the document for the editor, with the line ends of the document."""
        end = line_end_of(self.version.text)
        return [lsp.TextEdit(self.lines.range(one.span), one.text.replace("\n", end)) for one in edits]

    def change(self, edits: list[lsp.TextEdit]) -> lsp.WorkspaceEdit:
        """Return edits of this version only, if the editor can check that."""
        workspace = self.client.workspace
        if not (workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes):
            return lsp.WorkspaceEdit({self.version.uri: edits})
        version = lsp.OptionalVersionedTextDocumentIdentifier(self.version.uri, self.version.number)
        return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(version, [*edits])])
