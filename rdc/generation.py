"""Documents through the compiler and a backend: what each becomes, in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from backends.base import Backend, Emission, OptionFinding, Reason
from backends.companions import Companion
from backends.options.problems import OptionsError
from compiler.diagnostic import Diagnostic
from compiler.driver import Compilation, Settings, compile_file
from compiler.ir.program import Program
from compiler.options import Table
from compiler.source import Source
from rdc.tables import check_names, check_options, table_of

Emit = Callable[[Program, Mapping[str, object]], Emission]
"""Makes an output of a program and options in plain values."""


class Product(Struct, frozen=True):
    """What a document becomes: the bytes of the main file, its companions, and why it calls the first of them.

    `items` are what a reviewer must not miss in the main file.
    """

    data: bytes
    companions: tuple[Companion, ...] = ()
    reason: Reason | None = None
    items: tuple[str, ...] = ()


class Generation(Struct, frozen=True):
    """What each source becomes (None if it has errors), all findings, and the sources of these.

    `compilations` are those of the sources, which say what is ignored.
    """

    products: tuple[Product | None, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    compilations: tuple[Compilation, ...] = ()

    def kept(self, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Those of further findings that no document, and no project, asks to ignore."""
        for one in self.compilations:
            found = one.kept(found)
        return tuple(found)


def generate(
    paths: Sequence[str], settings: Settings, backend: Backend[Any], given: Mapping[str, object]
) -> Generation:
    """Compile documents for a backend.

    Args:
        paths: The documents.
        settings: How they are read.
        backend: What generates.
        given: The options of the backend that override those in the documents and in their project.

    Returns:
        What they become, in their order. Errors in them are findings, never exceptions.

    Raises:
        OptionsError: Something is wrong with the options that stands in no document and no configuration.
    """
    products: list[Product | None] = []
    found: list[Diagnostic] = []
    compilations: list[Compilation] = []
    sources: dict[str, Source] = {}
    for path in paths:
        compilations.append(compile_file(path, settings))
        made = emitted(compilations[-1], backend, given, backend.emit)
        products += made.products
        found += made.diagnostics
        sources |= made.sources
    return Generation(tuple(products), tuple(found), sources, tuple(compilations))


def emitted(compilation: Compilation, backend: Backend[Any], given: Mapping[str, object], emit: Emit) -> Generation:
    """What a backend makes of one document by its method `emit`, or something else of it; raises as `generate` does."""
    table = table_of(backend, compilation.tables)
    wrong = [*check_names(compilation.tables), *_problems(compilation, backend, table, given)]
    found = (*compilation.diagnostics, *wrong)
    if compilation.program is None or wrong:
        return Generation((None,), found, compilation.sources)
    emission = emit(compilation.program, {**table.values, **given})
    companions, unread = _read_mocks(emission.companions, compilation)
    product = None if emission.text is None or unread else _product(emission, emission.text, companions)
    found = (*found, *unread)
    said = (_placed(finding, table, given) for finding in emission.diagnostics)
    return Generation((product,), (*found, *compilation.kept(said)), compilation.sources)


def _product(emission: Emission, text: str, companions: tuple[Companion, ...]) -> Product:
    return Product(text.encode(), companions, emission.reason, emission.items)


def _read_mocks(
    companions: tuple[Companion, ...], compilation: Compilation
) -> tuple[tuple[Companion, ...], tuple[Diagnostic, ...]]:
    """The companions with the mocks that some of them say, and what is wrong with these."""
    if not any(companion.mocks for companion in companions):
        return companions, ()
    from rdc.mock_files import MockFileError, as_json  # noqa: PLC0415 (few documents have mocks)

    try:
        return tuple(as_json(each, compilation.project) if each.mocks else each for each in companions), ()
    except MockFileError as error:
        remedy = "name a file of mocks in the project: JSON, or YAML that becomes JSON"
        return companions, (OptionFinding("RD013", compilation.path, None, str(error), remedy, option=("mock",)),)


def _placed(finding: Diagnostic, table: Table, given: Mapping[str, object]) -> Diagnostic:
    """A finding of a backend, at the option that it is about unless the command line gave that."""
    if not isinstance(finding, OptionFinding) or finding.option[:1] in [(name,) for name in given]:
        return finding
    return finding.placed(table)


def _problems(
    compilation: Compilation, backend: Backend[Any], table: Table, given: Mapping[str, object]
) -> list[Diagnostic]:
    """What is wrong in a document's table for the backend; raises `OptionsError` as `generate` does."""
    try:
        return check_options(backend, table, given)
    except OptionsError:
        if compilation.program:
            raise
        return []  # the document has errors, and what is missing may stand in what could not be read
