"""The groups and steps around each step, for breakpoints. Most names imply them, such as `2a` and `2/elicit`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Branch, End, Parallel, Tool
from compiler.regex import Regex

_CALLED = (Agent, Parallel, Tool)
_OF_NUMBER = Regex(r"\.(?=[0-9])")


def told_steps(program: Program) -> dict[str, tuple[str, ...]]:
    """Return the steps around each step if its name doesn't imply them; none in a program that calls nothing."""
    if not any(type(node.task) in _CALLED for node in program.nodes):
        return {}
    known = {node.id for node in program.nodes} | {group.id for group in program.groups}
    doing = (node for node in program.nodes if not isinstance(node.task, Branch | End))
    found = {node.id: (known.intersection(_by_name(node.id)), _steps(program, node, known)) for node in doing}
    return {name: tuple(sorted(steps)) for name, (said, steps) in found.items() if said != steps}


def _steps(program: Program, node: Node, known: Collection[str]) -> set[str]:
    """Return the groups around a node, and the steps whose question or branch it is, by its name."""
    found = {begin for begin in _before_slashes(node.id) if begin in known}
    group = node.group
    while group:
        found.add(group)
        group = program.parents[group]
    return found - {node.id}


def _by_name(name: str) -> Iterator[str]:
    """Yield the steps around a node that `runtime_shim/data/settings.py` and the Make driver derive from its name."""
    for begin in (*_before_slashes(name), name):
        yield from (begin,) if begin != name else ()
        yield from (begin[:-1],) if re.fullmatch("(?s:.+)[a-z]", begin) else ()
    yield from (name[: found.start()] for found in _OF_NUMBER.finditer(name))


def _before_slashes(name: str) -> list[str]:
    return [name[:place] for place, sign in enumerate(name) if sign == "/"]
