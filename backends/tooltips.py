"""What a picture says of a box or a frame where a reader points at it: the place in the source, and what is done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from backends.captions import Lines
from compiler.ir.program import Agent, Ask, Branch, End, Gate, Group, Node, Parallel, Shell, Task, Tool

LINES = 12
WIDTH = 100
"""In characters; what is longer is cut."""


def tooltip(shown: Node | Group) -> Lines:
    """The tooltip of a node or a group."""
    text = shown.prompt if isinstance(shown, Group) else "\n".join(filter(None, _texts(shown.task)))
    return (_cut(f"{shown.origin.path}:{shown.origin.span.line}"), *_excerpt(text))


def _texts(task: Task) -> Iterator[str]:
    match task:
        case Shell(command=command):
            yield command
        case Ask(prompt=prompt, block=block):
            yield from (prompt, block or "")
        case Agent(prompt=prompt):
            yield prompt
        case Parallel(entries):
            yield from (entry.prompt for entry in entries)
        case Tool(arguments=arguments):
            yield arguments
        case Gate(reason=reason):
            yield reason
        case End(message=message):
            yield message
        case Branch():
            return
        case _:
            assert_never(task)


def _excerpt(text: str) -> Lines:
    lines = text.strip().split("\n")
    shown = [*lines[: LINES - 1], "…"] if len(lines) > LINES else lines
    return tuple(_cut(line) for line in shown) if text.strip() else ()


def _cut(line: str) -> str:
    """A line without what does not print; blanks at its beginning stay, since they mean something in commands."""
    shown = "".join(c if c.isprintable() else " " for c in line[: WIDTH + 1]).rstrip()
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"
