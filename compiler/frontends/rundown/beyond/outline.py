"""The steps of a program before lowering, to check step settings against (E3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct, field

from compiler.frontends.rundown.beyond.declarations import EVERY, StepSettings
from compiler.frontends.rundown.beyond.settings import full_id
from compiler.frontends.rundown.beyond.visible import visible
from compiler.frontends.rundown.link import Document, Linked
from compiler.frontends.rundown.lower import LARGEST_PROGRAM
from compiler.frontends.rundown.names import Frame, StepRef, step_ref
from compiler.frontends.rundown.syntax import UNKNOWN, all_steps


class Leaf(Struct, frozen=True):
    """A leaf step and its group; `seen` are the inputs and outputs that its command can read."""

    id: str
    group: str
    is_command: bool
    has_retry: bool
    seen: Collection[str]


class Outline(Struct, frozen=True):
    """The steps and groups of a program with their settings; the id of the whole program is "".

    `parents` maps each group to the group around it, outer groups first. `repeated` are the groups with a RETRY, and
    `unlinked` the groups whose document is missing.
    """

    leaves: list[Leaf] = field(default_factory=list)
    parents: dict[str, str] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    said: dict[str, list[StepSettings]] = field(default_factory=dict)


def outline(main: Document, linked: Linked) -> Outline:
    """Return the program's outline; empty if no step has settings or if some steps are unknown."""
    documents = linked.documents.values()
    found = Outline()
    if linked.is_endless or not any(document.runbook.declared.steps for document in documents):
        return found
    if not all(map(_is_known, documents)):
        return found
    pending = [Frame(main, visible=visible(main.runbook.declared))]
    while pending:
        frame = pending.pop()
        _add_frame(found, frame)
        pending += [inner for ref in _refs(frame) for inner in _add_step(found, frame, ref, linked)]
        if len(found.leaves) > LARGEST_PROGRAM:
            return Outline()
    return found


def _is_known(document: Document) -> bool:
    """Return whether all steps of a document are known; an unreadable header could be any step."""
    return document.is_whole and all(step.id != UNKNOWN for step in all_steps(document.runbook))


def _refs(frame: Frame) -> Iterator[StepRef]:
    return (step_ref(step, substep) for step in frame.steps for substep in (None, *step.substeps))


def _add_frame(found: Outline, frame: Frame) -> None:
    if frame.scope:
        found.parents[frame.scope] = frame.outer_group
    for settings in frame.document.runbook.declared.steps:
        name = full_id(frame.scope, settings.step)
        found.said.setdefault("" if name == EVERY else name, []).append(settings)


def _add_step(found: Outline, frame: Frame, ref: StepRef, linked: Linked) -> Iterator[Frame]:
    """Add a step and yield the runbooks that it includes."""
    own, group = frame.id(ref), frame.id(step_ref(ref.step)) if ref.substep else frame.scope
    if ref.is_leaf:
        is_command = bool(ref.syntax.code and ref.syntax.code.interpreter)
        found.leaves.append(Leaf(own, group, is_command, ref.has_retry, frame.visible.slots))
        return
    found.parents[own] = group
    if ref.has_retry:
        found.repeated.append(own)
    if not ref.syntax.runbooks:
        return
    for name, reference in zip(frame.runbook_ids(ref), ref.syntax.runbooks, strict=False):
        document = linked.documents.get(frame.document.includes.get(reference.path, ""))
        if document is None:
            found.parents[name] = own
            found.unlinked.append(name)
            continue
        seen = visible(document.runbook.declared, frame.visible, name + "/")
        yield Frame(document, name + "/", name, outer_group=own, visible=seen)
