"""Build the nodes of a step: its tool, or its question, prompt reference and agent in this order (P17)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from compiler.frontends.playbook.nodes import (
    StepNode,
    arguments_with_references,
    own_prompt,
    prompt_slot,
    reply_slot,
    with_references,
)
from compiler.frontends.playbook.syntax import Elicit, PromptRef
from compiler.ir.edges import Clear, Edge, Effect, Keep, Origin, OutcomeTest, SlotTest
from compiler.ir.program import Node
from compiler.ir.tasks import Agent, Ask, Branch, End, Task, Tool, Verdict
from compiler.ir.texts import Text, text
from compiler.source import Span

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


# --- Questions -------------------------------------------------------------------------------------------------------


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


# --- Prompt references -----------------------------------------------------------------------------------------------


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
