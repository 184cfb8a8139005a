"""What a picture says of a box or a frame where a reader points at it: the place in the source, and what is done."""

from __future__ import annotations

from backends.picture.captions import Lines
from backends.specification import shown
from compiler.ir.program import Group, Node
from compiler.ir.tasks import Task, task_texts
from compiler.ir.texts import Text

LINES = 12
"""Of what is done, below the place."""

WIDTH = 100
"""In characters; what is longer is cut."""


def tooltip(place: Node | Group, more: Lines = ()) -> Lines:
    """The tooltip of a node or a group; `more` stands there instead of what the node does."""
    texts = _texts(place.task) if isinstance(place, Node) else (place.prompt,)
    said = "\n".join(more or [shown(text) for text in texts if text.parts]).strip()
    origin = place.origin
    lines = [f"{origin.path}:{origin.span.line}", *(said.split("\n") if said else ())]
    if len(lines) > LINES + 1:
        lines[LINES:] = "…"
    # Most lines are short and print: for them a call would take longer than all else.
    return tuple([line.rstrip() if len(line) <= WIDTH and line.isprintable() else _cut(line) for line in lines])


def _texts(task: Task) -> tuple[Text, ...]:
    """What is done, without what is only said about it."""
    if task.kind == "shell":
        return (task.command,)
    return (task.prompt, task.block or Text()) if task.kind == "ask" else task_texts(task)


def _cut(line: str) -> str:
    """A line without what does not print; spaces at its beginning stay, since they mean something in commands."""
    shown = line[: WIDTH + 1]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else " " for c in shown)
    shown = shown.rstrip()
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"
