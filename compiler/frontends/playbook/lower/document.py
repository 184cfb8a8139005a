"""Lower the syntax tree of a playbook to a control-flow graph (docs/formats/playbook.md)."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.common.names import safe_name, stem
from compiler.frontends.playbook import syntax
from compiler.frontends.playbook.lower.nodes import (
    Arranged,
    Contexts,
    Link,
    StepNode,
    arguments_with_references,
    arrange,
    names_of,
    own_prompt,
    prompt_slot,
    reply_slot,
    with_references,
)
from compiler.frontends.playbook.syntax import Branch as Marker
from compiler.frontends.playbook.syntax import Elicit, Playbook, PromptRef
from compiler.ir.edges import Clear, Edge, Effect, Keep, Origin, OutcomeTest, SlotTest, Written
from compiler.ir.program import Artifact, Context, Group, Input, Jump, Node, Program, Slot, SourceFile, texts_of
from compiler.ir.tasks import Agent, Ask, Branch, End, Task, Tool, Verdict
from compiler.ir.texts import Text, text
from compiler.ir.verify_tasks import input_issues
from compiler.text.source import Source, Span


class Lowered(Struct, frozen=True):
    """A program with the places of its branch markers."""

    program: Program
    written: tuple[Origin, ...]


def lower(source: Source, playbook: Playbook, files: Mapping[str, Source], secrets: tuple[str, ...] = ()) -> Lowered:
    """Return the program of a playbook without errors; `files` are its prompt files by path as written."""
    steps = arrange(playbook, {path: file.text.strip() for path, file in files.items()})
    refs = [ref for step in steps for ref in (step.node, *(node for arm in step.arms for node in arm.nodes))]
    scene = Scene(source.name, names_of(playbook))
    contexts = Contexts(scene.text(playbook.system))
    inputs = tuple(map(_input, playbook.inputs))
    nodes = list(_nodes(steps, contexts, scene))
    last = scene.at(playbook.steps[-1].span)
    nodes.append(Node(COMPLETE, Text(), last, End("complete"), ()))
    if any(edge.target == STOP for node in nodes for edge in node.edges):
        nodes.append(Node(STOP, Text(), last, End("stop"), ()))
    named = [ref.output.name for ref in refs if ref.output]
    artifact = Artifact(LAST_OUTPUT, scene.text(playbook.artifact.type)) if playbook.artifact else None
    read = [*_read(nodes, contexts.made)]
    read += (artifact.slot, *(item.register for item in artifact.type.references)) if artifact else ()
    slots = tuple(dict.fromkeys((*(item.name for item in inputs), *named, *read)))
    name = safe_name(stem(source.name, ".md", ".playbook"), "playbook")
    others = sorted({file.name: file for file in files.values()}.items())
    stored, outer = frozenset(slots), [step.node for step in steps if step.arms]
    program = Program(
        name=name,
        title=playbook.title,
        sources=tuple(SourceFile(item.name, item.sha256) for item in (source, *(file for _, file in others))),
        entry=_start(steps[0]),
        nodes=tuple(_trimmed(node, stored) for node in nodes),
        groups=tuple(Group(node.id, text(node.title), Text(), "step", "", scene.at(node.step.span)) for node in outer),
        slots=tuple(map(Slot, slots)),
        jumps=tuple(Jump(ref.id, entry_of(ref)) for ref in refs if ref.has_output and entry_of(ref) != ref.id),
        inputs=inputs,
        artifact=artifact,
        contexts=tuple(contexts.made),
        secrets=secrets,
        kind="playbook",
        description=playbook.description,
    )
    markers = (arm.syntax for step in steps for arm in step.arms)
    return Lowered(program, tuple(map(scene.at, [(branch.condition or branch).span for branch in markers])))


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


def _input(declared: syntax.Input) -> Input:
    """Return an input (P8); if the default doesn't fit the type, the type becomes `text`."""
    options = tuple(dict.fromkeys(filter(None, declared.options))) if declared.type == "enum" else ()
    kind = ("choice" if options else "string") if declared.type == "enum" else declared.type
    found = Input(declared.name, kind, declared.description, declared.default, options, required=declared.required)
    return replace(found, type="text", options=()) if any(input_issues(found)) else found


def _read(nodes: Iterable[Node], contexts: Iterable[Context]) -> Iterator[str]:
    for context in contexts:
        yield from (item.register for item in context.text.references)
    for node in nodes:
        yield from (item.register for written in texts_of(node) for item in written.references)
        yield from (test.slot for edge in node.edges for test in edge.guard if isinstance(test, SlotTest))


def _trimmed(node: Node, slots: frozenset[str]) -> Node:

    def trimmed(edge: Edge) -> Edge:
        effects = (item for item in edge.effects if not isinstance(item, Keep | Clear) or item.slot in slots)
        return replace(edge, effects=tuple(effects))

    return replace(node, edges=tuple(map(trimmed, node.edges)))


def route(step: Arranged, after: str, scene: Scene) -> Node:
    """Return the node that chooses a step's branch; if no condition holds, the run continues after the step."""
    edges = tuple(_edges(step, after, scene))
    return Node(step.route, text(step.node.title), scene.at(step.node.step.span), Branch(), edges, step.node.group)


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


COMPLETE, STOP = "COMPLETE", "STOP"
LAST_OUTPUT = "last output"
"""The slot of the latest output, which becomes the artifact (P22)."""


class Scene(Struct, frozen=True):
    """The playbook's path and the names that its text can refer to."""

    path: str
    names: Collection[str]

    def at(self, span: Span) -> Origin:
        """Return a place in the document."""
        return Origin(self.path, span)

    def text(self, written: str) -> Text:
        """Return text with its placeholders resolved (P9)."""
        return with_references(written, self.names)


def entry_of(node: StepNode) -> str:
    """Return the node that a step starts with."""
    if node.asks and node.calls_agent:
        return f"{node.id}/elicit"
    return node.id if node.asks else _after_question(node)


def _after_question(node: StepNode) -> str:
    """Return the node that gets or checks the step's prompt, or the agent's node."""
    return f"{node.id}/prompt" if node.gets_prompt or node.prompt_variable else node.id


def nodes_of(node: StepNode, context: str, after: str, scene: Scene) -> Iterator[Node]:
    """Yield a step's nodes, the last of which leads to `after`; `context` goes above its prompt."""
    step = node.step
    if step.tool is not None:
        arguments = arguments_with_references(step.tool.arguments or "{}", scene.names)
        task: Task = Tool(step.tool.connection, step.tool.tool, arguments)
        yield _node(node, node.id, task, _answered(after, _kept(node)), scene)
        return
    if step.elicit is not None:
        yield from _elicit(node, step.elicit, after, scene)
    if step.prompt is not None and node.gets_prompt:
        yield _prompt(node, step.prompt, after, scene)
    if step.prompt is not None and node.prompt_variable:
        yield from _given(node, step.prompt, scene)
    if node.calls_agent:
        agent = Agent("", own_prompt(node, scene.names), context=context)
        yield _node(node, node.id, agent, _answered(after, _kept(node)), scene)
    elif not node.asks and not step.branches:
        yield _node(node, node.id, Branch(), (Edge((), (), after),), scene)


def _node(
    node: StepNode, name: str, task: Task, edges: tuple[Edge, ...], scene: Scene, span: Span | None = None
) -> Node:
    return Node(name, text(node.title), scene.at(span or node.step.span), task, edges, node.group)


def _answered(after: str, kept: Sequence[Effect]) -> tuple[Edge, ...]:
    """Return edges that continue with the answer, or stop if there is none (P18)."""
    return (
        Edge((OutcomeTest(Verdict.PASS.value),), tuple(kept), after),
        Edge((OutcomeTest(Verdict.FAIL.value),), (), STOP),
    )


def _kept(node: StepNode) -> list[Effect]:
    """Return the effects that keep a step's output: whole, under its name, and as the latest one (P10)."""
    output = node.output
    named = [Keep(output.name, extract=output.extract or None, options=output.options)] if output else []
    return [Keep(node.slot), *named, Keep(LAST_OUTPUT)]


def _elicit(node: StepNode, elicit: Elicit, after: str, scene: Scene) -> Iterator[Node]:
    """Yield the question of a step; the reply is the output unless the step also calls an agent (P11)."""
    options = tuple(dict.fromkeys(filter(None, elicit.options)))
    is_select = elicit.kind == "select" and bool(options)
    task = Ask(
        "select" if is_select else "input" if elicit.kind == "select" else elicit.kind,
        scene.text(elicit.question),
        options=tuple(map(scene.text, options)) if is_select else (),
    )
    replied = Keep(reply_slot(node.step))
    if not node.calls_agent:
        edges = (Edge((), (replied, *_kept(node)), after),)
        yield _node(node, node.id, task, edges, scene, elicit.span)
        return
    edges = (Edge((), (replied,), _after_question(node)),)
    yield _node(node, f"{node.id}/elicit", task, edges, scene, elicit.span)


def _prompt(node: StepNode, prompt: PromptRef, after: str, scene: Scene) -> Node:
    """Return the node that gets a prompt with a command; without one, the step continues with its own text (P12)."""
    arguments = text(json.dumps({"id": prompt.id}, ensure_ascii=False))
    without = node.id if node.step.content else after
    edges = (
        Edge((OutcomeTest(Verdict.PASS.value),), (Keep(prompt_slot(node)),), node.id),
        Edge((OutcomeTest(Verdict.FAIL.value),), (Clear(prompt_slot(node)),), without),
    )
    task = Tool(prompt.scheme, "prompt", arguments, optional=True)
    return _node(node, f"{node.id}/prompt", task, edges, scene, prompt.span)


def _given(node: StepNode, prompt: PromptRef, scene: Scene) -> Iterator[Node]:
    """Yield the nodes for a prompt from a variable; an empty variable stops the run (P12)."""
    name, missing = node.prompt_variable, f"{node.id}/prompt/missing"
    edges = (Edge((SlotTest(name, "==", ""),), (), missing), Edge((), (), node.id))
    yield _node(node, f"{node.id}/prompt", Branch(), edges, scene, prompt.span)
    message = text(f"Step {node.id}: {{{{{name}}}}} has no value, so there is no prompt")
    yield Node(missing, Text(), scene.at(prompt.span), End("stop", message), (), node.group)
