"""Specifications for tests, compiled as a user's are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backends.python.step_calls import author_calls
from compiler.driver import Settings, compile_file
from compiler.ir.program import Program
from compiler.passes import optimize


def program_of(document: object, folder: Path) -> Program:
    """The program of a document, which is written as JSON."""
    path = folder / "specs.stepspec.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (folder / "rdc.toml").touch()
    found = compile_file(str(path), Settings())
    assert found.program is not None, found.diagnostics
    return found.program


def table_of(document: object, folder: Path) -> dict[str, Any]:
    """What the engine runs."""
    return author_calls(optimize(program_of(document, folder))).built()
