"""What the steps of a program have in common: said once in RDC_NODES, so that a step says only what differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from backends.marks import Marks
from compiler.ir.texts import Reference

_FIT = re.compile(r"[!->@-~]+")
"""A mark that shows as it is: what a terminal is not shown of a text cannot make it one."""
_Found = tuple[str, Reference]


@dataclass(frozen=True)
class Shared:
    """The rows that all commands have unless they say otherwise, and the marks that all texts have."""

    rows: tuple[str, ...] = ()
    marks: Mapping[str, Reference] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.rows or self.marks)

    def fits(self, rows: Sequence[str] | None, marks: Marks) -> bool:
        """Whether a step may have all of that: its rows, None where it is no command, and the marks of its texts."""
        return (rows is None or set(self.rows) <= set(rows)) and marks.are_clear_among(self.marks)


def shared(commands: Iterable[Sequence[str]], marks: Iterable[Marks]) -> Shared:
    """What most of the commands say, if there are several, and the marks that several steps have."""
    said = Counter(tuple(rows) for rows in commands)
    rows = next((rows for rows, number in said.most_common(1) if number > 1), ())
    return Shared(rows, dict(_common(marks)))


def _common(marks: Iterable[Marks]) -> Iterator[_Found]:
    """The marks of several steps; of one with two meanings the most frequent."""
    found: Counter[_Found] = Counter(pair for each in marks for pair in each.references.items())
    taken: set[str] = set()
    for (mark, reference), number in found.most_common():
        if number > 1 and mark not in taken and _FIT.fullmatch(mark):
            taken.add(mark)
            yield mark, reference
