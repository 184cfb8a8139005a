"""Comments above the targets of a Makefile that calls the program, for reviewers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import assert_never

from backends.make.identifiers import comment, visible
from backends.specification import Specification, Step, shown
from compiler.ir.edges import words_of
from compiler.ir.program import Node
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool, Verdict
from compiler.times import spoken
from runtime_shim.targets.naming import split_name

WIDTH = 118
"""Width of wrapped comments, and of the line with the title."""

_YES_NO = {Verdict.PASS.value: "yes", Verdict.FAIL.value: "no"}


def of_node(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield a node's comments: title and place, its whole task, and its transitions."""
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
    """Yield the comments of a specification's step: its gates, and its stages."""
    at = step.group.origin
    about_it = f": {found}" if (found := shown(step.group.prompt)) else ""
    yield f"# {comment(visible(f'{step.title} ({at.path}:{at.span.line}){about_it}'))}"
    for node in step.gates:
        if isinstance(node.task, Gate):
            yield f"#   {comment(visible(f'gate {node.id}: {shown(node.task.reason)}').rstrip(': '))}"
    yield from (f"# {comment(line)}" for line in wrap(visible("; ".join(contract.told(step))), WIDTH))
    if any(task.stage == "execute" for task in step.tasks) and (command := contract.config.get("executor", "")):
        yield "#   executor:"
        yield from (comment(f"#   {line}") for line in _indented(command))


def _does(node: Node) -> Iterator[str]:
    """Yield what a node runs, asks or sends."""
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
            yield "in parallel:"
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
    words = f", with the keywords {', '.join(map(visible, agent.reading.keywords))}" if agent.reading.keywords else ""
    yield f"agent {visible(agent.agent)}".rstrip() + f"{words}:"
    yield from _indented(shown(agent.prompt))


def _settings(node: Node) -> Iterator[str]:
    """Yield the limits and constants of a node."""
    settings = node.settings
    if settings.timeout is not None:
        yield f"timeout: {spoken(settings.timeout)}"
    if settings.delay:
        longer = f", multiplied by {settings.backoff} each time" if settings.backoff > 1 else ""
        yield f"retry after {spoken(settings.delay)}{longer}"
    for constant in node.constants:
        yield visible(f"{constant.name}={constant.value}")


def _transitions(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield the transition for each outcome, in the document's words if it has any."""
    is_yes_no = isinstance(node.task, Ask) and node.task.question == "yes_no"
    for edge in node.edges:
        words = "/".join(_YES_NO.get(word, word) if is_yes_no else word for word in words_of([edge]))
        if isinstance(node.task, Branch | End):
            words = edge.label or "then"
        label = "" if isinstance(node.task, Branch | End) else edge.label
        yield visible(f"{words or 'otherwise'}: {_way(label, nodes[edge.target])}")


def _way(label: str, target: Node) -> str:
    """Return a transition's destination: its label, and an end's message."""
    task = target.task
    if not isinstance(task, End):
        return label or f"go {target.id}"
    result, message = task.result.upper(), shown(task.message)
    said = result if label.upper() == result else f"{label} {result}".strip()
    return f'{said} "{message}"' if message else said


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a string without invisible characters."""
    for line in text.strip("\n").split("\n") if text.strip() else ():
        yield "".join(character if character.isprintable() else " " for character in line.expandtabs(4))


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in _lines(text))
