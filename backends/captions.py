"""What a picture says of a unit: short names, and captions in lines of a bearable length."""

from __future__ import annotations

from textwrap import wrap
from typing import assert_never

from backends.conditions import past_of_marks, retry_limit
from compiler.ir.program import Group, Node, Program
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Task, Tool

WIDTH = 24
"""In characters: what a box shows side by side."""

LINES = 5
"""What a caption may have; the rest becomes `…`."""

LONGEST_TITLE = 60
"""In characters: a frame has its title on one line."""

Lines = tuple[str, ...]


class Names:
    """Short names: within the frame of a nested runbook its path need not be repeated."""

    def __init__(self, program: Program) -> None:
        self._groups = {group.id: group for group in program.groups}

    def short(self, name: str, group: str) -> str:
        """The name of a node, a group or a counter as it is shown in a group."""
        while group and self._groups[group].kind != "runbook":
            group = self._groups[group].parent
        return name.removeprefix(f"{group}/")

    def frame(self, group: Group) -> str:
        """The title of a group's frame, on one line."""
        name = self.short(group.id, group.parent) if group.kind == "step" else group.id.removeprefix(f"{group.parent}/")
        if group.kind == "runbook":
            return one_line(name if str(group.title) in ("", name) else f"{group.title} ({name})")
        return one_line(f"{name} {group.title}")


def caption(node: Node, names: Names) -> Lines:
    """What stands in a node's box."""
    name = names.short(node.id, node.group)
    match node.task:
        case End(result, message):
            return (result.upper(), *wrapped(str(message)))
        case Branch():
            return wrapped(_question(node, names))
        case Ask(prompt=prompt) if not node.title:
            return wrapped(name) + wrapped(str(prompt).split("\n\n", 1)[0])
        case Shell() | Ask() | Agent() | Tool() | Parallel() | Gate():
            return wrapped(f"{name} {node.title}") + wrapped(_who(node.task))
        case _:
            assert_never(node.task)


def _question(node: Node, names: Names) -> str:
    """What a branch asks. One that decides a step is drawn within the step's frame, which has its title."""
    step = names.short(node.group or node.id, node.group)
    past = {word for edge in node.edges for word in past_of_marks(edge)}
    if past:
        return f"{step}: any {past.pop()}?"
    if any(retry_limit(edge) for edge in node.edges):
        return f"{step}: again?"
    return f"{names.short(node.id, node.group)} {node.title}"


def _who(task: Task) -> str:
    """Who does a task, where that is neither a shell nor the person who answers."""
    match task:
        case Agent(agent):
            return f"agent {agent}"
        case Parallel(entries, check):
            return f"{check} of {', '.join(entry.agent for entry in entries)}"
        case Tool(connection, tool):
            return f"tool {connection}.{tool}"
        case Gate(gate):
            return f"gate {gate}"
        case Shell() | Ask() | Branch() | End():
            return ""
        case _:
            assert_never(task)


def wrapped(text: str) -> Lines:
    """A text in lines, without what does not print; a long one is cut."""
    return tuple(wrap(_printable(text), WIDTH, max_lines=LINES, placeholder="…"))


def one_line(text: str) -> str:
    """A text on one line, without what does not print; a long one is cut."""
    shown = _printable(text)
    return shown if len(shown) <= LONGEST_TITLE else shown[: LONGEST_TITLE - 1].rstrip() + "…"


def _printable(text: str) -> str:
    longest = WIDTH * LINES * 2  # more is never shown, and a title may have the size of its document
    return " ".join("".join(c if c.isprintable() else " " for c in text[:longest]).split())
