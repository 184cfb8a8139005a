"""Identifiers in a Makefile for a document's names: plain words that make and sh never expand."""

import re
from collections.abc import Collection, Iterable
from functools import cached_property

from msgspec import Struct

from backends.common import remarks
from compiler.ir.program import Counter, Program
from compiler.ir.tasks import IDLE
from compiler.text.regex import Regex


def comment(text: str, longest: int = 200) -> str:
    """Return a string for a comment: one line, only visible characters, not continued.

    It never ends with a backslash or a space, so make cannot join it with the next line.
    """
    return remarks.comment(text, longest).rstrip("\\ ")


def visible(text: str) -> str:
    """Return a string for a terminal: one line, with `?` for control characters."""
    return _printable(" ".join(text.split()))


def visible_lines(text: str) -> str:
    """Return a string of several lines for a terminal. Its spaces are kept."""
    return "\n".join(map(_printable, text.strip("\n").replace("\t", "    ").split("\n")))


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


FILTERS = (comment,)


def file_name(program: Program) -> str:
    """Return a program's name as files of its runs have it."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", program.name)


_PLACES = Regex(r"[^A-Za-z0-9_.{}/~-]+")
_COUNTED = Regex("[^A-Za-z0-9]+")


class Identifiers(Struct, frozen=True, dict=True):
    """The names of nodes and counters. `taken` are the names that the loop has for itself, after `rdc_`."""

    program: Program
    taken: frozenset[str] = frozenset()

    @cached_property
    def nodes(self) -> dict[str, str]:
        """Names of nodes, by their ids. These are the ids, but make and the shell read nothing in them (T-2)."""
        nodes = sorted(self.program.nodes, key=lambda node: type(node.task) in IDLE)
        return unlike((node.id, _PLACES.sub("-", node.id).lstrip("~") or "step") for node in nodes)

    @cached_property
    def counters(self) -> dict[str, str]:
        """Names of counters, which are shell variables (T-4)."""
        wished = ((one.name, _COUNTED.sub("_", _wished(one)).strip("_") or "x") for one in self.program.counters)
        return {name: f"rdc_{found}" for name, found in unlike(wished, self.taken, "_").items()}


def _wished(counter: Counter) -> str:
    match counter.role:
        case "instance":
            above, _, own = counter.of.rpartition(".")
            return f"{own} {'' if '{' in above else above}"
        case "mark":
            return f"{counter.outcome}ed {counter.of}"
        case "retries":
            return f"rounds {counter.of}"
        case _:
            return counter.name


def unlike(wished: Iterable[tuple[str, str]], taken: Collection[str] = ("start",), sign: str = "-") -> dict[str, str]:
    """Return a name for each key. A name that is taken gets a number."""
    found: dict[str, str] = {}
    known = set(taken)
    for key, name in wished:
        number, free = 2, name
        while free in known:
            number, free = number + 1, f"{name}{sign}{number}"
        known.add(free)
        found[key] = free
    return found
