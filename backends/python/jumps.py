"""The operator's jumps as the runtime reads them: only those that it cannot tell by itself (I27).

By itself it goes to the unit that is named, and to the first unit whose name begins with that of a group, as those of
Rundown do (`2.1` and `2/lint.runbook.md/1` are in `2`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from backends.python.effects import effect_table
from backends.python.tasks import given
from compiler.ir.edges import Reset
from compiler.ir.program import Jump, Program, jumps_of, scope_members
from compiler.ir.tasks import Branch, End


def jumps(program: Program, resets: Collection[str]) -> dict[str, Any]:
    """The jumps by what they lead to, who stands in the groups that they enter, and scopes besides those of edges."""
    found = jumps_of(program)
    doing = [node.id for node in program.nodes if not isinstance(node.task, Branch | End)]
    told = {name: jump for name, jump in found.items() if jump.all_effects or jump.target != _expected(name, doing)}
    entered = {item.group for jump in told.values() for item in jump.entering if item.effects}
    effects = [effect for jump in told.values() for effect in jump.all_effects]
    scopes = {effect.scope for effect in effects if isinstance(effect, Reset)} - set(resets)
    members = scope_members(program.registers)
    return given(
        to={name: _jump(jump) for name, jump in told.items()},
        within={group: _inside(program, group) for group in sorted(entered)},
        scopes={scope: [register.name for register in members.get(scope, ())] for scope in sorted(scopes)},
    )


def _expected(name: str, doing: list[str]) -> str:
    """Where the runtime takes a run without being told."""
    if name in doing:
        return name
    return next((unit for unit in doing if unit.startswith((f"{name}.", f"{name}/"))), "")


def _jump(jump: Jump) -> dict[str, Any]:
    entering = [[item.group, [effect_table(effect) for effect in item.effects]] for item in jump.entering]
    return {"go": jump.target} | given(
        entering=[item for item in entering if item[1]], do=[effect_table(effect) for effect in jump.effects]
    )


def _inside(program: Program, group: str) -> list[str]:
    """The nodes that stand in a group, however deep."""
    parents = {each.id: each.parent for each in program.groups}
    inside: list[str] = []
    for node in program.nodes:
        outer = node.group
        while outer and outer != group:
            outer = parents[outer]
        if outer == group:
            inside.append(node.id)
    return inside
