"""Documents through the compiler and a backend: what each becomes, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backends.base import Backend
from backends.mistakes import OptionsError
from compiler.diagnostic import Diagnostic
from compiler.driver import Compilation, Settings, compile_file
from compiler.options import Table
from compiler.source import Source
from rdc.tables import check_names, check_options


@dataclass(frozen=True)
class Generation:
    """The bytes that each source becomes (None if it has errors), all findings, and the sources of these."""

    files: tuple[bytes | None, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


def generate(
    paths: Sequence[str], settings: Settings, backend: Backend[Any], given: Mapping[str, object]
) -> Generation:
    """Compile documents for a backend.

    Args:
        paths: The documents.
        settings: How they are read.
        backend: What generates.
        given: The options of the backend that outweigh those in the documents and in their project.

    Returns:
        What they become, in their order. Mistakes in them are findings, never exceptions.

    Raises:
        OptionsError: Something is wrong with the options that stands in no document and no configuration.
    """
    files: list[bytes | None] = []
    found: list[Diagnostic] = []
    sources: dict[str, Source] = {}
    for path in paths:
        compilation = compile_file(path, settings)
        table = compilation.tables.get(backend.name, Table())
        wrong = [*check_names(compilation.tables), *_mistakes(compilation, backend, table, given)]
        found += [*compilation.diagnostics, *wrong]
        sources |= compilation.sources
        if compilation.program is None or wrong:
            files.append(None)
            continue
        emission = backend.emit(compilation.program, {**table.values, **given})
        found += emission.diagnostics
        files.append(None if emission.text is None else emission.text.encode())
    return Generation(tuple(files), tuple(found), sources)


def _mistakes(
    compilation: Compilation, backend: Backend[Any], table: Table, given: Mapping[str, object]
) -> list[Diagnostic]:
    """What is wrong in a document's table for the backend; raises `OptionsError` as `generate` does."""
    try:
        return check_options(backend, table, given)
    except OptionsError:
        if compilation.program:
            raise
        return []  # the document has errors, and what is missing may stand in what could not be read
