"""The difference between two documents, for people and for tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from itertools import islice
from typing import Any

from backends.picture.arrows import Arrow
from backends.picture.difference import Difference, Redirection
from compiler.analyses.changes import Change, spelled
from compiler.ir.program import Group, Node, Program
from compiler.ir.tasks import End
from rdc.reporting.cells import visible

_TEXTS = ("command", "prompt", "block", "description", "arguments", "reason")


class Version:
    """A version of a document: its path, its program, and its nodes."""

    def __init__(self, path: str, program: Program) -> None:
        self.path = path
        self.program = spelled(program)
        self.nodes = self.program.index()

    def called(self, name: str) -> str:
        """Return the name of a node for people."""
        node = self.nodes[name]
        return _end(node.task) if isinstance(node.task, End) else _described(node)

    def place(self, name: str) -> dict[str, str]:
        """Return a node for tools."""
        return {"target": name, "called": self.called(name)}

    def says(self, arrow: Arrow | None) -> str:
        """Return a transition in words."""
        if arrow is None:
            return "nothing"
        said = " ".join(arrow.lines)
        return f"{said}: {self.called(arrow.target)}" if said else self.called(arrow.target)


def as_text(found: Difference, old: Version, new: Version) -> str:
    """Return the changes, one on each line, in document order."""
    if not found:
        return visible(f"{old.path} and {new.path} have the same flow")
    lines = [f"--- {old.path}", f"+++ {new.path}"]
    lines += [f"- {line}" for line in found.notes[0]] + [f"+ {line}" for line in found.notes[1]]
    lines += [f"+ {_described(node)}" for node in found.added]
    lines += [f"- {_described(node)}" for node in found.removed]
    for change in found.changed:
        lines += [f"~ {_described(change.new)}: {', '.join(change.parts)}", *_texts(change)]
    if found.start:
        lines.append(f"> the start: {old.called(found.start[0])} -> {new.called(found.start[1])}")
    lines += [
        f"> {_described(move.node)}: {old.says(move.before)} -> {new.says(move.after)}" for move in found.redirected
    ]
    if found.renumbered:
        lines.append("= " + ", ".join(f"{pair.old.id} is now {pair.new.id}" for pair in found.renumbered))
    lines += [f"! now reached: {_end(end)}" for end in found.opened]
    lines += [f"! no longer reached: {_end(end)}" for end in found.closed]
    return "\n".join(map(visible, lines))


def as_json(found: Difference, old: Version, new: Version, origin: str) -> str:
    """Return the changes as JSON. `origin` describes the comparison."""
    values = {
        "generated": origin,
        "version": 1,
        "old": {"path": old.path, "sha256": old.program.sources[0].sha256},
        "new": {"path": new.path, "sha256": new.program.sources[0].sha256},
        "added": [_named(node) for node in found.added],
        "removed": [_named(node) for node in found.removed],
        "changed": [_named(pair.new) | {"was": pair.old.id, "parts": list(pair.parts)} for pair in found.changed],
        "renumbered": [{"old": pair.old.id, "new": pair.new.id} for pair in found.renumbered],
        "notes": {"before": list(found.notes[0]), "after": list(found.notes[1])},
        "start": found.start and {"before": old.place(found.start[0]), "after": new.place(found.start[1])},
        "redirected": [_moved(move, old, new) for move in found.redirected],
        "ends": {"opened": _ends(found.opened), "closed": _ends(found.closed)},
    }
    return json.dumps(values, indent=2, ensure_ascii=False)


def _described(node: Node | Group) -> str:
    return " ".join(f"{node.id} {node.title}".split())


def _end(end: End) -> str:
    message = " ".join(str(end.message).split())
    return f'{end.result.upper()} "{message}"' if message else end.result.upper()


def _texts(change: Change) -> Iterator[str]:
    """Yield the changed lines of a string."""
    for part in change.parts:
        if part in _TEXTS:
            before, after = (_text(item, part) for item in (change.old, change.new))
            compared = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
            changed = islice(compared, 2, None)  # the first two lines name files
            yield from (f"    {line}" for line in changed if not line.startswith("@@"))


def _text(item: Node | Group, part: str) -> str:
    return str((item.prompt if isinstance(item, Group) else getattr(item.task, part)) or "")


def _named(node: Node | Group) -> dict[str, Any]:
    return {"id": node.id, "title": str(node.title), "line": node.origin.span.line}


def _moved(move: Redirection, old: Version, new: Version) -> dict[str, Any]:
    return {
        "id": move.node.id,
        "before": _arrow(move.before, old),
        "after": _arrow(move.after, new),
    }


def _arrow(arrow: Arrow | None, version: Version) -> dict[str, str] | None:
    if arrow is None:
        return None
    return {"says": " ".join(arrow.lines), **version.place(arrow.target)}


def _ends(found: Iterable[End]) -> list[dict[str, str]]:
    return [{"result": end.result, "message": str(end.message)} for end in found]
