"""The program as the plain table that the runtime reads; `runtime_shim/program.py` describes it from the other side."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, assert_never

from backends.marks import Marks, marked
from compiler.ir.edges import Add, AtLeast, Clear, Edge, Effect, Keep, OutcomeTest, Reset, Set, counter_tests
from compiler.ir.program import Group, Node, Program, scope_members
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Task, Tool
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
        "groups": {name: _group(group) for name, group in groups.items()},
        "units": {node.id: _unit(node, groups) for node in program.nodes},
    }


def _group(group: Group) -> Table:
    marks = Marks((group.title, group.prompt))
    return {"title": marks.text(group.title), "prompt": marks.text(group.prompt)} | _placeholders(marks)


def _placeholders(marks: Marks) -> Table:
    """The counter for each mark in the texts of a unit or group (M5)."""
    found = {mark: reference.register for mark, reference in marks.references.items()}
    return {"placeholders": found} if found else {}


def _unit(node: Node, groups: Container[str]) -> Table:
    """A unit; `groups` are those that have something to say when a run enters them."""
    node, marks = marked(node)
    unit: Table = {"title": str(node.title), "at": f"{node.origin.path}:{node.origin.span.line}"}
    unit |= _given(group=node.group if node.group in groups else None) | _task(node.task)
    if node.retries:
        unit["attempt"] = node.retries
    if node.variables:
        unit["variables"] = {variable.name: variable.register for variable in node.variables}
    unit |= _placeholders(marks)
    unit["edges"] = [_edge(edge) for edge in node.edges]
    return unit


def _task(task: Task) -> Table:
    match task:
        case Shell(interpreter, command, prompt):
            return {"task": "shell", "shell": interpreter} | _given(prompt=str(prompt)) | {"command": str(command)}
        case Ask(question, prompt, block, language):
            words = question.replace("_", "/")
            return {"task": "ask", "question": words} | _given(
                prompt=str(prompt), language=language, block=str(block or "")
            )
        case End(result, message):
            return {"task": "end", "result": result, "message": str(message)}
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
    outcome = next((test.word for test in edge.guard if isinstance(test, OutcomeTest)), None)
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
        case Keep() | Clear():
            raise ValueError(f"an effect of the kind {effect.kind} cannot be expressed")
        case _:
            assert_never(effect)
