"""Retry counters that the driver doesn't need, because it counts the attempts at a step itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from compiler.ir.edges import Add, Edge, counter_effects, register_tests
from compiler.ir.program import Node, Program, scope_members, texts_of


def retries_of(edge: Edge, counter: str) -> int | None:
    """Return how many retries an edge allows that only retries its step and counts, or None for another edge."""
    if not counter or edge.effects != (Add(counter, 1),):
        return None
    tests = register_tests(edge)
    if len(tests) != 1:
        return None
    test = tests[0]
    if test.kind == "counter" and test.register == counter and test.operator == "<":
        return test.value
    return None


def shown_counters(program: Program) -> set[str]:
    """Return the counters that appear in strings. Most programs have none."""
    texts = (text for node in program.nodes for text in texts_of(node))
    return {part.register for text in texts for part in text.parts if not isinstance(part, str)}


def own_retries(program: Program, shown: Collection[str]) -> dict[str, str]:
    """Return the counters that only count one step's retries in one visit (M9), by step.

    Such a counter is 0 at every other step, so the driver counts attempts instead. `shown` are the counters that appear
    in strings.
    """
    named = _named_elsewhere(program, shown)
    initial = {register.name: register.initial for register in program.registers}
    members = {scope: {one.name for one in found} for scope, found in scope_members(program.registers).items()}
    ends = {node.id for node in program.nodes if not node.edges}
    return {
        node.id: node.retries
        for node in program.nodes
        if node.retries
        and initial[node.retries] == 0
        and named.get(node.retries, set()) <= {node.id}
        and all(_keeps_to_it(node, edge, node.retries, members, ends) for edge in node.edges)
    }


def _keeps_to_it(node: Node, edge: Edge, counter: str, members: Mapping[str, set[str]], ends: set[str]) -> bool:
    """Return whether an edge retries its step and counts that, or leaves the step and resets the count."""
    if retries_of(edge, counter) is not None:
        return edge.target == node.id
    if any(test.kind == "counter" and test.register == counter for test in edge.guard):
        return False
    forgets, is_set = False, False
    for effect in counter_effects(edge.effects):
        if effect.kind == "reset":
            forgets |= counter in members.get(effect.scope, ())
        elif effect.register == counter:
            if effect.kind != "set":
                return False
            forgets |= not effect.value
            is_set |= bool(effect.value)
    return (forgets and not is_set) or edge.target in ends


def _named_elsewhere(program: Program, shown: Collection[str]) -> dict[str, set[str]]:
    """Return the nodes that use each counter. If a string or variable shows it, all nodes use it ("")."""
    found: dict[str, set[str]] = {counter: {""} for counter in shown}
    for node in program.nodes:
        if node.retries:
            found.setdefault(node.retries, set()).add(node.id)
        for item in node.variables:
            found.setdefault(item.register, set()).add("")
        for edge in node.edges:
            for test in edge.guard:
                if test.kind == "counter":
                    found.setdefault(test.register, set()).add(node.id)
            for effect in counter_effects(edge.effects):
                if effect.kind != "reset":
                    found.setdefault(effect.register, set()).add(node.id)
                if effect.kind == "add" and isinstance(effect.amount, str):
                    found.setdefault(effect.amount, set()).add("")
    return found
