"""Fixes of diagnostics, each proved before it is offered, and formatting."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from lsprotocol import types as lsp

from compiler.diagnostics.model import Diagnostic, Fix
from compiler.driver import compile_opened, format_opened
from compiler.text.source import Source
from rdc.lsp.documents import SETTINGS
from rdc.lsp.question import Question
from rdc.rewrite.fixes import fix_opened, proved

FIX_ALL = "source.fixAll.rdc"

OPTIONS = lsp.CodeActionOptions(
    code_action_kinds=[lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll], resolve_provider=True
)

MOST_PROVED = 8
"""The most fixes in an answer. Each proof compiles the document again."""

LONGEST = 60
"""The most characters of a fix in its title."""


def uri_in(params: Any) -> str:  # noqa: ANN401 (each feature has its own types)
    """Return the URI that the parameters of a feature are about, or ""."""
    if isinstance(params, lsp.CodeAction):
        return params.data if isinstance(params.data, str) else ""
    uri: str = params.text_document.uri
    return uri


def actions(question: Question) -> list[lsp.CodeAction]:
    """Return the fixes of the diagnostics in a range, and the one that applies all safe fixes."""
    return [*_fixes(question), *_fix_all(question)]


def resolved(question: Question) -> lsp.CodeAction:
    """Return the action that applies all safe fixes, with its edits."""
    action: lsp.CodeAction = question.params
    action.edit = question.change(_all_edits(question))
    return action


def formatted(question: Question) -> list[lsp.TextEdit]:
    """Return the edits that format the document. A document with errors stays unchanged."""
    text = question.version.once("formatted", lambda: format_opened(question.opened, SETTINGS).result.text)
    return [] if text is None else question.lines.replacing(text)


def _fixes(question: Question) -> Iterator[lsp.CodeAction]:
    if not _is_wanted(question, lsp.CodeActionKind.QuickFix):
        return
    given = question.params.context.diagnostics
    compiled = cache(partial(compile_opened, question.opened, SETTINGS))  # once for all proofs

    def is_proved(one: Diagnostic) -> bool:
        return question.version.once(one, lambda: proved(question.opened, SETTINGS, one, compiled()))

    for found, fix in _fixable(question)[:MOST_PROVED]:
        span = question.lines.range(found.span)
        if not is_proved(found):
            continue
        yield lsp.CodeAction(
            _title(found, fix),
            lsp.CodeActionKind.QuickFix,
            [one for one in given if one.code == found.code and one.range == span] or None,
            fix.is_safe,
            edit=question.change(question.edits(fix.edits)),
        )


def _fixable(question: Question, *, everywhere: bool = False) -> list[tuple[Diagnostic, Fix]]:
    """Return the diagnostics with fixes of the document that touch the lines of the range."""
    result = question.result
    first, last = question.params.range.start.line + 1, question.params.range.end.line + 1
    return [
        (one, one.fix)
        for one in (result.checked.diagnostics if result else ())
        if one.fix and one.path == question.version.name
        if everywhere or (one.span and one.span.line <= last and one.span.end_line >= first)
    ]


def _title(found: Diagnostic, fix: Fix) -> str:
    written = fix.edits[0].text.strip() if len(fix.edits) == 1 else ""
    is_short = written and "\n" not in written and len(written) <= LONGEST
    title = f"Write `{written}`" if is_short else f"Fix: {found.help.split(chr(10), 1)[0] or found.code}"
    return title if fix.is_safe else f"{title} (may change the meaning)"


def _fix_all(question: Question) -> Iterator[lsp.CodeAction]:
    """Yield the action that applies all safe fixes. Its edits wait until the editor asks for them, if it can."""
    is_named = question.params.context.only is not None
    if not _is_wanted(question, FIX_ALL) or not any(fix.is_safe for _, fix in _fixable(question, everywhere=True)):
        return
    action = lsp.CodeAction("Fix all that is safe to fix", FIX_ALL, data=question.version.uri)
    if is_named:
        action.edit = question.change(_all_edits(question))
    if is_named or _resolves(question.client):
        yield action


def _is_wanted(question: Question, kind: str) -> bool:
    only: list[str] | None = question.params.context.only
    return only is None or any((kind + ".").startswith(one + ".") for one in only)  # a kind may be an `Enum`


def _resolves(client: lsp.ClientCapabilities) -> bool:
    action = client.text_document and client.text_document.code_action
    return bool(action and action.resolve_support and "edit" in action.resolve_support.properties)


def _all_edits(question: Question) -> list[lsp.TextEdit]:
    def fixed() -> list[lsp.TextEdit]:
        source = fix_opened(question.opened, SETTINGS).opened.source
        return question.lines.replacing(source.text) if isinstance(source, Source) else []

    return question.version.once("fixed", fixed)
