"""Commands that are too long for a shell to be given, on whatever target (M2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostic import Diagnostic
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Shell
from compiler.source import Source

LONGEST = 127 * 1024
"""Bytes of a command. Linux takes 131,071 in one piece; some targets put a name before the command."""

LONGEST_NUMBER = 20
"""Digits that the number of an instance may come to have instead of a reference to it (M5)."""


def commands_too_long(program: Program, sources: Mapping[str, Source]) -> Iterator[Diagnostic]:
    """An error for each step whose command no shell could be given; `sources` are by the names in the program."""
    found = {(node.origin.path, node.origin.span): node for node in program.nodes if _size(node) > LONGEST}
    for node in found.values():  # a document that is included twice has its steps twice
        problem = f"the command of {node.id} may have {_size(node):,} bytes when it runs; the limit is {LONGEST:,}"
        remedy = "put it into a script file of the repository, and call that file here"
        source = sources.get(node.origin.path)  # none, if the program was made of a document that is elsewhere
        yield Diagnostic("RD407", source.path if source else node.origin.path, node.origin.span, problem, remedy)


def _size(node: Node) -> int:
    """The bytes of a command, with the longest numbers instead of references to counters (M5)."""
    if not isinstance(node.task, Shell):
        return 0
    parts = node.task.command.parts
    return sum(len(part.encode()) if isinstance(part, str) else LONGEST_NUMBER for part in parts)
