"""Find the changes in a step or group that is in both versions of a program."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import fields, replace

from compiler.ir.program import Group, Node, Program
from compiler.ir.tasks import Agent, Task, agents_of, map_agents, map_task_texts, task_texts
from compiler.ir.texts import Part, Text, joined


class Change(Struct, frozen=True):
    """A node or group in both versions, and the names of its changed parts (`title`, `command`, `prompt` …)."""

    old: Node | Group
    new: Node | Group
    parts: tuple[str, ...]


def node_parts(old: Node, new: Node) -> Iterator[str]:
    """Yield the names of a node's changed parts."""
    if old.title != new.title:
        yield "title"
    if type(old.task) is not type(new.task):
        yield "kind"
        return
    before, after = own_task(old), own_task(new)
    for item in fields(before):
        if getattr(before, item.name) != getattr(after, item.name):
            yield item.name
    if old.settings != new.settings:
        yield "settings"
    if old.constants != new.constants:
        yield "environment"


def own_task(node: Node) -> Task:
    """Return a node's task without the outputs of other steps that rdc adds to its text under headings.

    Otherwise an additional step would change the prompts of all later steps.
    """
    is_all_written = all(reference.written for text in task_texts(node.task) for reference in text.references)
    if is_all_written and not any(agent.context for agent in agents_of(node.task)):
        return node.task
    return map_task_texts(map_agents(node.task, lambda agent: replace(agent, context="")), _own)


def spelled(program: Program) -> Program:
    """Return the program with the authors' text of contexts in the prompts below them (I31)."""
    own: dict[str, tuple[Part, ...]] = {"": ()}
    for context in program.contexts:
        own[context.name] = own[context.after] + _own(context.text).parts

    def whole(agent: Agent) -> Agent:
        return (
            replace(agent, prompt=joined([*own[agent.context], *agent.prompt.parts])) if own[agent.context] else agent
        )

    nodes = (replace(node, task=map_agents(node.task, whole)) for node in program.nodes)
    return replace(program, nodes=tuple(nodes)) if program.contexts else program


def _own(text: Text) -> Text:
    return joined([part for part in text.parts if isinstance(part, str) or part.written or part.before[:3] != "## "])


def group_parts(old: Group, new: Group) -> Iterator[str]:
    """Yield the names of a group's changed parts."""
    if _title(old) != _title(new):
        yield "title"
    if old.prompt != new.prompt:
        yield "prompt" if new.kind == "step" else "description"


def told(group: Group) -> object:
    """Return a group's content, for comparison."""
    return _title(group), group.prompt


def _title(group: Group) -> str:
    """Return a group's title; a runbook without a title is named by its path, which is not a change."""
    return "" if group.kind == "runbook" and group.id.endswith(f"/{group.title}") else str(group.title)
