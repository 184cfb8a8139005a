"""The settings of a step's call: its task, timing, variables, effects and references, as plain values."""

from collections.abc import Container, Iterable
from math import inf
from typing import Any, assert_never

from backends.common.marks import Marks
from compiler.ir.edges import Add, AtLeast, Clear, CounterTest, Edge, Effect, Keep, OutcomeTest, Reset, Set, SlotTest
from compiler.ir.program import Node
from compiler.ir.tasks import IDLE, Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Task, Tool, alphabet
from compiler.ir.texts import Reference

Values = dict[str, Any]

CALLING = (Shell, Agent, Tool, Parallel)
"""The tasks with environment variables."""


def word_of(task: Task) -> str:
    """Return the word of a task's call, which is `step` for a command."""
    if isinstance(task, Ask) and task.question not in ("pass_fail", "yes_no"):
        return task.question
    return "step" if task.kind == "shell" else task.kind


def task_settings(task: Task, original: Task) -> Values:
    """Return the settings of a task that `runtime_shim/values/defaults.py` doesn't add, the prompt and command first.

    Args:
        task: The task with marks for its references.
        original: The task before that. The words of a select are its options as written.
    """
    match task:  # most tasks are commands
        case Shell():
            return given(prompt=str(task.prompt)) | {task.interpreter: str(task.command)}
        case End() | Branch():
            return {}
        case Ask():
            return _ask(task, list(alphabet(original)))
        case Agent():
            found = _agent(task) | given(report=task.report)
            return {"prompt": found.pop("prompt")} | {key: item for key, item in found.items() if item}
        case Tool(connection, tool, arguments, optional=is_optional):
            return {"connection": connection, "tool": tool, "arguments": str(arguments)} | given(optional=is_optional)
        case Parallel(entries, check, unanimous=unanimous, report=report):
            called: Values = {"entries": [_agent(entry) for entry in entries], "check": check}
            called |= {"failing": list(task.failing_words), "unanimous": list(unanimous)}
            return called | given(report=report)
        case Gate(gate, reason):
            return {"gate": gate} | given(reason=str(reason))
        case Stage():
            place = {"place": task.place} if task.stage == "tool" else {}
            paths = list(map(str, task.paths))
            own: Values = {"stage": task.stage, "step": task.step, **place}
            return own | given(subject=task.subject, paths=paths, checks=list(task.checks))
        case _:
            assert_never(task)


def _ask(task: Ask, words: list[str]) -> Values:
    block = given(language=task.language, block=str(task.block or ""))
    if task.question in ("pass_fail", "yes_no"):
        return given(prompt=str(task.prompt)) | {"question": task.question.replace("_", "/")} | _items(task) | block
    found = given(prompt=str(task.prompt)) | block
    if task.question == "select":
        options = [str(option) for option in task.options]
        found |= {"words": words} | given(options=options if options != words else None)
    if value := task.value:
        checks = given(options=list(value.options), pattern=value.pattern)
        found["asks"] = {"name": value.name, "type": value.type, **checks}
    return found


def _items(task: Ask) -> Values:
    return given(items=[str(item) for item in task.items])


def _agent(task: Agent) -> Values:
    reading = task.reading
    return {"agent": task.agent, "prompt": str(task.prompt)} | given(
        context=task.context,
        keywords=list(reading.keywords),
        validation=reading.validation,
        excused=list(reading.excused),
        failing=list(reading.failing),
    )


def common_settings(node: Node, slots: Container[str], *, is_stepspec: bool) -> Values:
    """Return the settings that don't depend on the kind of task: timing, retries and variables (I7)."""
    found: Values = {}
    if node.settings.timeout is not None:
        found["timeout"] = node.settings.timeout
    if node.settings.delay:
        found |= {"delay": node.settings.delay, "backoff": node.settings.backoff}
    if node.settings.expire:
        found["expire"] = node.settings.expire
    if is_stepspec and isinstance(node.task, Gate):
        found["step"] = node.group
    if node.retries:
        found["attempt"] = node.retries
    if node.constants and isinstance(node.task, CALLING):
        found["env"] = {constant.name: constant.value for constant in node.constants}
    counters = {item.name: item.register for item in node.variables if item.register not in slots}
    if counters and type(node.task) not in IDLE:
        found["variables"] = counters
    return found


def given(**fields: object) -> Values:
    """Return the fields with a value."""
    return {name: value for name, value in fields.items() if value}


def effect_list(effect: Effect) -> list[Any]:
    """Return an effect as a list: its target, its kind, and its value."""
    match effect:
        case Set(register, value):
            return [register, "=", value]
        case Reset(scope):
            return ["reset", scope]
        case Add(register, amount):
            return [register, "+", amount]
        case AtLeast(register, value):
            return [register, "at least", value]
        case Keep(slot, "output", name):
            return [slot, "keep", ["output", name]]
        case Keep(slot, extract=field, options=options):
            words = [field, *options] if field is not None or options else []
            return [slot, "keep", ["answer" if field is None else "field", *words]]
        case Clear(slot):
            return [slot, "clear", []]
        case _:
            assert_never(effect)


def effect_lists(effects: Iterable[Effect]) -> list[list[Any]]:
    """Return effects as lists."""
    return [effect_list(effect) for effect in effects]


def tests_of(edge: Edge) -> list[list[Any]]:
    """Return the conditions of an edge besides its outcome."""
    found: list[list[Any]] = []
    for test in edge.guard:
        match test:
            case OutcomeTest():
                continue
            case CounterTest(register, operator, value):
                found.append([register, operator, value])
            case SlotTest(slot, operator, text):
                found.append([slot, operator, text])
            case _:
                assert_never(test)
    return found


def places(marks: Marks, slots: Container[str]) -> Values:
    """Return the value of each mark in some strings (I6)."""
    return {mark: _place(reference, slots) for mark, reference in marks.references.items()}


def placeholders(marks: Marks, slots: Container[str]) -> Values:
    """Return the values of marks as a setting, if there are any."""
    return given(placeholders=places(marks, slots))


def _place(reference: Reference, slots: Container[str]) -> str | list[str]:
    """Return a reference's counter, or a list that also has the strings around its value and its missing value."""
    found = around(reference, slots)
    return found if reference.register in slots or any(found[1:]) else reference.register


def around(reference: Reference, slots: Container[str]) -> list[str]:
    """Return a reference as a list: its register, the strings around its value, and the string if it has none."""
    missing = reference.missing if reference.register in slots else ""
    return [reference.register, reference.before, reference.after, missing]


WIDEST = 120

RESERVED = ("\n# /// ", "\n# BEGIN ", "\n# END ")
"""The start of a block that tools such as uv read from a script (PEP 723), and of the lines around a part with a hash.

A document's text must not become one.
"""


def literal(value: object, indent: int = 0, begun: int = 0, *, widest: float = inf) -> str:
    """Return a value as a Python expression at an indent.

    A list or dictionary has a line for each item if one has several lines, or if the line with `begun` characters
    before it is wider than `widest`. A string of several lines has a literal for each line. Empty lines at its ends
    have no separate literal. `repr` escapes invisible characters, including marks that reverse the direction of text,
    so a reviewer sees what runs.
    """
    if isinstance(value, str):
        return _text(value, indent) if "\n" in value.strip("\n") else _quoted(value)
    items: list[tuple[str, object]]
    if isinstance(value, list):
        (opening, closing), items = "[]", [("", item) for item in value]
    elif isinstance(value, dict):
        (opening, closing), items = "{}", [(f"{literal(key)}: ", item) for key, item in value.items()]
    else:
        return repr(value)
    whole = f"{opening}{', '.join(key + literal(item) for key, item in items)}{closing}"
    if "\n" not in whole and indent + begun + len(whole) < widest:
        return whole
    inner = indent + 4
    return broken(
        opening, [key + literal(item, inner, len(key), widest=widest) for key, item in items], closing, indent
    )


def prose(text: str, indent: int = 8, *, is_framed: bool = True) -> str:
    """Return a string as a setting of a call: raw and unchanged on separate lines, if Python then reads exactly that.

    In settings of a step, a string that starts with a line break gets a frame of two more, which the reader removes.
    """
    if "\n" not in text:
        shown = _quoted(text)
        if text in shown:
            return shown
    frame = "\n" if is_framed else ""
    is_plain = text.replace("\t", "").replace("\n", "").isprintable() and (is_framed or text[-1] not in "\\\"'")
    if is_plain and not any(start in f"\n{text}" for start in RESERVED):
        for quotes in ('"""', "'''"):
            if quotes not in text:  # none can start at the end of the string, because of the frame
                return f"r{quotes}{frame}{text}{frame}{quotes}"
    return literal(f"{frame}{text}{frame}" if text.startswith("\n") else text, indent)


def broken(opening: str, items: list[str], closing: str, indent: int) -> str:
    """Return items with a line for each."""
    inner = " " * (indent + 4)
    return opening + "\n" + "".join(f"{inner}{item},\n" for item in items) + " " * indent + closing


def _text(text: str, indent: int) -> str:
    lines = text.split("\n")
    inner = " " * (indent + 4)
    parts = [_quoted(line + "\n") for line in lines[:-1]] + ([_quoted(lines[-1])] if lines[-1] else [])
    return "(\n" + "".join(f"{inner}{part}\n" for part in parts) + " " * indent + ")"


def _quoted(text: str) -> str:
    """Return `repr`, with double quotes if they need no escape."""
    if '"' in text:
        return repr(text)
    if "\\" not in text and text.isprintable():  # true for almost all strings
        return f'"{text}"'
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" else shown
