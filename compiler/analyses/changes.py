"""What changed in a step or a group that both versions of a program have."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import fields, replace

from compiler.ir.program import Group, Node, Program
from compiler.ir.tasks import Agent, Task, agents_of, map_agents, map_task_texts, task_texts
from compiler.ir.texts import Part, Text, joined


class Change(Struct, frozen=True):
    """A node or group that is in both versions, and what of it is another (`title`, `command`, `prompt` …)."""

    old: Node | Group
    new: Node | Group
    parts: tuple[str, ...]


def node_parts(old: Node, new: Node) -> Iterator[str]:
    """The names of what is another in a node."""
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
    """What a node does, without the outputs of other steps that its texts have under headings that nobody wrote.

    One more step would else change the prompts of all that follow.
    """
    is_all_written = all(reference.written for text in task_texts(node.task) for reference in text.references)
    if is_all_written and not any(agent.context for agent in agents_of(node.task)):
        return node.task
    return map_task_texts(map_agents(node.task, lambda agent: replace(agent, context="")), _own)


def spelled(program: Program) -> Program:
    """The program with what people have written in its contexts in the prompts below them (I31)."""
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
    """The names of what is another in a group."""
    if _title(old) != _title(new):
        yield "title"
    if old.prompt != new.prompt:
        yield "prompt" if new.kind == "step" else "description"


def told(group: Group) -> object:
    """What a group says, by which two of them can be compared."""
    return _title(group), group.prompt


def _title(group: Group) -> str:
    """The title of a group; a runbook that has none is called by its path, which is no change of its own."""
    return "" if group.kind == "runbook" and group.id.endswith(f"/{group.title}") else str(group.title)
