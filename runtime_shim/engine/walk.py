"""The meaning of a program: pure functions that move from step to step."""

import collections
import operator
import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Callable, NamedTuple

from runtime_shim.engine.program import Table, UsageError

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
    "keep": lambda old, what: old if what[0] == "output" else "",  # the outcome has no text
}


class Move(NamedTuple):
    """A move to a node, with the registers after it, the changed ones, and the nodes passed on the way.

    `settled` are the outcomes of the steps around that it decides, if the program has rules.
    """

    node: str
    registers: Registers
    changed: Registers
    says: str
    passed: tuple[str, ...]
    settled: tuple[Any, ...] = ()


def advance(program: Table, node: str, registers: Registers, outcome: str, verbs: Verbs = VERBS) -> Move:
    """Return the move that follows a step's outcome."""
    return follow(program, choose(program, node, registers, outcome), registers, verbs)


def choose(program: Table, node: str, registers: Registers, outcome: "str | None") -> Any:
    """Return the first edge of a node whose outcome and tests hold."""
    for edge in program["nodes"][node].get("edges", ()):
        tests = edge.get("if", ())
        if edge.get("on", outcome) == outcome and all(TESTS[test](registers[name], by) for name, test, by in tests):
            return edge
    raise UsageError(f"the program is broken: {node} has no transition for {outcome or 'passing'}")


def follow(program: Table, edge: Table, before: Registers, verbs: Verbs = VERBS) -> Move:
    """Follow an edge through branches and nested ends. `before` is not changed."""
    changed: Registers = {}
    registers = collections.ChainMap(changed, before)  # copying at each step is slow
    says, passed, settled = list[str](), list[str](), list[Any]()
    while True:
        for register, verb, *amount in edge.get("do", ()):
            if amount:
                value = registers[amount[0]] if isinstance(amount[0], str) else amount[0]
                registers[register] = verbs[verb](registers[register], value)
            else:  # "reset" and a scope
                registers.update({name: program["registers"][name] for name in program["scopes"][verb]})
        name, node = edge["go"], program["nodes"][edge["go"]]
        says += filter(None, [edge.get("says")])
        settled += (*edge.get("settles", ()), *node.get("settles", ()))  # an end of one transition has them itself
        if not is_passed(node):
            return Move(name, registers, changed, ", ".join(says), tuple(passed), tuple(settled))
        passed.append(name)
        edge = choose(program, name, registers, None)


def is_passed(node: Table) -> bool:
    """Return whether a run passes through a node: a branch, or a nested document's end."""
    return node["task"] in ("branch", "end") and bool(node.get("edges"))


def filled(node: Table, text: str, registers: Registers, escape: Callable[[str], str] = str) -> str:
    """Replace all placeholders in a text in one pass."""
    found = {mark: escape(shown(place, registers)) for mark, place in node.get("placeholders", {}).items()}
    return re.sub("|".join(map(re.escape, found)), lambda match: found[match.group()], text) if found else text


def shown(place: Any, registers: Registers) -> str:  # a register, or a slot and the text around it
    """Return a placeholder's value: a counter, or a slot with text around it or other text if unset."""
    if isinstance(place, str):
        return str(registers[place])
    slot, before, after, missing = place
    return str(missing) if registers[slot] is None else f"{before}{registers[slot]}{after}"


def attempt_of(node: Table, registers: Registers) -> int:
    """Return the number of the current attempt at a step."""
    return registers[node["attempt"]] + 1 if "attempt" in node else 1


def instances_of(node: Table, registers: Registers) -> Registers:
    """Return a step's instance variables and their values."""
    return {variable: registers[register] for variable, register in node.get("variables", {}).items()}


def variables_of(name: str, node: Table, registers: Registers) -> Table:
    """Return the environment variables that describe the step to its command."""
    title = filled(node, node.get("title", ""), registers).replace("\0", "\ufffd")
    own = {"RDC_STEP": name, "RDC_TITLE": title[:16_384], "RDC_ATTEMPT": attempt_of(node, registers)}  # under 128 KiB
    return {**own, **instances_of(node, registers)}
