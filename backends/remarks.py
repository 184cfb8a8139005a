"""Explanations in generated files: the prose above a command, the meaning of a placeholder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compiler.ir.program import Node, Program, Register, texts_of

MOST = 8
"""The number of lines that are shown. The document has all of them."""


def remarks(node: Node) -> list[str]:
    """Return the first lines of a command's prose, without empty ones."""
    task = node.task
    if task.kind != "shell" or not task.prompt.parts:
        return []
    lines = [line for line in str(task.prompt).splitlines() if line.strip()]
    return lines if len(lines) <= MOST else [*lines[:MOST], "…"]


def printable(text: str) -> str:
    """Return a string with a space for each invisible character."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def comment(text: str, longest: int = 200) -> str:
    """Return a string for a comment: one line, limited length, only visible characters."""
    return printable(text[:longest]) + "…" * (len(text) > longest)


def shells(program: Program) -> list[str]:
    """Return the shells that a program's commands need."""
    return sorted({node.task.interpreter for node in program.nodes if node.task.kind == "shell"})


def listed(things: Sequence[str]) -> str:
    """Return things as part of a sentence: `make, bash and python3`."""
    return f"{', '.join(things[:-1])} and {things[-1]}" if things[1:] else "".join(things)


def of_placeholders(nodes: Iterable[Node], registers: Iterable[Register]) -> Iterator[str]:
    """Yield a sentence on the placeholders in some nodes' strings, if there are any (M5)."""
    instances = {register.name for register in registers if register.role == "instance"}
    if not instances:
        return
    texts = (text for node in nodes for text in (node.title, *texts_of(node)))
    found = {item.written for text in texts for item in text.references if item.register in instances}
    if found:
        are = "are the numbers of the instances" if len(found) > 1 else "is the number of the instance"
        yield f"{listed([f'`{name}`' for name in sorted(found)])} {are}."
