"""The difference between two documents, for people and for tools."""

import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from backends.picture.arrows import Arrow
from backends.picture.captions import MOST_INPUTS
from backends.picture.model import picture
from backends.picture.naming import one_line
from backends.picture.sheet import Sheet
from compiler.ir.graph import loop_regions, to_graph
from compiler.ir.program import Group, Node, Program, SourceFile
from compiler.ir.tasks import End
from compiler.ir.texts import Text
from compiler.project.options import TargetOptions
from rdc.diff.difference import difference
from rdc.diff.overlay import LEGEND, overlay
from rdc.diff.steps import Change, spelled
from rdc.terminal.cells import visible

_UNSHOWN = ("title", "kind")
"""Parts whose old text is not shown: the title is beside the change, and a kind is all of a step."""


class Version:
    """A version of a document: its path, its program, its nodes, and its settings by name.

    `tables` are the options of targets, those of the project included.
    """

    def __init__(self, path: str, program: Program, tables: Mapping[str, TargetOptions] | None = None) -> None:
        self.path = path
        self.program = spelled(program)
        self.nodes = self.program.index()
        self.settings = dict(_settings(program, tables or {}))

    def loops(self) -> list[frozenset[str]]:
        """Return the ids of the nodes in each loop. A step that repeats itself is in its transitions."""
        return [region for region in loop_regions(to_graph(self.program)) if len(region) > 1]

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
        return f"{arrow.says}: {self.called(arrow.target)}" if arrow.says else self.called(arrow.target)


class Setting(Struct, frozen=True):
    """A setting of the document, of a target or of a specification that changed; None if a version lacks it."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        before, after = ("unset" if value is None else value for value in (self.before, self.after))
        return f"{self.name}: {before} -> {after}"


def _settings(program: Program, tables: Mapping[str, TargetOptions]) -> Iterator[tuple[str, str]]:
    """Yield the settings that pictures omit: options of targets, patterns and later inputs, and a contract."""
    for target, table in tables.items():
        yield from _leaves(table.values, f"{target} ", "")
    for place, given in enumerate(program.inputs):
        hidden = asdict(given) if place >= MOST_INPUTS else {"pattern": given.pattern}
        if known := {name: value for name, value in hidden.items() if value}:
            yield from _leaves(known, f"input {given.name} ", "")
    if program.stepspec is not None:
        yield from _leaves(json.loads(program.stepspec.config), "config ", "")
        for step in program.stepspec.steps:
            yield from _leaves(json.loads(str(step.spec)), f"step {step.id} ", "")


def _leaves(value: object, head: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a value with their dotted paths. A list of plain values is one part."""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        value = dict(enumerate(value, 1))
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _leaves(item, head, f"{path}.{name}" if path else str(name))
        return
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    yield head + path, shown or '""'


def _described(node: Node | Group) -> str:
    return " ".join(f"{node.id} {node.title}".split())


def _end(end: End) -> str:
    message = " ".join(str(end.message).split())
    return f'{end.result.upper()} "{message}"' if message else end.result.upper()


def _texts(change: Change) -> Iterator[str]:
    for part in change.parts:
        if part not in _UNSHOWN:
            before, after = (_written(_part(item, part)).splitlines() for item in (change.old, change.new))
            changed = islice(unified_diff(before, after, lineterm="", n=1), 2, None)  # the first two lines name files
            yield from (f"    {line}" for line in changed if not line.startswith("@@"))


def _part(item: Node | Group, part: str) -> object:
    if isinstance(item, Group):
        return item.prompt
    if part == "environment":
        return {constant.name: constant.value for constant in item.constants}
    return item.settings if part == "settings" else getattr(item.task, part, "")


def _written(value: object) -> str:
    """Return a part of a node as text, with a line for each item or field."""
    match value:
        case Struct() if not isinstance(value, Text):
            return _written({name: inner for name, inner in asdict(value).items() if name != "kind"})
        case dict():
            return "\n".join(f"{name}: {_written(item)}" for name, item in value.items())
        case tuple():
            return "\n".join(map(_written, value))
        case None:
            return ""
        case _:
            return str(value)


def _named(node: Node | Group) -> dict[str, Any]:
    return {"id": node.id, "title": str(node.title), "line": node.origin.span.line}


def _arrow(arrow: Arrow | None, version: Version) -> dict[str, str] | None:
    if arrow is None:
        return None
    return {"says": arrow.says, **version.place(arrow.target)}


def _ends(found: Iterable[End]) -> list[dict[str, str]]:
    return [{"result": end.result, "message": str(end.message)} for end in found]


class Comparison:
    """Two versions, and the changes from the old one to the new one."""

    def __init__(self, old: Version, new: Version, *, folds: bool = False) -> None:
        self.old, self.new = old, new
        self._pictures = picture(old.program, folds=folds), picture(new.program, folds=folds)
        self.found = difference(*self._pictures)
        names = dict.fromkeys([*new.settings, *old.settings])
        pairs = (Setting(name, old.settings.get(name), new.settings.get(name)) for name in names)
        self.settings = tuple(pair for pair in pairs if pair.before != pair.after)

    def __bool__(self) -> bool:
        """Return whether the flow or a setting changed."""
        return bool(self.found or self.settings)

    def sheet(self) -> Sheet:
        """Return the picture of both versions."""
        drawn = overlay(*self._pictures, self.found)
        settings = [one_line(str(setting)) for setting in self.settings]
        legend = LEGEND if self.found else "the flow is the same" if settings else "nothing changed"
        notes = (f"{one_line(self.old.path)} → {one_line(self.new.path)}", legend, *settings)
        new = self.new.program
        sources = tuple(SourceFile(one.path, one.program.sources[0].sha256) for one in (self.old, self.new))
        return Sheet(drawn, new.title or new.name, new.sources[0].path, sources, notes)

    def text(self) -> str:
        """Return the changes for people, one on each line, in document order."""
        found, old, new = self.found, self.old, self.new
        if not self:
            return visible(f"{old.path} and {new.path} have the same flow")
        lines = [f"--- {old.path}", f"+++ {new.path}"]
        lines += [f"- {line}" for line in found.notes[0]] + [f"+ {line}" for line in found.notes[1]]
        lines += [f"* {setting}" for setting in self.settings]
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
        lines += [
            f"! new loop: {', '.join(_described(new.nodes[name]) for name in region)}" for region in self._new_loops()
        ]
        lines += [f"! now reached: {_end(end)}" for end in found.opened]
        lines += [f"! no longer reached: {_end(end)}" for end in found.closed]
        return "\n".join(map(visible, lines))

    def json(self) -> str:
        """Return the changes for tools."""
        found, old, new = self.found, self.old, self.new
        values = {
            "generated": self._origin(),
            "version": 1,
            "old": {"path": old.path, "sha256": old.program.sources[0].sha256},
            "new": {"path": new.path, "sha256": new.program.sources[0].sha256},
            "added": [_named(node) for node in found.added],
            "removed": [_named(node) for node in found.removed],
            "changed": [_named(pair.new) | {"was": pair.old.id, "parts": list(pair.parts)} for pair in found.changed],
            "renumbered": [{"old": pair.old.id, "new": pair.new.id} for pair in found.renumbered],
            "notes": {"before": list(found.notes[0]), "after": list(found.notes[1])},
            "settings": [asdict(setting) for setting in self.settings],
            "loops": self._new_loops(),
            "start": found.start and {"before": old.place(found.start[0]), "after": new.place(found.start[1])},
            "redirected": [
                {"id": move.node.id, "before": _arrow(move.before, old), "after": _arrow(move.after, new)}
                for move in found.redirected
            ],
            "ends": {"opened": _ends(found.opened), "closed": _ends(found.closed)},
        }
        return json.dumps(values, indent=2, ensure_ascii=False)

    def file(self) -> str:
        """Return the text, below a line with its origin."""
        return f"# {self._origin()}\n{self.text()}"

    def _origin(self) -> str:
        return " ".join(self.sheet().head())

    def _new_loops(self) -> list[list[str]]:
        known = {self.found.matched.get(name) for region in self.old.loops() for name in region}
        fresh = [region for region in self.new.loops() if not region & known]
        return [[node.id for node in self.new.program.nodes if node.id in region] for region in fresh]
