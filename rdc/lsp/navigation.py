"""Jumps between names, their renaming, and the outline of a document: all from its marks."""

from __future__ import annotations

import os
from collections.abc import Sequence

from lsprotocol import types as lsp
from msgspec import Struct
from pygls.exceptions import JsonRpcException
from pygls.uris import from_fs_path

from compiler.frontends.common.marks import Item, Kind, Mark, Role, folds, of_same_part, outline
from compiler.project.project import Located
from compiler.text.source import Source
from rdc.lsp.documents import SETTINGS
from rdc.lsp.positions import Area, Lines
from rdc.lsp.question import Question
from rdc.rewrite.rename import RefusedError, Renamed, renamable, rename
from rdc.terminal.cells import visible

REQUEST_FAILED = -32803

ICONS = {
    Kind.STEP: lsp.SymbolKind.Function,
    Kind.INPUT: lsp.SymbolKind.Variable,
    Kind.OUTPUT: lsp.SymbolKind.Field,
    Kind.AGENT: lsp.SymbolKind.Class,
    Kind.DOCUMENT: lsp.SymbolKind.File,
    Kind.SECRET: lsp.SymbolKind.Constant,
    Kind.LABEL: lsp.SymbolKind.Constant,
    Kind.KEY: lsp.SymbolKind.Key,
}


def definition(question: Question) -> list[lsp.Location]:
    """Return where the name at a position is defined; for an included document, its file."""
    mark = question.mark
    if mark and mark.kind is Kind.DOCUMENT:
        target = _file(question, mark)
        return [lsp.Location(target, question.lines.range(None))] if target else []
    return [_location(question, one) for one in _parts(question) if one.role is Role.DEFINITION]


def references(question: Question) -> list[lsp.Location]:
    """Return where the name at a position is used, with its definitions if they are wanted."""
    every = question.params.context.include_declaration
    return [_location(question, one) for one in _parts(question) if every or one.role is Role.REFERENCE]


def highlights(question: Question) -> list[lsp.DocumentHighlight]:
    """Return all places of the name at a position."""
    kinds = {Role.DEFINITION: lsp.DocumentHighlightKind.Write, Role.REFERENCE: lsp.DocumentHighlightKind.Read}
    return [lsp.DocumentHighlight(question.lines.range(one.span), kinds[one.role]) for one in _parts(question)]


def links(question: Question) -> list[lsp.DocumentLink]:
    """Return the links to included documents that exist."""
    marks = [one for one in question.marks if one.kind is Kind.DOCUMENT]
    targets = ((one, _file(question, one)) for one in marks)
    return [lsp.DocumentLink(question.lines.range(one.span), target) for one, target in targets if target]


class Symbol(Struct, frozen=True, gc=False, rename="camel"):
    """A `DocumentSymbol`, which takes five times as long and much more memory."""

    name: str
    kind: int
    range: Area
    selection_range: Area
    children: list[Symbol]


def symbols(question: Question) -> list[Symbol]:
    """Return the outline of the document."""
    return [_symbol(question, one) for one in outline(question.marks)]


def folding(question: Question) -> list[lsp.FoldingRange]:
    """Return the lines of each part, which an editor can hide."""
    return [lsp.FoldingRange(first - 1, last - 1) for first, last in folds(question.marks)]


def prepare_rename(question: Question) -> lsp.PrepareRenamePlaceholder:
    """Return the name at a position if it can be changed."""
    try:
        mark = renamable(question.marks, *question.place)
    except RefusedError as refusal:
        raise JsonRpcException(str(refusal), REQUEST_FAILED) from None
    return lsp.PrepareRenamePlaceholder(question.lines.range(mark.span), mark.name)


def renamed(question: Question) -> lsp.WorkspaceEdit:
    """Return the edits that change a name everywhere, after the proof that they change nothing else."""
    try:
        made = rename(question.opened, SETTINGS, *question.place, question.params.new_name)
    except RefusedError as refusal:
        raise JsonRpcException(str(refusal), REQUEST_FAILED) from None
    return _with_others(question.change(question.edits(made.edits)), made)


def _with_others(change: lsp.WorkspaceEdit, made: Renamed) -> lsp.WorkspaceEdit:
    """Return the edits of a rename with those in the file with the scenarios of the document."""
    for source, edits in made.others:
        uri, lines = from_fs_path(os.path.abspath(source.path)) or "", Lines(source.text)
        found = [lsp.TextEdit(lines.range(one.span), one.text) for one in edits]
        if change.document_changes is None:
            change.changes = {**(change.changes or {}), uri: found}
        else:
            document = lsp.OptionalVersionedTextDocumentIdentifier(uri, None)
            change.document_changes = [*change.document_changes, lsp.TextDocumentEdit(document, [*found])]
    return change


def _parts(question: Question) -> Sequence[Mark]:
    mark = question.mark
    return of_same_part(question.marks, mark) if mark else ()


def _location(question: Question, mark: Mark) -> lsp.Location:
    return lsp.Location(question.version.uri, question.lines.range(mark.span))


def _file(question: Question, mark: Mark) -> str | None:
    """Return the URI of an included document, or None if it is missing or outside of the project."""
    opened = question.opened
    if not isinstance(opened.source, Source) or not question.version.path:
        return None
    found = opened.project.find(opened.source, mark.name)
    return question.documents.uri_of(found.file, question.version) if isinstance(found, Located) else None


def _symbol(question: Question, item: Item) -> Symbol:
    mark = item.mark
    return Symbol(
        visible(mark.title) or "?",
        ICONS.get(mark.kind, lsp.SymbolKind.Key),
        question.lines.area(mark.extent or mark.span),
        question.lines.area(mark.span),
        [_symbol(question, one) for one in item.inside],
    )
