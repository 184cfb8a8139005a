"""What is another in a unit or a group that two versions of a program have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from compiler.ir.program import Group, Node


@dataclass(frozen=True, slots=True)
class Change:
    """A node or group that is in both versions, and what of it is another (`title`, `command`, `prompt` …)."""

    old: Node | Group
    new: Node | Group
    parts: tuple[str, ...]


def node_parts(old: Node, new: Node) -> Iterator[str]:
    """The names of what is another in a node."""
    if old.title != new.title:
        yield "title"
    if type(old.task) is not type(new.task):
        yield "kind"
        return
    for item in fields(old.task):
        if getattr(old.task, item.name) != getattr(new.task, item.name):
            yield item.name
    if old.settings != new.settings:
        yield "settings"
    if old.constants != new.constants:
        yield "environment"


def group_parts(old: Group, new: Group) -> Iterator[str]:
    """The names of what is another in a group."""
    if _title(old) != _title(new):
        yield "title"
    if old.prompt != new.prompt:
        yield "prompt" if new.kind == "step" else "description"


def told(group: Group) -> object:
    """What a group says, by which two of them can be compared."""
    return _title(group), group.prompt


def _title(group: Group) -> str:
    """The title of a group; a runbook that has none is called by its path, which is no change of its own."""
    return "" if group.kind == "runbook" and group.id.endswith(f"/{group.title}") else str(group.title)
