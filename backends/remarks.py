"""What whoever reads a generated file is told of its units: what stands above a command, what a placeholder means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.ir.program import Node, Register, texts_of
from compiler.ir.tasks import Shell

MOST = 8
"""So many lines are shown; the document has all of them."""


def remarks(node: Node) -> list[str]:
    """The first lines of the prompt of a command that are not blank."""
    if not isinstance(node.task, Shell):
        return []
    lines = [line for line in str(node.task.prompt).splitlines() if line.strip()]
    return lines if len(lines) <= MOST else [*lines[:MOST], "…"]


def of_placeholders(nodes: Iterable[Node], registers: Iterable[Register]) -> Iterator[str]:
    """A sentence on what becomes of the placeholders in the texts of some nodes; nothing where they have none (M5)."""
    instances = {register.name for register in registers if register.role == "instance"}
    texts = (text for node in nodes for text in (node.title, *texts_of(node)))
    found = {item.written for text in texts for item in text.references if item.register in instances}
    if found:
        names = " and ".join(f"`{name}`" for name in sorted(found))
        yield f"{names} in a text is replaced by the number of the instance."
