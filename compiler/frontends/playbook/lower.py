"""Lower the syntax tree of a playbook to a control-flow graph (docs/formats/playbook.md)."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.naming import safe_name, stem
from compiler.frontends.playbook import syntax
from compiler.frontends.playbook.calls import (
    COMPLETE,
    LAST_OUTPUT,
    STOP,
    Scene,
    entry_of,
    nodes_of,
)
from compiler.frontends.playbook.context import Contexts, Link
from compiler.frontends.playbook.nodes import Arranged, StepNode, arrange, every_node
from compiler.frontends.playbook.placeholders import names_of
from compiler.frontends.playbook.syntax import Branch as Marker
from compiler.frontends.playbook.syntax import Playbook
from compiler.ir.edges import Clear, Edge, Keep, Origin, SlotTest, Written
from compiler.ir.program import Artifact, Context, Group, Input, Jump, Node, Program, Slot, SourceFile, texts_of
from compiler.ir.tasks import Branch, End
from compiler.ir.texts import Text, text
from compiler.ir.wellformed import input_problems
from compiler.source import Source


class Lowered(Struct, frozen=True):
    """A program with the places of its branch markers."""

    program: Program
    written: tuple[Origin, ...]


def lower(source: Source, playbook: Playbook, files: Mapping[str, Source], secrets: tuple[str, ...] = ()) -> Lowered:
    """Return the program of a playbook without errors; `files` are its prompt files by path as written."""
    steps = arrange(playbook, {path: file.text.strip() for path, file in files.items()})
    refs = every_node(steps)
    scene = Scene(source.name, names_of(playbook))
    contexts = Contexts(scene.text(playbook.system))
    inputs = tuple(map(_input, playbook.inputs))
    nodes = [*_nodes(steps, contexts, scene), *_ends(scene, playbook)]
    reached = {edge.target for node in nodes for edge in node.edges} | {_start(steps[0])}
    nodes = [node for node in nodes if node.id != STOP or node.id in reached]
    named = [ref.output.name for ref in refs if ref.output]
    artifact = Artifact(LAST_OUTPUT, scene.text(playbook.artifact.type)) if playbook.artifact else None
    slots = tuple(
        dict.fromkeys((*(item.name for item in inputs), *named, *_read(nodes, contexts.made), *_read_by(artifact)))
    )
    name = safe_name(stem(source.name, ".md", ".playbook"), "playbook")
    others = sorted({file.name: file for file in files.values()}.items())
    kept = frozenset(slots)
    program = Program(
        name=name,
        title=playbook.title,
        sources=tuple(SourceFile(item.name, item.sha256) for item in (source, *(file for _, file in others))),
        entry=_start(steps[0]),
        nodes=tuple(_trimmed(node, kept) for node in nodes),
        groups=tuple(_groups(steps, scene)),
        slots=tuple(map(Slot, slots)),
        jumps=tuple(Jump(ref.id, entry_of(ref)) for ref in refs if ref.has_output and entry_of(ref) != ref.id),
        inputs=inputs,
        artifact=artifact,
        contexts=tuple(contexts.made),
        secrets=secrets,
        kind="playbook",
    )
    markers = (arm.syntax for step in steps for arm in step.arms)
    spans = [(branch.condition or branch).span for branch in markers]
    return Lowered(program, tuple(map(scene.at, spans)))


# --- Nodes -----------------------------------------------------------------------------------------------------------


def _nodes(steps: Sequence[Arranged], contexts: Contexts, scene: Scene) -> Iterator[Node]:
    """Yield the nodes of all steps; each step leads to the next one, and the last step to the end."""
    followers = (*map(_start, steps[1:]), COMPLETE)
    known: Link | None = None
    for step, after in zip(steps, followers, strict=True):
        yield from _calls(step.node, known, step.route if step.arms else after, contexts, scene)
        known = contexts.after(known, step.node)
        if step.arms:
            yield route(step, after, scene)
            known = yield from _branches(step, known, after, contexts, scene)


def _branches(
    step: Arranged, known: Link | None, after: str, contexts: Contexts, scene: Scene
) -> Generator[Node, None, Link | None]:
    """Yield the nodes of a step's branches, and return the outputs known after them.

    Branches don't know each other's outputs.
    """
    if any(node.calls_agent for arm in step.arms for node in arm.nodes):
        contexts.name(known)
    found = known
    for arm in step.arms:
        inside = known
        for node, follower in zip(arm.nodes, (*map(entry_of, arm.nodes[1:]), after), strict=True):
            yield from _calls(node, inside, follower, contexts, scene)
            inside = contexts.after(inside, node)
    for node in (node for arm in step.arms for node in arm.nodes):
        found = contexts.after(found, node)
    return found


def _calls(node: StepNode, known: Link | None, after: str, contexts: Contexts, scene: Scene) -> Iterator[Node]:
    return nodes_of(node, contexts.name(known) if node.calls_agent else "", after, scene)


def _start(step: Arranged) -> str:
    return entry_of(step.node) if step.node.has_output or not step.arms else step.route


def _ends(scene: Scene, playbook: Playbook) -> Iterator[Node]:
    last = scene.at(playbook.steps[-1].span)
    results: tuple[tuple[str, Literal["complete", "stop"]], ...] = ((COMPLETE, "complete"), (STOP, "stop"))
    for name, result in results:
        yield Node(name, Text(), last, End(result), ())


def _groups(steps: Iterable[Arranged], scene: Scene) -> Iterator[Group]:
    for step in steps:
        if step.arms:
            node = step.node
            yield Group(node.id, text(node.title), Text(), "step", "", scene.at(node.step.span))


# --- Registers -------------------------------------------------------------------------------------------------------


def _input(declared: syntax.Input) -> Input:
    """Return an input (P8); if the default doesn't fit the type, the type becomes `text`."""
    options = tuple(dict.fromkeys(filter(None, declared.options))) if declared.type == "enum" else ()
    kind = ("choice" if options else "string") if declared.type == "enum" else declared.type
    is_required = declared.default is None
    found = Input(declared.name, kind, declared.description, declared.default, options, required=is_required)
    return replace(found, type="text", options=()) if any(input_problems(found)) else found


def _read(nodes: Iterable[Node], contexts: Iterable[Context]) -> Iterator[str]:
    """Yield the slots that text and conditions read."""
    for context in contexts:
        yield from (item.register for item in context.text.references)
    for node in nodes:
        yield from (item.register for written in texts_of(node) for item in written.references)
        yield from (test.slot for edge in node.edges for test in edge.guard if isinstance(test, SlotTest))


def _read_by(artifact: Artifact | None) -> Iterator[str]:
    """Yield the slots that the artifact reads."""
    if artifact is not None:
        yield artifact.slot
        yield from (item.register for item in artifact.type.references)


def _trimmed(node: Node, slots: frozenset[str]) -> Node:
    """Return the node without effects on slots that nothing reads."""

    def trimmed(edge: Edge) -> Edge:
        effects = (item for item in edge.effects if not isinstance(item, Keep | Clear) or item.slot in slots)
        return replace(edge, effects=tuple(effects))

    return replace(node, edges=tuple(map(trimmed, node.edges)))


def route(step: Arranged, after: str, scene: Scene) -> Node:
    """Return the node that chooses a step's branch; if no condition holds, the run continues after the step."""
    edges = tuple(_edges(step, after, scene))
    title = text(step.node.title)
    return Node(step.route, title, scene.at(step.node.step.span), Branch(), edges, step.node.group)


def _edges(step: Arranged, after: str, scene: Scene) -> Iterator[Edge]:
    for place, arm in enumerate(step.arms):
        condition = arm.syntax.condition
        target = entry_of(arm.nodes[0]) if arm.nodes else after
        span = condition.span if condition else arm.syntax.span
        written = (Written(marker(place, arm.syntax)),)
        tests = (SlotTest(condition.variable, condition.operator, condition.value),) if condition else ()
        yield Edge(tests, (), target, written, (scene.at(span),))
    if all(arm.syntax.condition for arm in step.arms):
        yield Edge((), (), after)


def marker(place: int, branch: Marker) -> str:
    """Return a branch's marker as written, without its fence."""
    condition = branch.condition
    if condition is None:
        return "else"
    return f'{"elif" if place else "if"} {condition.variable} {condition.operator} "{condition.value}"'
