"""Defaults that follow from a step's task and keywords, and from other calls of a document."""

from collections.abc import Sequence

from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Extension

CALLING = ("shell", "agent", "tool", "parallel")
TEXTS = ("title", "prompt", "block", "command", "message", "reason", "arguments", "options", "items", "entries")
WORDS_OF_TASKS = {"gate": ["approved", "rejected"], "confirm": ["yes", "no"], "input": ["pass"]}
UNREAD = ("none", "invalid", "ambiguous", "failed")  # outcomes of an answer without one keyword


class Shared(Extension):
    """Adds defaults to the tables of programs."""

    @staticmethod
    def complete(table: Table) -> None:
        """Give steps default outcomes, inputs and outputs."""
        for node in table["nodes"].values():
            node.update(implied(node))
        add_common(table)


def implied(node: Table) -> Table:
    """Return the implied settings of a step, except those that it sets."""
    known = [keyword for one in (node, *node.get("entries", ())) for keyword in one.get("keywords", ())]
    words = [*dict.fromkeys(known), *UNREAD] if known else WORDS_OF_TASKS.get(node["task"])
    found = {"agent": "" if node["task"] == "agent" else None, "words": words}
    return {key: value for key, value in found.items() if value is not None and key not in node}


def add_common(table: Table) -> None:
    """Give steps the inputs and outputs of the program as variables, values and placeholders, unless they set others.

    Steps handle inputs that `about` lists among its texts.
    """
    values, inputs = table.pop("outputs", []), [item["name"] for item in table.get("inputs", [])]
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
        places = {**said, **found, **said}.items()  # explicit ones come first and win
        node["placeholders"] = {mark: place for mark, place in places if place is not None}
        for key in ("texts", "placeholders", "outputs"):
            if key in node and not node[key]:
                del node[key]


def keep_values(node: Table, values: Sequence[str]) -> None:
    """Make each transition of a step keep its outputs, unless the step lists them in `gives`."""
    if "gives" in node:
        node["outputs"] = node.pop("gives")
        return
    node["outputs"] = sorted(values)
    keeps = [[node["texts"].get(name, name), "keep", ["output", name]] for name in values]
    for edge in node["edges"] if keeps else ():
        edge["do"] = [*keeps, *edge.get("do", ())]
