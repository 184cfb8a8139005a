"""The program as the plain table that the runtime reads; `runtime_shim/program.py` describes it from the other side."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, assert_never

from backends.marks import Marks, marked
from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    CounterTest,
    Edge,
    Effect,
    Keep,
    OutcomeTest,
    Reset,
    Set,
    SlotTest,
    register_tests,
    words_of,
)
from compiler.ir.program import Group, Input, Node, Program, scope_members
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Reading, Shell, Task, Tool, alphabet
from compiler.ir.texts import Reference
from compiler.version import __version__

Table = dict[str, Any]


def table(program: Program) -> Table:
    """The table of a program; keys in reading order."""
    resets = {e.scope for node in program.nodes for edge in node.edges for e in edge.effects if isinstance(e, Reset)}
    members = scope_members(program.registers)
    groups = [group for group in program.groups if group.kind == "step" and group.prompt]
    slots = {slot.name: slot.initial for slot in program.slots}
    return {
        "name": program.name,
        "title": program.title,
        "source": program.sources[0].path,
        "sha256": program.sources[0].sha256,
        "rdc": __version__,
        "entry": program.entry,
        **({"limit": program.limit} if program.limit is not None else {}),
        **({"inputs": [_input(declared) for declared in program.inputs]} if program.inputs else {}),
        "registers": {register.name: register.initial for register in program.registers} | slots,
        "scopes": {scope: [register.name for register in members.get(scope, ())] for scope in sorted(resets)},
        "groups": {group.id: _group(group) for group in groups},
        "units": {node.id: _unit(node, {group.id for group in groups}, slots) for node in program.nodes},
    }


def _input(declared: Input) -> Table:
    found: Table = {"name": declared.name, "type": declared.type, "required": declared.required}
    if declared.default is not None:
        found["default"] = declared.default
    if declared.pattern is not None:
        found["pattern"] = declared.pattern
    return found | _given(options=list(declared.options))


def _group(group: Group) -> Table:
    marks = Marks((group.title, group.prompt))
    return {"title": marks.text(group.title), "prompt": marks.text(group.prompt)} | _placeholders(marks)


def _placeholders(marks: Marks) -> Table:
    """For each mark in the texts of a unit or group what stands in its place (M5, I6)."""
    found = {mark: _place(reference) for mark, reference in marks.references.items()}
    return {"placeholders": found} if found else {}


def _place(reference: Reference) -> str | list[str]:
    """A counter or slot; with the texts around it, and what stands there where it is unset, if there are any."""
    around = [reference.before, reference.after, reference.missing]
    return [reference.register, *around] if any(around) else reference.register


def _unit(node: Node, groups: Container[str], slots: Container[str]) -> Table:
    """A unit; `groups` are those that have something to say when a run enters them."""
    node, marks = marked(node)
    unit: Table = {"title": str(node.title), "at": f"{node.origin.path}:{node.origin.span.line}"}
    unit |= _given(group=node.group if node.group in groups else None) | _task(node.task)
    unit |= _settings(node)
    if node.retries:
        unit["attempt"] = node.retries
    unit |= _given(
        variables={item.name: item.register for item in node.variables if item.register not in slots},
        texts={item.name: item.register for item in node.variables if item.register in slots},
        values=_values(node),
    )
    unit |= _placeholders(marks)
    unit["edges"] = [_edge(edge) for edge in node.edges if len(words_of([edge])) < 2]  # no outcome has two words
    return unit


def _settings(node: Node) -> Table:
    settings = node.settings
    backoff = settings.backoff if settings.delay and settings.backoff != 1 else None
    return _given(timeout=settings.timeout, delay=settings.delay, backoff=backoff)


def _values(node: Node) -> list[str]:
    """The names of the values that the edges of a unit keep."""
    kept = [e.name for edge in node.edges for e in edge.effects if isinstance(e, Keep) and e.of == "value"]
    return list(dict.fromkeys(kept))


def _task(task: Task) -> Table:
    match task:
        case Shell(interpreter, command, prompt):
            return {"task": "shell", "shell": interpreter} | _given(prompt=str(prompt)) | {"command": str(command)}
        case Ask(question, prompt, block, language):
            words = question.replace("_", "/")
            asked = {"task": "ask", "question": words} | _given(
                prompt=str(prompt), language=language, block=str(block or "")
            )
            return asked | _words(task) | _given(options=list(map(str, task.options)))
        case Agent(agent, prompt, reading):
            return {"task": "agent", "agent": agent, "prompt": str(prompt)} | _reading(reading) | _words(task)
        case Tool(connection, tool, arguments):
            return {"task": "tool", "connection": connection, "tool": tool, "arguments": str(arguments)}
        case Parallel(entries, check, failing, unanimous):
            calls = [{"agent": e.agent, "prompt": str(e.prompt)} | _reading(e.reading) for e in entries]
            joined = _given(failing=list(failing), unanimous=list(unanimous))
            return {"task": "parallel", "check": check, "entries": calls} | joined | _words(task)
        case Gate(gate, reason):
            return {"task": "gate", "gate": gate} | _given(reason=str(reason)) | _words(task)
        case End(result, message):
            return {"task": "end", "result": result, "message": str(message)}
        case Branch():
            return {"task": "branch"}
        case _:
            assert_never(task)


def _words(task: Task) -> Table:
    """The words of a task, where they are others than pass and fail."""
    words = list(alphabet(task))
    return {} if words == ["pass", "fail"] else {"words": words}


def _reading(reading: Reading) -> Table:
    excused = list(reading.excused)
    return _given(keywords=list(reading.keywords), validation=reading.validation, excused=excused)


def _given(**fields: object) -> Table:
    return {name: value for name, value in fields.items() if value}


def _edge(edge: Edge) -> Table:
    written: Table = {}
    outcome = next((test.word for test in edge.guard if isinstance(test, OutcomeTest)), None)
    if outcome:
        written["on"] = outcome
    tests = [_test(test) for test in register_tests(edge)]
    if tests:
        written["if"] = tests
    if edge.effects:
        written["do"] = [_effect(effect) for effect in edge.effects]
    return written | {"go": edge.target, "says": edge.label}


def _test(test: CounterTest | SlotTest) -> list[Any]:
    if isinstance(test, CounterTest):
        return [test.register, test.operator, test.value]
    return [test.slot, test.operator, test.text]


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
        case Keep(slot, "value", name):
            return [slot, "keep", ["value", name]]
        case Keep(slot, _, _, extract):
            return [slot, "keep", ["answer"] if extract is None else ["field", extract]]
        case Clear(slot):
            return [slot, "clear", None]
        case _:
            assert_never(effect)
