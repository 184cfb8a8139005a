"""The stable text form of a program, for reading and for tests: one line for each thing, in document order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import assert_never

from compiler.ir.program import (
    Add,
    AtLeast,
    CounterTest,
    Edge,
    Effect,
    KeywordTest,
    Node,
    OutcomeTest,
    Program,
    Reset,
    Set,
    SlotTest,
    Test,
)


def to_text(program: Program) -> str:
    """The text form of a program, ending in a newline."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield f"program {program.name} {_quoted(program.title)}"
    for source in program.sources:
        yield f"source {source.path} sha256 {source.sha256}"
    for declared in program.inputs:
        default = f" = {_quoted(declared.default)}" if declared.default is not None else ""
        options = f" of {_quoted(declared.options)}" if declared.options else ""
        yield f"input {declared.name} {declared.type}{options}{default}"
    yield f"entry {program.entry}"
    for register in program.registers:
        scope = f" in {register.scope}" if register.scope else ""
        yield f"register {_quoted(register.name)} = {register.initial}{scope}"
    for slot in program.slots:
        yield f"slot {_quoted(slot.name)} = {_quoted(slot.initial)}"
    for group in program.groups:
        parent = f" in {group.parent}" if group.parent else ""
        yield f"group {group.id} {group.kind} {_quoted(group.title)}{parent}"
    for node in program.nodes:
        yield ""
        yield from _node(node)


def _node(node: Node) -> Iterator[str]:
    place = f"{node.origin.path}:{node.origin.span.line}"
    yield f"node {node.id} {node.task.kind} {_quoted(node.title)}  # {place}"
    for name in node.task.__dataclass_fields__:
        value = getattr(node.task, name)
        if name != "kind" and value not in ("", None, ()):
            yield f"  {name} {_quoted(value)}"
    for variable in node.variables:
        yield f"  variable {variable.name} = {_quoted(variable.register)} for {variable.placeholder}"
    if node.retries:
        yield f"  attempt {_quoted(node.retries)} + 1"
    for edge in node.edges:
        yield f"  {_edge(edge)}"


def _edge(edge: Edge) -> str:
    guard = " and ".join(_test(test) for test in edge.guard) or "always"
    effects = f" do {', '.join(_effect(effect) for effect in edge.effects)}" if edge.effects else ""
    label = f"  # {edge.label}" if edge.label else ""
    return f"{guard} -> {edge.target}{effects}{label}"


def _test(test: Test) -> str:
    match test:
        case OutcomeTest(verdict):
            return verdict.value
        case CounterTest(register, operator, value):
            return f"{_quoted(register)} {operator} {value}"
        case SlotTest(slot, operator, text):
            return f"{_quoted(slot)} {operator} {_quoted(text)}"
        case KeywordTest(keyword):
            return f"keyword {_quoted(keyword)}"
        case _:
            assert_never(test)


def _effect(effect: Effect) -> str:
    match effect:
        case Set(register, value):
            return f"{_quoted(register)} = {value}"
        case Add(register, amount):
            return f"{_quoted(register)} += {_quoted(amount) if isinstance(amount, str) else amount}"
        case AtLeast(register, value):
            return f"{_quoted(register)} at least {value}"
        case Reset(scope):
            return f"reset {scope}"
        case _:
            assert_never(effect)


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
