"""Lower branches: a node tests strings and goes to the first branch whose condition holds (P14)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.frontends.playbook.calls import Scene, entry_of
from compiler.frontends.playbook.nodes import Arranged
from compiler.frontends.playbook.syntax import Branch as Marker
from compiler.ir.edges import Edge, SlotTest, Written
from compiler.ir.program import Node
from compiler.ir.tasks import Branch
from compiler.ir.texts import text


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
