"""What the calls of a document need not say, since it follows from others (I6, I7, I9)."""

import json
from collections.abc import Sequence
from typing import Any

from runtime_shim.data.implied import implied
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import RefusedError, Table

CALLING = ("shell", "agent", "tool", "parallel")
TEXTS = ("title", "prompt", "block", "command", "message", "reason", "arguments", "options", "entries")


def read_json(path: str, text: str) -> Any:  # noqa: ANN401 (any JSON value)
    """Return what stands in a file of JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}: not JSON, which a program reads (`rdc run` reads YAML too): {error}") from None


class Shared(Extension):
    """Completes the tables of programs."""

    @staticmethod
    def complete(table: Table) -> None:
        """Give steps their outcomes, and the inputs and outputs of the program, if they say nothing else."""
        for node in table["nodes"].values():
            node.update(implied(node, node))
        add_common(table)


def add_common(table: Table) -> None:
    """Give steps the inputs and outputs of the program as variables, as values and in texts, if they say nothing else.

    An input that `about` lists among its texts is left to the steps.
    """
    values = table.pop("outputs", [])
    inputs = [item["name"] for item in table.get("inputs", [])]
    names = [name for name in (*inputs, *values) if name not in table["registers"]]
    table["registers"] = {**dict.fromkeys(names), **table["registers"]}
    marks = {f"{{{{{name}}}}}": [name, "", "", f"{{{{{name}}}}}"] for name in names}
    marks.update(table.pop("placeholders", {}))
    for node in (*table["nodes"].values(), *table.get("groups", {}).values()):
        if node.get("task") in CALLING:
            node.setdefault("texts", {name: name for name in names})
        if node.get("task") == "shell":
            keep_values(node, node.get("outputs", values))
        shown, said = str([node.get(key) for key in TEXTS]), node.get("placeholders", {})
        found = {mark: place for mark, place in marks.items() if mark in shown}
        places = {**said, **found, **said}.items()  # what is said comes first, and counts
        node["placeholders"] = {mark: place for mark, place in places if place is not None}
        for key in ("texts", "placeholders", "outputs"):
            if key in node and not node[key]:
                del node[key]


def keep_values(node: Table, values: Sequence[str]) -> None:
    """Let each transition of a step keep its outputs; of a step that says what it `gives`, they say it themselves."""
    if "gives" in node:
        node["outputs"] = node.pop("gives")
        return
    node["outputs"] = sorted(values)
    keeps = [[node["texts"].get(name, name), "keep", ["output", name]] for name in values]
    for edge in node["edges"] if keeps else ():
        edge["do"] = [*keeps, *edge.get("do", ())]
