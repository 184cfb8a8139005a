"""Compiles documents for a backend, in memory."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from backends.base import Backend, CallReason, Companion, Emission, OptionDiagnostic
from compiler.diagnostics.issues import InvalidError
from compiler.diagnostics.model import Diagnostic
from compiler.driver import Compilation, Opened, Settings, compile_opened
from compiler.ir.program import Program
from compiler.project.options import Making, TargetOptions
from compiler.text.source import Source
from rdc.output.paths import output_name
from rdc.output.target_options import check_names, check_options, table_of

Emit = Callable[[Program, Mapping[str, object], Making], Emission]
"""Generates an output from a program and options in plain values, which its command sets or not."""


class Product(Struct, frozen=True):
    """The output for a document: the main file, its companions, and why it calls the first of them.

    `items` are facts in the main file that a reviewer must not miss.
    """

    data: bytes
    companions: tuple[Companion, ...] = ()
    reason: CallReason | None = None
    items: tuple[str, ...] = ()


class Generation(Struct, frozen=True):
    """The output for each source (None if it has errors), all findings, and their sources.

    `compilations` know which findings are ignored.
    """

    products: tuple[Product | None, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    compilations: tuple[Compilation, ...] = ()

    def kept(self, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return the further findings that no document or project ignores."""
        for one in self.compilations:
            found = one.kept(found)
        return tuple(found)


def generate(
    documents: Sequence[Opened],
    settings: Settings,
    backend: Backend[Any],
    given: Mapping[str, object],
    files: Sequence[str] = (),
) -> Generation:
    """Compile documents for a backend. Errors in documents are findings, never exceptions.

    The options `given` override those in documents and project. By default, the generated `files` have the names of the
    documents.

    Raises:
        InvalidError: An option outside of documents and configuration is wrong.
    """
    products: list[Product | None] = []
    found: list[Diagnostic] = []
    compilations: list[Compilation] = []
    sources: dict[str, Source] = {}
    for opened, file in zip(documents, files or repeat(""), strict=False):
        compilations.append(compile_opened(opened, settings))
        made = emitted(compilations[-1], backend, given, backend.emit, file)
        products += made.products
        found += made.diagnostics
        sources |= made.sources
    return Generation(tuple(products), tuple(found), sources, tuple(compilations))


def emitted(
    compilation: Compilation, backend: Backend[Any], given: Mapping[str, object], emit: Emit, file: str = ""
) -> Generation:
    """Compile a document to a file for a backend by the method `emit`; raises as `generate` does."""
    table = table_of(backend, compilation.tables)
    wrong = [*check_names(compilation.tables), *_diagnostics(compilation, backend, table, given)]
    found = (*compilation.diagnostics, *wrong)
    if compilation.program is None or wrong:
        return Generation((None,), found, compilation.sources)
    program, source = compilation.program, compilation.program.sources[0].path
    usual = (PurePosixPath(source).parent / output_name(source, backend.suffix)).as_posix()
    if backend.named:
        path, is_folder = Path(file or usual), backend.suffix.startswith("/")
        name = path.absolute().parent.name if is_folder else path.name.removesuffix(backend.suffix)
        program = program.with_(file=name)
    out = os.path.relpath(os.path.realpath(file), compilation.project.root).replace(os.sep, "/") if file else usual
    is_usual = out == usual or out.startswith("../")  # other machines have no path outside of it
    making = Making("" if is_usual else out, {name: name in given for name in table.values})
    emission = emit(program, {**table.values, **given}, making)
    text, companions = emission.text, emission.companions
    product = None if text is None else Product(text.encode(), companions, emission.reason, emission.items)
    words = [(name,) for name in given]  # options of the command line have no place
    placed = (
        one.placed(table) if isinstance(one, OptionDiagnostic) and one.option[:1] not in words else one
        for one in emission.diagnostics
    )
    return Generation((product,), (*found, *compilation.kept(placed)), compilation.sources)


def _diagnostics(
    compilation: Compilation, backend: Backend[Any], table: TargetOptions, given: Mapping[str, object]
) -> list[Diagnostic]:
    """Return problems in a document's table for the backend; raises `InvalidError` as `generate` does."""
    try:
        return check_options(backend, table, given)
    except InvalidError:
        if compilation.program:
            raise
        return []  # the document has errors, and the missing option may be in the unreadable part
