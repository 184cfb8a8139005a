"""Identifiers in a Makefile for what a document names: plain words of which nothing is ever expanded or evaluated."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from compiler.ir.program import Program, scope_members
from compiler.regex import Regex

LONGEST = 60

_ODD = Regex("[^A-Za-z0-9_.-]+")


def names_for(ids: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Return a name for each id: the id itself where make and sh can carry it.

    Names differ in more than `.`, `-` and `_`, since variables of the shell have `_` for all three.
    """
    found: dict[str, str] = {}
    keys = {key(name) for name in taken}
    for number, written in enumerate(ids, 1):
        name = _ODD.sub("-", written)[:LONGEST].strip(".-") or "step"
        known = key(name)
        if known in keys:
            name += f"-{number}"
            known = key(name)
        while known in keys:
            name += "-x"
            known = key(name)
        keys.add(known)
        found[written] = name
    return found


def key(name: str) -> str:
    """Return what a name becomes in the name of a shell variable."""
    return name.replace(".", "_").replace("-", "_")


def file_name(program: Program) -> str:
    """Return the name of a program as files of the driver have it."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", program.name)


class Identifiers(Struct, frozen=True, dict=True):
    """The names of nodes, counters and scopes."""

    program: Program

    @cached_property
    def nodes(self) -> Mapping[str, str]:
        """Nodes, by their ids."""
        return names_for(node.id for node in self.program.nodes)

    @cached_property
    def counters(self) -> Mapping[str, str]:
        """Counters, by their names: a part of the name of a shell variable."""
        return _keys(register.name for register in self.program.registers)

    @cached_property
    def scopes(self) -> Mapping[str, str]:
        """Scopes of counters, which are parts of names as well."""
        return _keys(scope_members(self.program.registers))


def _keys(names: Iterable[str]) -> dict[str, str]:
    return {written: key(name) for written, name in names_for(names).items()}
