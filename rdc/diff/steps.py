"""Match the steps of two versions of a program, and find the changes in each.

Inserting a step renumbers later ones, so steps are matched by content before they are matched by id.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

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
        above = own[agent.context]
        return replace(agent, prompt=joined([*above, *agent.prompt.parts])) if above else agent

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


# --- Matching ---------------------------------------------------------------------------------------------------------

MOST_ALIKE = 100
"""The most steps with equal content to compare pairwise, which takes quadratic time.

If there are more, the first is compared with the first, the second with the second, and so on.
"""


def match_nodes(old: Sequence[Node], new: Sequence[Node]) -> tuple[tuple[Node, Node], ...]:
    """Return the pairs of old and new steps that match, in the order of the new version."""
    found: dict[str, Node] = {}
    for candidates in (_same_in_order, _same_title, _same_id):
        taken = {node.id for node in found.values()}
        rest_old = [node for node in old if node.id not in taken]
        rest_new = [node for node in new if node.id not in found]
        found |= {after.id: before for before, after in candidates(rest_old, rest_new)}
    return tuple((found[node.id], node) for node in new if node.id in found)


def _same_in_order(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Match steps that have not changed, or only have another number."""
    counts = (Counter(map(_content, nodes)) for nodes in (old, new))
    frequent = {content for counted in counts for content, many in counted.items() if many > MOST_ALIKE}
    link = _longest_common(*(_told_apart(nodes, frequent) for nodes in (old, new)))
    while link:
        yield old[link.old], new[link.new]
        link = link.before


class _Link(Struct, frozen=True):
    """A pair of positions in a common sequence, and the pair before it."""

    old: int
    new: int
    before: _Link | None


def _longest_common(old: Iterable[object], new: Iterable[object]) -> _Link | None:
    """Return the end of the longest common sequence, after Hunt and Szymanski."""
    # The time grows with the number of equal pairs, not with all pairs. If the number of equal items changed, the first
    # ones are matched.
    places: dict[object, list[int]] = {}
    for position, item in enumerate(new):
        places.setdefault(item, []).append(position)
    nearest: list[int] = []  # for each length, the earliest end in `new` of a sequence of that length
    links: list[_Link] = []
    for position, item in enumerate(old):
        for place in reversed(places.get(item, ())):
            length = bisect_left(nearest, place)
            if nearest[length : length + 1] == [place]:
                continue  # an equally long sequence already ends here, with an earlier item of `old`
            nearest[length : length + 1] = [place]
            links[length : length + 1] = [_Link(position, place, links[length - 1] if length else None)]
    return links[-1] if links else None


def _told_apart(nodes: Iterable[Node], frequent: set[object]) -> Iterator[object]:
    seen: Counter[object] = Counter()
    for node in nodes:
        content = _content(node)
        seen[content] += 1
        yield (content, seen[content]) if content in frequent else content


def _same_title(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Match steps with different content whose title is unique in both versions."""
    before, after = (Counter(node.title for node in nodes) for nodes in (old, new))
    known = {node.title: node for node in old}
    for node in new:
        if node.title and after[node.title] == before[node.title] == 1:
            yield known[node.title], node


def _same_id(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    known = {node.id: node for node in old}
    for node in new:
        before = known.get(node.id)
        is_named = not node.id.rpartition(".")[2].isdigit()
        if before and (own_task(before) == own_task(node) or before.title == node.title or is_named):
            yield before, node


def _content(node: Node) -> object:
    return (node.title, own_task(node))
