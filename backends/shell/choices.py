"""How a script continues after a step: by the outcome's word, and by the guards of the edges (I1, I17)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from backends.shell.dialects import Conjunction, condition
from backends.shell.registers import Registers
from compiler.ir.edges import Edge, may_follow
from compiler.ir.program import Node
from compiler.ir.tasks import alphabet

INDENT = "  "


class Choices(Struct, frozen=True):
    """Writes the choice among the edges of a node.

    `take` returns the lines that take an edge. Words are those of commands and verdicts, never an author's.
    """

    registers: Registers
    take: Callable[[Edge], list[str]]

    def lines(self, node: Node) -> Iterator[str]:
        """Yield the lines that continue after a node."""
        words = alphabet(node.task)
        transitions: dict[tuple[Edge, ...], list[str]] = {}
        for word in words:
            edges = tuple(edge for edge in node.edges if may_follow(edge, word))
            transitions.setdefault(edges, []).append(word)
        if len(transitions) < 2:
            yield from self._choice(next(iter(transitions), node.edges))
            return
        yield "case $rdc_outcome in"
        for edges, tokens in transitions.items():
            yield from self._arm(" | ".join(tokens), list(self._choice(edges)))
        yield "esac"

    def _arm(self, pattern: str, lines: list[str]) -> Iterator[str]:
        if len(lines) == 1:
            yield f"{INDENT}{pattern}) {lines[0]} ;;"
            return
        yield f"{INDENT}{pattern})"
        yield from (INDENT * 2 + line for line in lines)
        yield f"{INDENT * 2};;"

    def _choice(self, edges: Sequence[Edge]) -> Iterator[str]:
        """Yield the lines that take the first edge whose guard holds. The last one needs no test (I2)."""
        branches = list(self._branches(edges))
        if len(branches) == 1:
            yield from branches[0][1]
            return
        for index, (alternatives, lines) in enumerate(branches):
            word = "elif" if index else "if"
            is_last = index == len(branches) - 1
            yield "else" if is_last else f"{word} {condition(alternatives)}; then"
            yield from (INDENT + line for line in lines)
        yield "fi"

    def _branches(self, edges: Sequence[Edge]) -> Iterator[tuple[list[Conjunction], list[str]]]:
        """Yield the tests and lines of the edges, up to one that always holds. Equal neighbors are joined."""
        alternatives: list[Conjunction] = []
        lines: list[str] = []
        for edge in edges:
            tests, found = self.registers.asked(edge), self.take(edge)
            if alternatives and not (found == lines and tests):
                yield alternatives, lines
                alternatives = []
            alternatives, lines = [*alternatives, tests], found
            if not tests:
                break
        yield alternatives, lines
