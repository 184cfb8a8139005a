"""The program that a case is compiled to."""

from __future__ import annotations

import tempfile
from pathlib import Path

from compiler.driver import compile_file
from compiler.ir.program import Program
from tests.equivalence.cases import Case


def compiled(case: Case) -> Program:
    """The program of a case, which must have no errors."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**case.documents(), "rdc.toml": ""}.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
        compilation = compile_file(str(Path(folder) / case.main))
    assert compilation.program, compilation.diagnostics
    return compilation.program
