"""Identifiers in a Makefile for a document's names: plain words that make and sh never expand."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from backends import remarks
from compiler.ir.program import Program, scope_members
from compiler.regex import Regex


def comment(text: str) -> str:
    """Return a string for a comment: one line, only visible characters, not continued.

    It never ends with a backslash or a space, so make cannot join it with the next line.
    """
    return remarks.comment(text).rstrip("\\ ")


def visible(text: str) -> str:
    """Return a string for a terminal: one line, with `?` for control characters."""
    shown = " ".join(text.split())
    return shown if shown.isprintable() else "".join(c if c.isprintable() else "?" for c in shown)


def visible_lines(text: str) -> str:
    """Return a string of several lines for a terminal. Its spaces are kept."""
    lines = text.strip("\n").replace("\t", "    ").split("\n")
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else "?" for c in line) for line in lines
    )


FILTERS = (comment,)
"""The filters of the templates."""


LONGEST = 60

_ODD = Regex("[^A-Za-z0-9_.-]+")


def names_for(ids: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Return a name for each id: the id itself if make and sh allow it.

    Names differ in more than `.`, `-` and `_`, because shell variables have `_` for all three.
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
    """Return a name as part of a shell variable's name."""
    return name.replace(".", "_").replace("-", "_")


def file_name(program: Program) -> str:
    """Return a program's name as the driver's files have it."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", program.name)


class Identifiers(Struct, frozen=True, dict=True):
    """The names of nodes, counters and scopes."""

    program: Program

    @cached_property
    def nodes(self) -> Mapping[str, str]:
        """Names of nodes, by their ids."""
        return names_for(node.id for node in self.program.nodes)

    @cached_property
    def counters(self) -> Mapping[str, str]:
        """Names of counters, as parts of shell variables."""
        return _keys(register.name for register in self.program.registers)

    @cached_property
    def scopes(self) -> Mapping[str, str]:
        """Names of counters' scopes, as parts of shell variables."""
        return _keys(scope_members(self.program.registers))


def _keys(names: Iterable[str]) -> dict[str, str]:
    return {written: key(name) for written, name in names_for(names).items()}
