"""Lowering: the tree of a playbook becomes a control-flow graph (docs/formats/playbook.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from compiler.frontends.naming import safe_name, stem
from compiler.frontends.playbook import syntax
from compiler.frontends.playbook.branches import route
from compiler.frontends.playbook.calls import (
    COMPLETE,
    LAST_OUTPUT,
    STOP,
    Scene,
    entry_of,
    nodes_of,
)
from compiler.frontends.playbook.placeholders import names_of
from compiler.frontends.playbook.syntax import Playbook
from compiler.frontends.playbook.units import Arranged, Unit, arrange, every_unit
from compiler.ir.edges import Clear, Edge, Keep, Origin, SlotTest
from compiler.ir.program import Artifact, Group, Input, Jump, Node, Program, Slot, SourceFile, texts_of
from compiler.ir.tasks import End
from compiler.ir.texts import Text, text
from compiler.ir.wellformed import input_problems
from compiler.source import Source


class Lowered(NamedTuple):
    """A program, and the place of every branch marker that an author wrote in it."""

    program: Program
    written: tuple[Origin, ...]


def lower(source: Source, playbook: Playbook, files: Mapping[str, Source], secrets: tuple[str, ...] = ()) -> Lowered:
    """The program of a playbook without errors; `files` are what its prompts refer to, by the path as written."""
    steps = arrange(playbook, {path: file.text.strip() for path, file in files.items()})
    units = every_unit(steps)
    scene = Scene(source.name, playbook.system, names_of(playbook))
    inputs = tuple(map(_input, playbook.inputs))
    nodes = [*_nodes(steps, units, scene), *_ends(scene, playbook)]
    reached = {edge.target for node in nodes for edge in node.edges} | {_start(steps[0])}
    nodes = [node for node in nodes if node.id != STOP or node.id in reached]
    named = [unit.output.name for unit in units if unit.output]
    artifact = Artifact(LAST_OUTPUT, scene.text(playbook.artifact.type)) if playbook.artifact else None
    slots = tuple(dict.fromkeys((*(item.name for item in inputs), *named, *_read(nodes), *_read_by(artifact))))
    name = safe_name(stem(source.name, ".md", ".playbook"), "playbook")
    others = sorted({file.name: file for file in files.values()}.items())
    program = Program(
        name=name,
        title=playbook.title,
        sources=tuple(SourceFile(item.name, item.sha256) for item in (source, *(file for _, file in others))),
        entry=_start(steps[0]),
        nodes=tuple(_trimmed(node, slots) for node in nodes),
        groups=tuple(_groups(steps, scene)),
        slots=tuple(map(Slot, slots)),
        jumps=tuple(Jump(unit.id, entry_of(unit)) for unit in units if unit.has_output and entry_of(unit) != unit.id),
        inputs=inputs,
        artifact=artifact,
        secrets=secrets,
        kind="playbook",
    )
    markers = (arm.syntax for step in steps for arm in step.arms)
    spans = [(branch.condition or branch).span for branch in markers]
    return Lowered(program, tuple(map(scene.at, spans)))


# --- Nodes -----------------------------------------------------------------------------------------------------------


def _nodes(steps: Sequence[Arranged], units: Sequence[Unit], scene: Scene) -> Iterator[Node]:
    """The nodes of all steps in document order; each step leads to the next one, the last one to the end."""
    followers = (*map(_start, steps[1:]), COMPLETE)
    places = {unit.id: place for place, unit in enumerate(units)}

    def calls(unit: Unit, after: str) -> Iterator[Node]:
        return nodes_of(unit, units[: places[unit.id]], after, scene)

    for step, after in zip(steps, followers, strict=True):
        yield from calls(step.unit, step.route if step.arms else after)
        if step.arms:
            yield route(step, after, scene)
        for arm in step.arms:
            for unit, follower in zip(arm.units, (*map(entry_of, arm.units[1:]), after), strict=True):
                yield from calls(unit, follower)


def _start(step: Arranged) -> str:
    return entry_of(step.unit) if step.unit.has_output or not step.arms else step.route


def _ends(scene: Scene, playbook: Playbook) -> Iterator[Node]:
    last = scene.at(playbook.steps[-1].span)
    results: tuple[tuple[str, Literal["complete", "stop"]], ...] = ((COMPLETE, "complete"), (STOP, "stop"))
    for name, result in results:
        yield Node(name, Text(), last, End(result), ())


def _groups(steps: Iterable[Arranged], scene: Scene) -> Iterator[Group]:
    for step in steps:
        if step.arms:
            unit = step.unit
            yield Group(unit.id, text(unit.title), Text(), "step", "", scene.at(unit.step.span))


# --- Registers -------------------------------------------------------------------------------------------------------


def _input(declared: syntax.Input) -> Input:
    """An input (P8). A default that does not fit its type is what an author wants, so the type is given up."""
    options = tuple(dict.fromkeys(filter(None, declared.options))) if declared.type == "enum" else ()
    kind = ("choice" if options else "string") if declared.type == "enum" else declared.type
    is_required = declared.default is None
    found = Input(declared.name, kind, declared.description, declared.default, options, required=is_required)
    return replace(found, type="text", options=()) if any(input_problems(found)) else found


def _read(nodes: Iterable[Node]) -> Iterator[str]:
    """The slots that texts and conditions read."""
    for node in nodes:
        yield from (item.register for written in texts_of(node) for item in written.references)
        yield from (test.slot for edge in node.edges for test in edge.guard if isinstance(test, SlotTest))


def _read_by(artifact: Artifact | None) -> Iterator[str]:
    """The slots that the file is made of which a run leaves."""
    if artifact is not None:
        yield artifact.slot
        yield from (item.register for item in artifact.type.references)


def _trimmed(node: Node, slots: Collection[str]) -> Node:
    """A node that keeps nothing in slots that nobody reads."""

    def trimmed(edge: Edge) -> Edge:
        kept = (item for item in edge.effects if not isinstance(item, Keep | Clear) or item.slot in slots)
        return replace(edge, effects=tuple(kept))

    return replace(node, edges=tuple(map(trimmed, node.edges)))
