"""The meaning of a program: a pure walk from unit to unit, which never runs anything."""

from __future__ import annotations

import operator
import re
from typing import Callable, NamedTuple, Optional

from runtime_shim.program import RefusedError, Table

Registers = dict[str, int]
TESTS: dict[str, Callable[[int, int], bool]] = {"<": operator.lt, ">=": operator.ge, "=": operator.eq}
VERBS: dict[str, Callable[[int, int], int]] = {
    "=": lambda _old, value: value,
    "+": operator.add,
    "at least": max,
}


class Move(NamedTuple):
    """Where a walk went from a unit: the next one to do, or a final end."""

    node: str
    registers: Registers
    changed: Registers
    says: str = ""
    passed: tuple[str, ...] = ()


def holds(edge: Table, registers: Registers, outcome: Optional[str]) -> bool:
    """Tell whether an edge may be taken: its outcome fits and all its tests hold."""
    if edge.get("on", outcome) != outcome:
        return False
    tests = edge.get("if", ())
    return all(TESTS[test](registers[register], number) for register, test, number in tests)


def effects(program: Table, edge: Table, registers: Registers) -> Registers:
    """Apply the effects of an edge to the registers in place and return those that it set."""
    changed: Registers = {}
    for effect in edge.get("do", ()):
        if effect[0] == "reset" and len(effect) == 2:
            new = {register: program["registers"][register] for register in program["scopes"][effect[1]]}
        else:
            register, verb, amount = effect
            value = registers[amount] if isinstance(amount, str) else amount
            new = {register: VERBS[verb](registers[register], value)}
        registers.update(new)
        changed.update(new)
    return changed


def choose(program: Table, node: str, registers: Registers, outcome: Optional[str]) -> Table:
    """Return the first edge of a unit that may be taken."""
    for edge in program["units"][node].get("edges", ()):
        if holds(edge, registers, outcome):
            chosen: Table = edge
            return chosen
    raise RefusedError(f"{node}: no edge can be taken ({outcome or 'passing'}): the program is broken")


def is_final(unit: Table) -> bool:
    """Tell whether a unit ends the run; the end of a nested runbook has an edge and does not (M8)."""
    return unit["task"] == "end" and not unit.get("edges")


def enter(program: Table, node: str, registers: Registers) -> Move:
    """Go to a node and on through branches and nested ends, to a unit to do or a final end."""
    return _settle(program, Move(node, dict(registers), {}))


def advance(program: Table, node: str, registers: Registers, outcome: str) -> Move:
    """Leave a unit with its outcome: choose the edge, apply its effects, go on (M13)."""
    edge = choose(program, node, registers, outcome)
    after = dict(registers)
    changed = effects(program, edge, after)
    return _settle(program, Move(edge["go"], after, changed, edge.get("says", "")))


def _settle(program: Table, move: Move) -> Move:
    node, passed = move.node, []
    unit = program["units"][node]
    while unit["task"] in ("branch", "end") and not is_final(unit):
        passed.append(node)
        edge = choose(program, node, move.registers, None)
        move.changed.update(effects(program, edge, move.registers))
        node = edge["go"]
        unit = program["units"][node]
    return move._replace(node=node, passed=tuple(passed))


def filled(unit: Table, text: str, registers: Registers) -> str:
    """Replace the placeholders in a text, though not after a `$`: shell expansions survive (M5)."""
    places = unit.get("placeholders")
    if not places:
        return text
    pattern = r"(?<!\$)(?:" + "|".join(map(re.escape, places)) + ")"
    return re.sub(pattern, lambda match: str(registers[places[match.group()]]), text)


def attempt_of(unit: Table, registers: Registers) -> int:
    """Return the number of the attempt at a unit within this visit (M4)."""
    return registers[unit["attempt"]] + 1 if "attempt" in unit else 1


def instances_of(unit: Table, registers: Registers) -> Registers:
    """Return the instance variables of a unit with their values (M4)."""
    return {variable: registers[register] for variable, register in unit.get("variables", {}).items()}
