"""Documents through the compiler and a backend: what each becomes, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backends.base import Backend
from compiler.diagnostic import Diagnostic
from compiler.driver import Settings, compile_file
from compiler.source import Source


@dataclass(frozen=True)
class Generation:
    """The bytes that each source becomes (None if it has errors), all findings, and the sources of these."""

    files: tuple[bytes | None, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


def generate(paths: Sequence[str], settings: Settings, backend: Backend[Any], options: Mapping[str, str]) -> Generation:
    """Compile documents for a backend.

    Args:
        paths: The documents.
        settings: How they are read.
        backend: What generates.
        options: The options of the backend.

    Returns:
        What they become, in their order. Mistakes in them are findings, never exceptions.
    """
    files: list[bytes | None] = []
    found: list[Diagnostic] = []
    sources: dict[str, Source] = {}
    for path in paths:
        compilation = compile_file(path, settings)
        found += compilation.diagnostics
        sources |= compilation.sources
        if compilation.program is None:
            files.append(None)
            continue
        emission = backend.emit(compilation.program, options)
        found += emission.diagnostics
        files.append(None if emission.text is None else emission.text.encode())
    return Generation(tuple(files), tuple(found), sources)
