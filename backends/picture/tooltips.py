"""The tooltip of a box or frame: its place in the source, and its task."""

from __future__ import annotations

from backends.picture.captions import Lines
from backends.specification import shown
from compiler.ir.program import Group, Node
from compiler.ir.tasks import Task, task_texts
from compiler.ir.texts import Text

LINES = 12
"""The most lines of the task, below the place."""

WIDTH = 100
"""In characters. Longer lines are truncated."""


def tooltip(place: Node | Group, more: Lines = ()) -> Lines:
    """Return the tooltip of a node or group. `more` replaces the node's task."""
    texts = _texts(place.task) if isinstance(place, Node) else (place.prompt,)
    said = "\n".join(more or [shown(text) for text in texts if text.parts]).strip()
    origin = place.origin
    lines = [f"{origin.path}:{origin.span.line}", *(said.split("\n") if said else ())]
    if len(lines) > LINES + 1:
        lines[LINES:] = "…"
    # Most lines are short and visible. A call for each would be slow.
    return tuple([line.rstrip() if len(line) <= WIDTH and line.isprintable() else _cut(line) for line in lines])


def _texts(task: Task) -> tuple[Text, ...]:
    """Return the strings with the task itself, without explanations."""
    if task.kind == "shell":
        return (task.command,)
    return (task.prompt, task.block or Text()) if task.kind == "ask" else task_texts(task)


def _cut(line: str) -> str:
    """Return a line without invisible characters. Spaces at its start have a meaning in commands, so they stay."""
    shown = line[: WIDTH + 1]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else " " for c in shown)
    shown = shown.rstrip()
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"
