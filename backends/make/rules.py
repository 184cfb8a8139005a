"""Runbooks of defaults alone as rules of make: each step is a target that needs the one before it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from compiler.ir.edges import OutcomeTest
from compiler.ir.program import Node, Program
from compiler.ir.tasks import End, Shell, Verdict

MOST = 200
"""Each rule reads the Makefile and the journal, so that more of them are left to the driver, which reads both once."""

_OF_MAKE = frozenset(
    {
        *("define", "else", "endef", "endif", "export", "ifdef", "ifeq", "ifndef", "ifneq", "include", "load"),
        *("override", "private", "sinclude", "undefine", "unexport", "vpath"),
    }
)
"""Words that make would take for directives."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A target for a step, and the one that it needs, "" for the first."""

    slug: str
    step: str
    before: str


def rules_of(program: Program, taken: Collection[str]) -> list[Rule]:
    """The rules of a program of commands one after the other, with defaults alone (M6); none for any other program."""
    nodes = [node for node in program.nodes if isinstance(node.task, Shell)]
    if len(nodes) > MOST or not _has_defaults_alone(program):
        return []
    slugs = [_slug(str(node.title)) for node in nodes]
    counts = Counter(slugs)
    names: list[str] = []
    for node, slug in zip(nodes, slugs, strict=True):
        is_free = (
            slug and counts[slug] == 1 and slug not in {*taken, *_OF_MAKE} and not slug.startswith(("step-", "do-"))
        )
        names.append(slug if is_free else f"do-{_slug(node.id)}")
    return [Rule(name, node.id, before) for name, node, before in zip(names, nodes, ["", *names[:-1]], strict=True)]


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _has_defaults_alone(program: Program) -> bool:
    nodes = [node for node in program.nodes if not isinstance(node.task, End)]
    if not nodes or program.inputs or program.slots or program.secrets or program.limit is not None:
        return False
    targets = [*(node.id for node in nodes[1:]), _only_end(program, "complete")]
    stop = _only_end(program, "stop")
    return program.entry == nodes[0].id and all(
        _goes_on(node, target, stop) for node, target in zip(nodes, targets, strict=True)
    )


def _goes_on(node: Node, target: str, stop: str) -> bool:
    """Whether a step is a command that goes on with the next one, and stops the run where it fails."""
    transitions = {(edge.guard, edge.effects, edge.target) for edge in node.edges}
    usual = {((OutcomeTest(Verdict.PASS.value),), (), target), ((OutcomeTest(Verdict.FAIL.value),), (), stop)}
    has_settings = node.settings.timeout or node.settings.delay or node.variables or node.constants
    return isinstance(node.task, Shell) and not has_settings and node.task.command.is_plain and transitions == usual


def _only_end(program: Program, result: str) -> str:
    """The only end with a result, if it says nothing; else no name of a node."""
    ends = [node for node in program.nodes if isinstance(node.task, End) and node.task.result == result]
    plain = len(ends) == 1 and not getattr(ends[0].task, "message", "")
    return ends[0].id if plain else ""
