"""Find commands that are too long for a shell on any target (M2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostic import Diagnostic
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Shell
from compiler.source import Source

LONGEST = 127 * 1024
"""The longest command in bytes: Linux accepts 131,071 per argument, and some targets add a name."""

LONGEST_NUMBER = 20
"""The most digits of an instance's number, which replaces a reference to it (M5)."""


def commands_too_long(program: Program, sources: Mapping[str, Source]) -> Iterator[Diagnostic]:
    """Report each step whose command is too long for a shell; `sources` are by name in the program."""
    found = {(node.origin.path, node.origin.span): node for node in program.nodes if _size(node) > LONGEST}
    for node in found.values():  # the steps of a document that is included twice appear twice
        problem = (
            f"the command of step {node.id} can reach {_size(node):,} bytes when it runs; the limit is {LONGEST:,}"
        )
        remedy = "move it into a script file of the repository, and call that file here"
        source = sources.get(node.origin.path)  # missing if the program's document is elsewhere
        yield Diagnostic("RD407", source.path if source else node.origin.path, node.origin.span, problem, remedy)


def _size(node: Node) -> int:
    """Return a command's bytes, with the longest numbers for references to counters (M5)."""
    if not isinstance(node.task, Shell):
        return 0
    parts = node.task.command.parts
    return sum(len(part.encode()) if isinstance(part, str) else LONGEST_NUMBER for part in parts)
