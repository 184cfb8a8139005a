"""The meaning of a program: a pure walk from step to step."""

import collections
import operator
import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Callable, NamedTuple, Optional

from runtime_shim.engine.program import RefusedError, Table

Registers = MutableMapping[str, Any]
Verbs = Mapping[str, Callable[[Any, Any], Any]]
TESTS: Verbs = {
    "<": operator.lt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": lambda slot, text: (slot or "") == text,
    "!=": lambda slot, text: (slot or "") != text,
}
VERBS: Verbs = {
    "=": lambda _old, new: new,
    "+": operator.add,
    "at least": max,
    "clear": lambda _old, _what: None,
    "keep": lambda old, what: old if what[0] == "output" else "",  # of an outcome without a text
}


class Move(NamedTuple):
    """Where a run went, and what it set."""

    node: str
    registers: Registers
    changed: Registers
    says: str
    passed: tuple[str, ...]


def _apply(program: Table, edge: Table, registers: Registers, verbs: Verbs) -> None:
    for effect in edge.get("do", ()):
        if len(effect) == 2:  # "reset" and a scope
            registers.update({name: program["registers"][name] for name in program["scopes"][effect[1]]})
            continue
        register, verb, amount = effect
        value = registers[amount] if isinstance(amount, str) else amount
        registers[register] = verbs[verb](registers[register], value)


def choose(program: Table, node: str, registers: Registers, outcome: Optional[str]) -> Any:  # noqa: ANN401
    """Return the first edge whose outcome and tests hold."""
    for edge in program["nodes"][node].get("edges", ()):
        tests = edge.get("if", ())
        if edge.get("on", outcome) == outcome and all(TESTS[test](registers[name], by) for name, test, by in tests):
            return edge
    raise RefusedError(f"{node}: no edge can be taken ({outcome or 'passing'}): the program is broken")


def advance(program: Table, node: str, registers: Registers, outcome: str, verbs: Verbs = VERBS) -> Move:
    """Leave a step with its outcome (M13)."""
    return follow(program, choose(program, node, registers, outcome), registers, verbs)


def follow(program: Table, edge: Table, before: Registers, verbs: Verbs = VERBS) -> Move:
    """Follow an edge, and those of branches and of ends of nested documents (M8); `before` stays as it is."""
    changed: Registers = {}
    registers = collections.ChainMap(changed, before)  # a copy at each step takes long
    says: list[str]
    passed: list[str]
    says, passed = [], []
    while True:
        _apply(program, edge, registers, verbs)
        name, node = edge["go"], program["nodes"][edge["go"]]
        says += filter(None, [edge.get("says")])
        if node["task"] not in ("branch", "end") or not node.get("edges"):
            return Move(name, registers, changed, ", ".join(says), tuple(passed))
        passed.append(name)
        edge = choose(program, name, registers, None)


def filled(node: Table, text: str, registers: Registers, escape: Callable[[str], str] = str) -> str:
    """Replace the placeholders in a text, in one pass (I6)."""
    found = {mark: escape(shown(place, registers)) for mark, place in node.get("placeholders", {}).items()}
    return re.sub("|".join(map(re.escape, found)), lambda match: found[match.group()], text) if found else text


def shown(place: Any, registers: Registers) -> str:  # noqa: ANN401 (a register, or a slot with what stands around it)
    """Return what stands for a placeholder: a counter, a slot between two texts, or another text if it is unset."""
    if isinstance(place, str):
        return str(registers[place])
    slot, before, after, missing = place
    return str(missing) if registers[slot] is None else f"{before}{registers[slot]}{after}"


def attempt_of(node: Table, registers: Registers) -> int:
    """Return the number of the attempt at a step within this visit (M4)."""
    return registers[node["attempt"]] + 1 if "attempt" in node else 1


def instances_of(node: Table, registers: Registers) -> Registers:
    """Return the instance variables of a step with their values (M4)."""
    return {variable: registers[register] for variable, register in node.get("variables", {}).items()}


def variables_of(name: str, node: Table, registers: Registers) -> Table:
    """Return the environment variables by which a command knows its step (M4)."""
    title = filled(node, node.get("title", ""), registers).replace("\0", "\ufffd")
    own = {"RDC_STEP": name, "RDC_TITLE": title[:16_384], "RDC_ATTEMPT": attempt_of(node, registers)}  # not 128 KiB
    return {**own, **instances_of(node, registers)}
