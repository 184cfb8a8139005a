"""The units of a program as its documents write them, before lowering: what settings are held against (E3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from compiler.frontends.rundown.beyond.declarations import EVERY, UnitSettings
from compiler.frontends.rundown.beyond.units import full_id
from compiler.frontends.rundown.beyond.visible import visible
from compiler.frontends.rundown.link import Document, Linked
from compiler.frontends.rundown.lower import LARGEST_PROGRAM
from compiler.frontends.rundown.names import Frame, Unit
from compiler.frontends.rundown.syntax import UNKNOWN, units


class Leaf(NamedTuple):
    """A unit without children, and the group that it stands in; `seen` are the inputs and values that it sees."""

    id: str
    group: str
    is_command: bool
    has_retry: bool
    seen: Collection[str]


@dataclass(frozen=True)
class Outline:
    """The units and groups of a program, and what is said of them; "" is the id of all of it.

    `parents` has the group around each group, the outer ones first; `repeated` are the groups with a RETRY, and
    `unlinked` those whose document is not there.
    """

    leaves: list[Leaf] = field(default_factory=list)
    parents: dict[str, str] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    said: dict[str, list[UnitSettings]] = field(default_factory=dict)


def outline(main: Document, linked: Linked) -> Outline:
    """The outline of a program; empty where no setting is said, or where not all of its units are known."""
    documents = linked.documents.values()
    found = Outline()
    if linked.is_endless or not any(document.runbook.declared.units for document in documents):
        return found
    if not all(map(_is_known, documents)):
        return found
    pending = [Frame(main, visible=visible(main.runbook.declared))]
    while pending:
        frame = pending.pop()
        _add_frame(found, frame)
        pending += [inner for unit in _units(frame) for inner in _add_unit(found, frame, unit, linked)]
        if len(found.leaves) > LARGEST_PROGRAM:
            return Outline()
    return found


def _is_known(document: Document) -> bool:
    """Whether all units are known: a header that could not be read may be that of any."""
    return document.is_whole and all(unit.id != UNKNOWN for unit in units(document.runbook))


def _units(frame: Frame) -> Iterator[Unit]:
    return (Unit(step, substep) for step in frame.steps for substep in (None, *step.substeps))


def _add_frame(found: Outline, frame: Frame) -> None:
    if frame.scope:
        found.parents[frame.scope] = frame.outer_group
    for settings in frame.document.runbook.declared.units:
        name = full_id(frame.scope, settings.unit)
        found.said.setdefault("" if name == EVERY else name, []).append(settings)


def _add_unit(found: Outline, frame: Frame, unit: Unit, linked: Linked) -> Iterator[Frame]:
    """Add a unit; gives the runbooks that it includes."""
    own, group = frame.id(unit), frame.id(Unit(unit.step)) if unit.substep else frame.scope
    if unit.is_leaf:
        is_command = bool(unit.syntax.code and unit.syntax.code.interpreter)
        found.leaves.append(Leaf(own, group, is_command, unit.has_retry, frame.visible.slots))
        return
    found.parents[own] = group
    if unit.has_retry:
        found.repeated.append(own)
    if not unit.syntax.runbooks:
        return
    for name, reference in zip(frame.runbook_ids(unit), unit.syntax.runbooks, strict=False):
        document = linked.documents.get(frame.document.includes.get(reference.path, ""))
        if document is None:
            found.parents[name] = own
            found.unlinked.append(name)
            continue
        seen = visible(document.runbook.declared, frame.visible, name + "/")
        yield Frame(document, name + "/", name, outer_group=own, visible=seen)
