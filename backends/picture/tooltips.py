"""What a picture says of a box or a frame where a reader points at it: the place in the source, and what is done."""

from __future__ import annotations

from backends.picture.captions import Lines
from backends.specification import shown
from compiler.ir.program import Group, Node
from compiler.ir.tasks import Task, task_texts
from compiler.ir.texts import Text

LINES = 12
WIDTH = 100
"""In characters; what is longer is cut."""


def tooltip(place: Node | Group, more: Lines = ()) -> Lines:
    """The tooltip of a node or a group; `more` stands there in place of what the node does."""
    texts = _texts(place.task) if isinstance(place, Node) else (place.prompt,)
    said = more or [shown(text) for text in texts if text.parts]
    return (_cut(f"{place.origin.path}:{place.origin.span.line}"), *_excerpt("\n".join(said)))


def _texts(task: Task) -> tuple[Text, ...]:
    """What is done, without what is only said about it."""
    if task.kind == "shell":
        return (task.command,)
    return (task.prompt, task.block or Text()) if task.kind == "ask" else task_texts(task)


def _excerpt(text: str) -> Lines:
    stripped = text.strip()
    if not stripped:
        return ()
    lines = stripped.split("\n")
    shown = [*lines[: LINES - 1], "…"] if len(lines) > LINES else lines
    return tuple([_cut(line) for line in shown])


def _cut(line: str) -> str:
    """A line without what does not print; spaces at its beginning stay, since they mean something in commands."""
    if len(line) <= WIDTH and line.isprintable():  # as most are
        return line.rstrip()
    shown = line[: WIDTH + 1]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else " " for c in shown)
    shown = shown.rstrip()
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"
