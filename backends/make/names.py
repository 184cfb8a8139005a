"""Names in a Makefile's script for what a document has named: identifiers, so that nothing of it is ever evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from backends.shell.tokens import identifiers, tokens_of
from compiler.ir.program import Program

PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Names:
    """The identifiers of a program: nodes, counters, slots, and the words of outcomes that somebody wrote.

    `files` are what units are called in names of files.
    """

    nodes: Mapping[str, str]
    counters: Mapping[str, str]
    slots: Mapping[str, str]
    tokens: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def registers(self) -> dict[str, str]:
        """The variables of counters and slots, by their names."""
        return {**self.counters, **self.slots}


def names_of(program: Program) -> Names:
    """The identifiers of a program."""
    nodes = identifiers((node.id for node in program.nodes), "u")
    return Names(
        nodes=nodes,
        counters=identifiers((register.name for register in program.registers), "rdc_n"),
        slots=identifiers((slot.name for slot in program.slots), "rdc_s"),
        tokens=tokens_of(program),
        files={name: name if PLAIN_NAME.fullmatch(name) else identifier for name, identifier in nodes.items()},
    )
