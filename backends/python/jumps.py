"""The operator's jumps as the runtime reads them: only those that it cannot tell by itself (I27).

By itself it goes to the unit that is named, and to the first unit whose name begins with that of a group, as those of
Rundown do (`2.1` and `2/lint.runbook.md/1` are in `2`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from backends.python.effects import effect_table
from backends.python.tasks import given
from compiler.ir.edges import Effect, Reset
from compiler.ir.program import Entering, Jump, Program, plain_targets, scope_members
from compiler.ir.tasks import Branch, End


def jumps(program: Program, resets: Collection[str]) -> dict[str, Any]:
    """What a jump does on its way into a group (`enter`), the outermost first, and who stands there (`within`).

    `to` has the jumps that do something else, `scopes` those that no edge resets.
    """
    written = {jump.unit: _effective(jump) for jump in program.jumps}
    enter = _entered(program, written.values())
    within = _inside(program, enter)
    expected = _expected(node.id for node in program.nodes if not isinstance(node.task, Branch | End))
    around: dict[str, tuple[Entering, ...]] = {}
    for group, inside in within.items():
        for name in inside:
            around[name] = (*around.get(name, ()), Entering(group, enter[group]))
    doubtful = {
        *written,
        *around,
        *(group.id for group in program.groups),
    }  # to all other names the runtime goes itself
    plain = plain_targets(program)
    found = {name: written.get(name) or Jump(name, plain[name]) for name in (plain | written) if name in doubtful}
    told = {
        name: jump for name, jump in found.items() if jump != Jump(name, expected.get(name, ""), around.get(name, ()))
    }
    effects = [effect for jump in found.values() for effect in jump.all_effects]
    scopes = {effect.scope for effect in effects if isinstance(effect, Reset)} - set(resets)
    members = scope_members(program.registers)
    return given(
        to={name: _jump(jump) for name, jump in told.items()},
        enter={group: [effect_table(effect) for effect in effects] for group, effects in enter.items()},
        within=within,
        scopes={scope: [register.name for register in members.get(scope, ())] for scope in sorted(scopes)},
    )


def _entered(program: Program, found: Iterable[Jump]) -> dict[str, tuple[Effect, ...]]:
    """The groups in which something begins afresh where a jump comes into them, the outer ones first."""
    effects: dict[str, tuple[Effect, ...]] = {}
    for jump in found:
        for item in jump.entering:
            effects.setdefault(item.group, item.effects)
    parents = {group.id: group.parent for group in program.groups}

    def depth(group: str) -> int:
        count = 0
        while group:
            group, count = parents[group], count + 1
        return count

    return {group: effects[group] for group in sorted(effects, key=depth)}


def _expected(units: Iterable[str]) -> dict[str, str]:
    """Where the runtime takes a run without being told: to a unit, and to the first one whose name begins so."""
    named: dict[str, str] = {}
    begun: dict[str, str] = {}
    for unit in units:
        named[unit] = unit
        for place, character in enumerate(unit):
            if character in "./":
                begun.setdefault(unit[:place], unit)
    return begun | named


def _effective(jump: Jump) -> Jump:
    """The jump without groups in which nothing begins afresh."""
    return replace(jump, entering=tuple(item for item in jump.entering if item.effects))


def _jump(jump: Jump) -> dict[str, Any]:
    entering = [[item.group, [effect_table(effect) for effect in item.effects]] for item in jump.entering]
    return {"go": jump.target} | given(entering=entering, do=[effect_table(effect) for effect in jump.effects])


def _inside(program: Program, groups: Collection[str]) -> dict[str, list[str]]:
    """The nodes that stand in each of some groups, however deep."""
    parents = {each.id: each.parent for each in program.groups}
    inside: dict[str, list[str]] = {group: [] for group in groups}
    for node in program.nodes:
        group = node.group
        while group:
            if group in inside:
                inside[group].append(node.id)
            group = parents[group]
    return inside
