"""The program as the plain table that the runtime reads; `runtime_shim/program.py` describes it from the other side."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, assert_never

from compiler.ir.program import (
    Add,
    Agent,
    Ask,
    AtLeast,
    Branch,
    Edge,
    Effect,
    End,
    Gate,
    Node,
    OutcomeTest,
    Parallel,
    Program,
    Reset,
    Set,
    Shell,
    Task,
    Tool,
    counter_tests,
    scope_members,
)
from compiler.version import __version__

Table = dict[str, Any]


def table(program: Program) -> Table:
    """The table of a program that has no tasks but shell, ask, branch and end; keys in reading order."""
    resets = {e.scope for node in program.nodes for edge in node.edges for e in edge.effects if isinstance(e, Reset)}
    members = scope_members(program.registers)
    groups = {group.id: group for group in program.groups if group.kind == "step" and group.prompt}
    return {
        "name": program.name,
        "title": program.title,
        "source": program.sources[0].path,
        "sha256": program.sources[0].sha256,
        "rdc": __version__,
        "entry": program.entry,
        "registers": {register.name: register.initial for register in program.registers},
        "scopes": {scope: [register.name for register in members.get(scope, ())] for scope in sorted(resets)},
        "groups": {name: {"title": group.title, "prompt": group.prompt} for name, group in groups.items()},
        "units": {node.id: _unit(node, groups) for node in program.nodes},
    }


def _unit(node: Node, groups: Container[str]) -> Table:
    """A unit; `groups` are those that have something to say when a run enters them."""
    unit: Table = {"title": node.title, "at": f"{node.origin.path}:{node.origin.span.line}"}
    unit |= _given(group=node.group if node.group in groups else None) | _task(node.task)
    if node.retries:
        unit["attempt"] = node.retries
    if node.variables:
        unit["variables"] = {variable.name: variable.register for variable in node.variables}
    placeholders = {variable.placeholder: variable.register for variable in node.variables if variable.placeholder}
    if placeholders:
        unit["placeholders"] = placeholders
    unit["edges"] = [_edge(edge) for edge in node.edges]
    return unit


def _task(task: Task) -> Table:
    match task:
        case Shell(interpreter, command, prompt):
            return {"task": "shell", "shell": interpreter} | _given(prompt=prompt) | {"command": command}
        case Ask(question, prompt, block, language):
            words = question.replace("_", "/")
            return {"task": "ask", "question": words} | _given(prompt=prompt, language=language, block=block)
        case End(result, message):
            return {"task": "end", "result": result, "message": message}
        case Branch():
            return {"task": "branch"}
        case Agent() | Tool() | Parallel() | Gate():
            raise ValueError(f"a task of the kind {task.kind} cannot be expressed")
        case _:
            assert_never(task)


def _given(**fields: str | None) -> Table:
    return {name: value for name, value in fields.items() if value}


def _edge(edge: Edge) -> Table:
    written: Table = {}
    outcome = next((test.verdict.value for test in edge.guard if isinstance(test, OutcomeTest)), None)
    if outcome:
        written["on"] = outcome
    counters = [[test.register, test.operator, test.value] for test in counter_tests(edge)]
    if counters:
        written["if"] = counters
    if edge.effects:
        written["do"] = [_effect(effect) for effect in edge.effects]
    return written | {"go": edge.target, "says": edge.label}


def _effect(effect: Effect) -> list[Any]:
    match effect:
        case Set(register, value):
            return [register, "=", value]
        case Add(register, amount):
            return [register, "+", amount]
        case AtLeast(register, value):
            return [register, "at least", value]
        case Reset(scope):
            return ["reset", scope]
        case _:
            assert_never(effect)
