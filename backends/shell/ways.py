"""How a script goes on from a unit: by the word of its outcome, and by what the guards of its edges ask (I1, I17)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from backends.shell.dialects import Dialect
from compiler.ir.program import CounterTest, Edge, Verdict, counter_tests, may_follow

INDENT = "  "


@dataclass(frozen=True, slots=True)
class Ways:
    """Writes the choice among edges. `variables` are the names of counters, `way` gives the lines that take an edge."""

    dialect: Dialect
    variables: Mapping[str, str]
    way: Callable[[Edge], list[str]]

    def by_outcome(self, edges: Sequence[Edge]) -> Iterator[str]:
        """The lines that take an edge of a node that had an outcome."""
        ways = {verdict: [edge for edge in edges if may_follow(edge, verdict)] for verdict in Verdict}
        if ways[Verdict.PASS] == ways[Verdict.FAIL]:
            yield from self.choice(ways[Verdict.PASS])
            return
        yield "case $rdc_outcome in"
        for verdict, found in ways.items():
            lines = list(self.choice(found))
            if self.dialect.terse and len(lines) == 1:
                yield f"{INDENT}{verdict.value}) {lines[0]} ;;"
                continue
            yield f"{INDENT}{verdict.value})"
            yield from (INDENT * 2 + line for line in lines)
            yield f"{INDENT * 2};;"
        yield "esac"

    def choice(self, edges: Sequence[Edge]) -> Iterator[str]:
        """The lines that take the first edge whose registers are as its guard says; the last one needs no test (I2)."""
        branches = list(self._branches(edges))
        if len(branches) == 1:
            yield from branches[0][1]
            return
        for index, (alternatives, lines) in enumerate(branches):
            condition = self.dialect.condition([[(self.variables[t.register], t) for t in a] for a in alternatives])
            word = f"{'elif' if index else 'if'} {condition}; then"
            yield "else" if index == len(branches) - 1 else word
            yield from (INDENT + line for line in lines)
        yield "fi"

    def _branches(self, edges: Sequence[Edge]) -> Iterator[tuple[list[list[CounterTest]], list[str]]]:
        """The edges up to one that always holds: what they ask for, and their lines; equal neighbours join if terse."""
        alternatives: list[list[CounterTest]] = []
        lines: list[str] = []
        for edge in edges:
            tests, found = counter_tests(edge), self.way(edge)
            if alternatives and not (self.dialect.terse and found == lines and tests):
                yield alternatives, lines
                alternatives = []
            alternatives, lines = [*alternatives, tests], found
            if not tests:
                break
        yield alternatives, lines
