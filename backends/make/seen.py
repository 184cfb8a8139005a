"""What a reviewer sees of a step in a Makefile that calls the program: comments above its target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import assert_never

from backends.make.texts import comment, visible
from backends.specification import Specification, Step, shown
from compiler.ir.edges import words_of
from compiler.ir.program import Node
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool, Verdict
from compiler.times import spoken
from runtime_shim.targets.naming import split_name

WIDTH = 118
"""Of comments that are wrapped, and of the line with the title."""

_YES_NO = {Verdict.PASS.value: "yes", Verdict.FAIL.value: "no"}


def of_node(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """The comments of a node: title and place, what it does in full, and where the run goes from there."""
    place = comment(f"{node.origin.path}:{node.origin.span.line}")
    name, called = split_name(node.id, shown(node.title))
    title = comment(visible(f"{name} {called}"))
    yield f"# {title:{max(WIDTH - len(place) - 1, 1)}} {place}"
    for line in _does(node):
        yield f"#   {line}".rstrip()
    if settings := "; ".join(_settings(node)):
        yield f"#   {settings}"
    yield from (comment(f"#   {line}") for line in dict.fromkeys(_transitions(node, nodes)))


def of_contract(contract: Specification, step: Step) -> Iterator[str]:
    """The comments of a step of a specification: what has to be approved first, and what it does stage by stage."""
    at = step.group.origin
    about_it = f": {found}" if (found := shown(step.group.prompt)) else ""
    yield f"# {comment(visible(f'{step.title} ({at.path}:{at.span.line}){about_it}'))}"
    for node in step.gates:
        if isinstance(node.task, Gate):
            yield f"#   {comment(visible(f'gate {node.id}: {shown(node.task.reason)}').rstrip(': '))}"
    yield from (f"# {comment(line)}" for line in wrap(visible("; ".join(contract.told(step))), WIDTH))


def _does(node: Node) -> Iterator[str]:
    """What a node runs, asks or sends."""
    match node.task:
        case Shell(interpreter, command, prompt):
            yield from _lines(shown(prompt))
            yield f"{interpreter}:"
            yield from _indented(shown(command))
        case Ask():
            yield from _asked(node.task)
        case Agent() as agent:
            yield from _sent(agent)
        case Parallel(entries):
            yield "at the same time:"
            for entry in entries:
                yield from _sent(entry)
        case Tool(connection, tool, arguments):
            yield f"tool {visible(connection)}/{visible(tool)}:"
            yield from _indented(shown(arguments))
        case Gate(_, reason):
            yield f"gate: {visible(shown(reason))}".rstrip(": ")
        case Branch() | End() | Stage():
            return
        case _:
            assert_never(node.task)


def _asked(task: Ask) -> Iterator[str]:
    yield f"question ({task.question.replace('_', '/')}):"
    yield from _indented(shown(task.prompt))
    if task.block is not None:
        yield from _indented(shown(task.block))
    yield from (f"  - {visible(shown(option))}" for option in task.options)


def _sent(agent: Agent) -> Iterator[str]:
    words = f", who answers {', '.join(map(visible, agent.reading.keywords))}" if agent.reading.keywords else ""
    yield f"agent {visible(agent.agent)}".rstrip() + f"{words}:"
    yield from _indented(shown(agent.prompt))


def _settings(node: Node) -> Iterator[str]:
    """The limits and constants of a node."""
    settings = node.settings
    if settings.timeout is not None:
        yield f"at most {spoken(settings.timeout)}"
    if settings.delay:
        yield f"again after {spoken(settings.delay)}{f', then {settings.backoff} times that' * (settings.backoff > 1)}"
    for constant in node.constants:
        yield visible(f"{constant.name}={constant.value}")


def _transitions(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Where the run goes after each outcome, in the words of the document if it has any."""
    is_yes_no = isinstance(node.task, Ask) and node.task.question == "yes_no"
    for edge in node.edges:
        words = "/".join(_YES_NO.get(word, word) if is_yes_no else word for word in words_of([edge]))
        if isinstance(node.task, Branch | End):
            words = edge.label or "then"
        label = "" if isinstance(node.task, Branch | End) else edge.label
        yield visible(f"{words or 'otherwise'}: {_way(label, nodes[edge.target])}")


def _way(label: str, target: Node) -> str:
    """Where a transition leads, by its label if it has one; an end with its message."""
    task = target.task
    if not isinstance(task, End):
        return label or f"go {target.id}"
    result, message = task.result.upper(), shown(task.message)
    said = label if label.upper() == result else f"{label} {result}".strip()
    return f'{said} "{message}"' if message else said


def _lines(text: str) -> Iterator[str]:
    """The lines of a text as they are, except for characters that a terminal would not show."""
    for line in text.strip("\n").split("\n") if text.strip() else ():
        yield "".join(character if character.isprintable() else " " for character in line.expandtabs(4))


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in _lines(text))
