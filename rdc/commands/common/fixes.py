"""`rdc check --fix` and `rdc check --diff`: fix documents, and write or show them."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.driver import Settings, compile_opened
from compiler.text.source import Source
from rdc.api import Checked, checked
from rdc.commands.common.documents import open_documents, refuse_for_standard_output
from rdc.commands.common.reporter import Reporter
from rdc.documents.find import STANDARD_INPUT
from rdc.rewrite.files import show_differences, write_rewrites
from rdc.rewrite.fixes import fix_documents
from rdc.terminal.output import many, put


def fixed(
    files: Sequence[str], settings: Settings, reporter: Reporter, *, unsafe: bool
) -> tuple[list[Checked], list[str]] | None:
    """Fix documents and write them. Return them with the success messages, or report a failure and return None."""
    if STANDARD_INPUT in files:
        refuse_for_standard_output(files, reporter.form)
    results, rewrites = fix_documents(open_documents(files), settings, unsafe=unsafe)
    messages = [f"fixed {many(one.count, 'problem')} in {one.opened.path}" for one in results if one.count]
    documents = [checked(one.compilation) for one in results]
    if STANDARD_INPUT in files:
        source = results[0].opened.source
        if isinstance(source, Source):
            put(source.data)
        return documents, messages
    if problem := write_rewrites(rewrites, "rdc check --fix"):
        reporter.report([problem], {})
        return None
    if rewrites:  # a document may include another fixed one
        documents = [checked(compile_opened(document, settings)) for document in open_documents(files)]
    return documents, messages


def shown(files: Sequence[str], settings: Settings, reporter: Reporter, *, unsafe: bool) -> list[Checked]:
    """Show the fixes without applying them, and return the unchanged documents."""
    results, rewrites = fix_documents(open_documents(files), settings, unsafe=unsafe)
    show_differences(rewrites, is_text=reporter.form == "text")
    return [checked(one.original) for one in results]
