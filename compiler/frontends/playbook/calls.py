"""The nodes of one unit: its tool, or its question, its prompt reference and its agent, in this order (P17)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from compiler.frontends.playbook.context import own_prompt, prompt_slot
from compiler.frontends.playbook.placeholders import arguments_with_references, reply_slot, with_references
from compiler.frontends.playbook.syntax import Elicit, PromptRef
from compiler.frontends.playbook.units import Unit
from compiler.ir.edges import Clear, Edge, Effect, Keep, Origin, OutcomeTest, SlotTest
from compiler.ir.program import Node
from compiler.ir.tasks import Agent, Ask, Branch, End, Task, Tool, Verdict
from compiler.ir.texts import Text, text
from compiler.source import Span

COMPLETE, STOP = "COMPLETE", "STOP"
LAST_OUTPUT = "last output"
"""The slot of the latest output, which the artifact is made of (P22)."""


@dataclass(frozen=True)
class Scene:
    """What all units of a playbook see: its path, and the names that texts can have."""

    path: str
    names: Collection[str]

    def at(self, span: Span) -> Origin:
        """A place in the document."""
        return Origin(self.path, span)

    def text(self, written: str) -> Text:
        """A text with its placeholders (P9)."""
        return with_references(written, self.names)


def entry_of(unit: Unit) -> str:
    """The node that a unit begins with."""
    if unit.asks and unit.calls_agent:
        return f"{unit.id}/elicit"
    return unit.id if unit.asks else _after_question(unit)


def _after_question(unit: Unit) -> str:
    """The node where its prompt is got, or looked at, if it has one; else its agent."""
    return f"{unit.id}/prompt" if unit.gets_prompt or unit.prompt_variable else unit.id


def nodes_of(unit: Unit, context: str, after: str, scene: Scene) -> Iterator[Node]:
    """The nodes of a unit, the last of which leads to the node `after`; its prompt stands below a context."""
    step = unit.step
    if step.tool is not None:
        arguments = arguments_with_references(step.tool.arguments or "{}", scene.names)
        task: Task = Tool(step.tool.connection, step.tool.tool, arguments)
        yield _node(unit, unit.id, task, _answered(after, _kept(unit)), scene)
        return
    if step.elicit is not None:
        yield from _elicit(unit, step.elicit, after, scene)
    if step.prompt is not None and unit.gets_prompt:
        yield _prompt(unit, step.prompt, after, scene)
    if step.prompt is not None and unit.prompt_variable:
        yield from _given(unit, step.prompt, scene)
    if unit.calls_agent:
        agent = Agent("", own_prompt(unit, scene.names), context=context)
        yield _node(unit, unit.id, agent, _answered(after, _kept(unit)), scene)
    elif not unit.asks and not step.branches:
        yield _node(unit, unit.id, Branch(), (Edge((), (), after),), scene)


def _node(unit: Unit, name: str, task: Task, edges: tuple[Edge, ...], scene: Scene, span: Span | None = None) -> Node:
    return Node(name, text(unit.title), scene.at(span or unit.step.span), task, edges, unit.group)


def _answered(after: str, kept: Sequence[Effect]) -> tuple[Edge, ...]:
    """On with the answer, or to the end where there is none (P18)."""
    return (
        Edge((OutcomeTest(Verdict.PASS.value),), tuple(kept), after),
        Edge((OutcomeTest(Verdict.FAIL.value),), (), STOP),
    )


def _kept(unit: Unit) -> list[Effect]:
    """Where the output of a unit is kept: whole, under its name, and as the latest one (P10)."""
    output = unit.output
    named = [Keep(output.name, extract=output.extract or None)] if output else []
    return [Keep(unit.slot), *named, Keep(LAST_OUTPUT)]


# --- Questions -------------------------------------------------------------------------------------------------------


def _elicit(unit: Unit, elicit: Elicit, after: str, scene: Scene) -> Iterator[Node]:
    """The question of a unit; its reply is the output, unless the unit calls its agent too (P11)."""
    options = tuple(dict.fromkeys(filter(None, elicit.options)))
    is_select = elicit.kind == "select" and bool(options)
    task = Ask(
        "select" if is_select else "input" if elicit.kind == "select" else elicit.kind,
        scene.text(elicit.question),
        options=tuple(map(scene.text, options)) if is_select else (),
    )
    replied = Keep(reply_slot(unit.step))
    if not unit.calls_agent:
        edges = (Edge((), (replied, *_kept(unit)), after),)
        yield _node(unit, unit.id, task, edges, scene, elicit.span)
        return
    edges = (Edge((), (replied,), _after_question(unit)),)
    yield _node(unit, f"{unit.id}/elicit", task, edges, scene, elicit.span)


# --- Prompt references -----------------------------------------------------------------------------------------------


def _prompt(unit: Unit, prompt: PromptRef, after: str, scene: Scene) -> Node:
    """Getting a prompt by a command, which may not be there: the unit then goes on with its own text (P12)."""
    arguments = text(json.dumps({"id": prompt.id}, ensure_ascii=False))
    without = unit.id if unit.step.content else after
    edges = (
        Edge((OutcomeTest(Verdict.PASS.value),), (Keep(prompt_slot(unit)),), unit.id),
        Edge((OutcomeTest(Verdict.FAIL.value),), (Clear(prompt_slot(unit)),), without),
    )
    task = Tool(prompt.scheme, "prompt", arguments, optional=True)
    return _node(unit, f"{unit.id}/prompt", task, edges, scene, prompt.span)


def _given(unit: Unit, prompt: PromptRef, scene: Scene) -> Iterator[Node]:
    """A variable that is the prompt; without a value it fails the step (P12)."""
    name, missing = unit.prompt_variable, f"{unit.id}/prompt/missing"
    edges = (Edge((SlotTest(name, "==", ""),), (), missing), Edge((), (), unit.id))
    yield _node(unit, f"{unit.id}/prompt", Branch(), edges, scene, prompt.span)
    message = text(f"Step {unit.id}: {{{{{name}}}}} has no value, so there is no prompt")
    yield Node(missing, Text(), scene.at(prompt.span), End("stop", message), (), unit.group)
