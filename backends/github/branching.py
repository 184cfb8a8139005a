"""Branches of a document that are steps of their own: a routing step compares texts exactly and says a label.

GitHub's own `==` does not tell BUG from bug, so conditions compare nothing but these labels, which rdc has made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from backends.github.places import Place
from backends.github.scalar import comment
from compiler.ir.edges import SlotTest
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Branch

ROUTE = "route"
"""The task of a routing step in the table of the runtime, and how its node is called beside a call of its step."""

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def routing(program: Program) -> frozenset[str]:
    """The nodes that choose among the branches of a step that is a group of its own; a limit counts no such steps."""
    if program.limit is not None:
        return frozenset()
    return frozenset(node.id for node in program.nodes if _routes(node))


def _routes(node: Node) -> bool:
    is_own = bool(node.group) and node.id in {node.group, f"{node.group}/{ROUTE}"}
    return (
        is_own and isinstance(node.task, Branch) and any(isinstance(t, SlotTest) for e in node.edges for t in e.guard)
    )


def is_routing(place: Place, nodes: frozenset[str]) -> bool:
    """Whether a place is a routing step."""
    return place.kind == "branch" and place.name in nodes


def labels(node: Node, targets: Mapping[str, str]) -> dict[str, str]:
    """The label for each place where a run may stand behind a routing step: `2a`, `else`; else what it is called.

    Args:
        node: The routing step.
        targets: The ids of the places, with what steps call them.
    """
    found = {token: name.removeprefix(f"{node.group}/") for name, token in targets.items()}
    alone = [label.lower() for label in found.values()]
    are_clear = all(map(_LABEL.fullmatch, found.values())) and len({*alone}) == len(alone)
    return found if are_clear else {token: token for token in found}


def conditions(node: Node) -> Iterator[str]:
    """What leads to which branch, as the author has written it and in this order, for comments."""
    for place, edge in enumerate(node.edges):
        tests = [f'{test.slot} {test.operator} "{test.text}"' for test in edge.guard if isinstance(test, SlotTest)]
        word = ("elif" if place else "if") if tests else "else"
        yield comment(" ".join([word, " and ".join(tests)]).strip() + f": {edge.target}")


def reason(nodes: Mapping[str, Node], routes: frozenset[str], target: str) -> str:
    """The condition of the branch that begins at a node, "" if none does."""
    for name in routes:
        for place, edge in enumerate(nodes[name].edges):
            if edge.target != target or nodes[target].group not in {nodes[name].group, target}:
                continue
            tests = [f'{test.slot} {test.operator} "{test.text}"' for test in edge.guard if isinstance(test, SlotTest)]
            return f"{'elif' if place else 'if'} {' and '.join(tests)}" if tests else "else"
    return ""
