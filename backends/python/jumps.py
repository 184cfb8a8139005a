"""The operator's jumps in the runtime's format: only those that the runtime cannot find itself (I27).

On its own, it goes to the named step, or to the first step whose name starts with a group's name, as in Rundown (`2.1`
and `2/lint.runbook.md/1` are in `2`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from backends.python.settings import effect_lists, given
from compiler.ir.edges import Effect, Reset
from compiler.ir.program import Entering, Jump, Node, Program, plain_targets, scope_members
from compiler.ir.tasks import IDLE, Agent, Parallel, Tool
from compiler.text.regex import Regex

_END = Regex(r"[./]")
_OF_NUMBER = Regex(r"\.(?=[0-9])")
_CALLED = (Agent, Parallel, Tool)


def jumps(program: Program, resets: Collection[str]) -> dict[str, Any]:
    """Return the effects of jumps into groups (`enter`), outer groups first, and the groups' members (`within`).

    `to` has the jumps that do something else, `scopes` those that no edge resets. A group that is not in `within`
    contains the steps whose names start with its name.
    """
    if not program.jumps and not program.groups:
        return {}  # the runtime finds each step itself
    written = {jump.id: _effective(jump) for jump in program.jumps}
    enter = _entered(program, written.values())
    inside, named = _members(program, enter)
    told = _Told(program, enter, {group: names for group, names in inside.items() if names != named[group]})
    doubtful = {
        *written,
        *(group.id for group in program.groups),
        *(name for names in inside.values() for name in names),
    }
    plain = plain_targets(program)
    found = [written.get(name) or Jump(name, plain[name]) for name in (plain | written) if name in doubtful]
    effects = [effect for jump in found for effect in jump.all_effects]
    scopes = {effect.scope for effect in effects if isinstance(effect, Reset)} - set(resets)
    members = scope_members(program.counters)
    return given(
        to={jump.id: _jump(jump) for jump in found if jump != told.jump(jump.id)},
        enter={group: effect_lists(effects) for group, effects in enter.items()},
        within=told.within,
        scopes={scope: [register.name for register in members.get(scope, ())] for scope in sorted(scopes)},
    )


class _Told:
    """The jumps that `runtime_shim/operator/jumps.py` derives from a name that is not in `to`."""

    def __init__(
        self, program: Program, enter: Mapping[str, tuple[Effect, ...]], within: Mapping[str, list[str]]
    ) -> None:
        self.within = within
        self._enter = enter
        self._order = {group: place for place, group in enumerate(enter)}
        self._around: dict[str, set[str]] = {}
        for group, names in within.items():
            for name in names:
                self._around.setdefault(name, set()).add(group)
        nodes = [node.id for node in program.nodes if type(node.task) not in IDLE]
        inner = [name for name in reversed(nodes) if "." in name or "/" in name]
        self._begun = {begin: step for step in inner for begin in _beginnings(step)}
        self._named = {*nodes}

    def jump(self, name: str) -> Jump:
        """Return the runtime's jump: to the step of this name, or to the first step of the group, which starts over."""
        groups = {begin for begin in _beginnings(name) if begin in self._enter and begin not in self.within}
        groups |= self._around.get(name, set())
        around = tuple(Entering(group, self._enter[group]) for group in sorted(groups, key=self._order.__getitem__))
        if name in self._named:
            return Jump(name, name, around)
        return Jump(name, self._begun.get(name, ""), around, self._enter.get(name, ()))


def _beginnings(name: str) -> Iterator[str]:
    """Yield the part of a name before each `.` and `/`."""
    return (name[: found.start()] for found in _END.finditer(name))


def _entered(program: Program, found: Iterable[Jump]) -> dict[str, tuple[Effect, ...]]:
    """Return the groups in which a jump resets something, outer groups first."""
    effects: dict[str, tuple[Effect, ...]] = {}
    for jump in found:
        for item in jump.entering:
            effects.setdefault(item.group, item.effects)
    depth = {group: len(list(program.around(group))) for group in effects}
    return {group: effects[group] for group in sorted(effects, key=depth.__getitem__)}


def _effective(jump: Jump) -> Jump:
    """Return the jump without groups in which it resets nothing."""
    return replace(jump, entering=tuple(item for item in jump.entering if item.effects))


def _jump(jump: Jump) -> dict[str, Any]:
    entering = [[item.group, effect_lists(item.effects)] for item in jump.entering]
    return {"go": jump.target} | given(entering=entering, do=effect_lists(jump.effects))


def _members(program: Program, groups: Collection[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the nodes in each of some groups, at any depth, and those whose names start with the group's name."""
    inside: dict[str, list[str]] = {group: [] for group in groups}
    named: dict[str, list[str]] = {group: [] for group in groups}
    for node in program.nodes if groups else ():
        for group in inside.keys() & program.around(node.group):
            inside[group].append(node.id)
        for group in named.keys() & _beginnings(node.id):
            named[group].append(node.id)
    return inside, named


# --- Breakpoints ------------------------------------------------------------------------------------------------------


def told_steps(program: Program) -> dict[str, tuple[str, ...]]:
    """Return the steps around each step if its name doesn't imply them; none in a program that calls nothing."""
    if not any(type(node.task) in _CALLED for node in program.nodes):
        return {}
    known = {node.id for node in program.nodes} | {group.id for group in program.groups}
    doing = (node for node in program.nodes if type(node.task) not in IDLE)
    found = {node.id: (known.intersection(_by_name(node.id)), _steps(program, node, known)) for node in doing}
    return {name: tuple(sorted(steps)) for name, (said, steps) in found.items() if said != steps}


def _steps(program: Program, node: Node, known: set[str]) -> set[str]:
    """Return the groups around a node, and the steps whose question or branch it is, by its name."""
    return {*known.intersection(_before_slashes(node.id)), *program.around(node.group)} - {node.id}


def _by_name(name: str) -> Iterator[str]:
    """Yield the steps around a node that `runtime_shim/values/settings.py` and the Make driver derive from its name."""
    for start in (*_before_slashes(name), name):
        yield from (start,) if start != name else ()
        yield from (start[:-1],) if re.fullmatch("(?s:.+)[a-z]", start) else ()
    yield from (name[: found.start()] for found in _OF_NUMBER.finditer(name))


def _before_slashes(name: str) -> list[str]:
    return [name[:place] for place, sign in enumerate(name) if sign == "/"]
