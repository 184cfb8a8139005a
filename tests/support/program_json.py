"""Programs from their JSON form."""

from __future__ import annotations

import json
from typing import Any

from compiler.diagnostics.model import DataPath
from compiler.frontends.json.lower import Reader
from compiler.frontends.json.shapes import Shape
from compiler.ir.edges import Origin
from compiler.ir.program import Program


def from_json(text: str) -> Program:
    """The program of a JSON form, with or without the note of the json target, whatever characters are in it.

    Raises:
        ValueError: It is no JSON, or not all that `to_json` writes.
    """
    reader = _Reader(_nowhere)
    try:
        program = reader.program(json.loads(text), {})
    except TypeError as error:  # the constructor of a class got too little
        raise ValueError(str(error)) from error
    if program is None:
        raise ValueError("\n".join(f"{issue.path}: {issue.message}" for _, issue in reader.issues))
    return program


class _Reader(Reader):
    """Takes characters that the front end refuses, which backends are tested with, and adds nothing."""

    def _string(self, value: str, path: DataPath) -> Any:
        return value

    def _defaults(self, wanted: Shape, value: dict[str, object], path: DataPath) -> dict[str, Any]:
        return {}


def _nowhere(path: DataPath) -> Origin:
    raise AssertionError(path)
