"""Programs from their JSON form, and what that is made of."""

import json
from typing import Any

from compiler.diagnostics.model import DataPath
from compiler.frontends.json.lower import Reader
from compiler.frontends.json.shapes import Shape
from compiler.ir.edges import Origin
from compiler.ir.program import Program

Json = dict[str, Any]
ORIGIN: Json = {"path": "p.json", "span": {"line": 1, "column": 1, "end_line": 1, "end_column": 2}}


def program_of(*nodes: Json, **more: Any) -> Json:
    """Return a program of these nodes and an end; the first one is the entry."""
    end = node("end", {"kind": "end", "result": "complete"})
    sources = [{"path": "p.json", "sha256": "0" * 64}]
    return {"name": "p", "title": "", "sources": sources, "entry": nodes[0]["id"], "nodes": [*nodes, end], **more}


def node(step: str, task: Json, *edges: Json, **more: Any) -> Json:
    """Return a node."""
    return {"id": step, "title": "", "origin": ORIGIN, "task": task, "edges": list(edges), **more}


def edge(target: str, *effects: Json, guard: tuple[Json, ...] = ()) -> Json:
    """Return an edge."""
    return {"guard": list(guard), "effects": list(effects), "target": target}


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
