"""Identifiers in a Makefile for what a document names: plain words of which nothing is ever expanded or evaluated."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from compiler.ir.program import Program, scope_members
from compiler.ir.tasks import PASS_OR_FAIL, UNREAD, alphabet

LONGEST = 60
OUR_WORDS = frozenset({*PASS_OR_FAIL, *UNREAD, "yes", "no", "approved", "rejected"})
"""The words of outcomes that rdc itself has names for; they stand for themselves."""


def names_for(ids: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """A name for each id: the id itself where make and sh can carry it.

    Names differ in more than `.`, `-` and `_`, since variables of the shell have `_` for all three.
    """
    found: dict[str, str] = {}
    keys = {key(name) for name in taken}
    for number, written in enumerate(ids, 1):
        base = re.sub(r"[^A-Za-z0-9_.-]+", "-", written)[:LONGEST].strip(".-") or "step"
        name = base if key(base) not in keys else f"{base}-{number}"
        while key(name) in keys:
            name += "-x"
        keys.add(key(name))
        found[written] = name
    return found


def key(name: str) -> str:
    """What a name becomes in the name of a shell variable."""
    return re.sub("[.-]", "_", name)


def file_name(program: Program) -> str:
    """The name of a program as files of the driver have it."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", program.name)


@dataclass(frozen=True)
class Identifiers:
    """The names of nodes, registers, scopes, and of the words of outcomes that somebody wrote."""

    program: Program

    @cached_property
    def nodes(self) -> Mapping[str, str]:
        """Nodes, by their ids."""
        return names_for(node.id for node in self.program.nodes)

    @cached_property
    def registers(self) -> Mapping[str, str]:
        """Counters and slots, which share one space of names (I5)."""
        counters = (register.name for register in self.program.registers)
        return names_for((*counters, *(slot.name for slot in self.program.slots)))

    @cached_property
    def contexts(self) -> Mapping[str, str]:
        """Contexts of prompts."""
        return names_for(context.name for context in self.program.contexts)

    @cached_property
    def scopes(self) -> Mapping[str, str]:
        """Scopes of counters."""
        return names_for(scope_members(self.program.registers))

    @cached_property
    def tokens(self) -> Mapping[str, str]:
        """Words that somebody wrote: a script compares nothing but these names, and a journal has nothing else."""
        words = (word for node in self.program.nodes for word in alphabet(node.task) if word not in OUR_WORDS)
        return names_for(dict.fromkeys(words), OUR_WORDS)

    @cached_property
    def files(self) -> Mapping[str, str]:
        """What slots are called in names of files, and what registers are called to the helper."""
        slots = {slot.name for slot in self.program.slots}
        return {name: f"rdc_{'s' if name in slots else 'n'}_{key(own)}" for name, own in self.registers.items()}
