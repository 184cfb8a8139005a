"""The boxes of the stages and gates of a step with a contract (I32)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from backends.specification import Specification, Table, shortened, shown
from compiler.ir.program import Node
from compiler.ir.tasks import Gate, Stage, Task
from compiler.ir.texts import Text
from compiler.times import spoken

LONGEST_COMMAND = 40
"""In characters."""

MOST_PATHS = 4
"""The most paths in a box. The tooltip has all of them."""


def look_of(task: Task) -> str:
    """Return the look of a box: the kind of the task, or of the stage."""
    return task.stage if task.kind == "stage" else task.kind


def stage_lines(node: Node, contract: Specification) -> Iterator[str]:
    """Yield the lines in the box of a stage, or of a contract's gate."""
    step, task = contract.steps[node.group], node.task
    if isinstance(task, Gate):
        yield f"gate {node.id}"
        yield shown(task.reason)
    if not isinstance(task, Stage):
        return
    match task.stage:
        case "execute":
            yield step.title
            yield contract.executor(LONGEST_COMMAND)
        case "tool":
            yield f"tool {task.subject}"
            yield contract.matters(step, task)
        case "validation":
            yield f"validation: {', '.join(task.checks)}"
            yield from _paths(task.paths)
        case "outputs":
            yield "outputs"
            yield from _paths(task.paths)
            yield from (f"evidence {level}" for level in (task.subject,) if level)
        case "inputs":
            yield "inputs"
            yield from _paths(task.paths)
            yield from _rules("input", contract.config)
        case "guardrails":
            yield from _rules("output", contract.config)
        case "context":
            yield "context"
            yield f"from {shortened(contract.config.get('context', 'a command'), LONGEST_COMMAND)}"


def stage_tooltip(node: Node, contract: Specification) -> Iterator[str]:
    """Yield the lines of a stage's tooltip: everything that the stage is given."""
    step, task = contract.steps.get(node.group), node.task
    if step is None or not isinstance(task, Stage):
        return
    guardrails = contract.config.get("guardrails", {})
    match task.stage:
        case "execute":
            yield shown(step.group.prompt)
            yield from (f"{name}: {step.spec[name]}" for name in ("phase", "human_gate") if step.spec.get(name))
            yield from (f"executor: {command}" for command in [contract.config.get("executor")] if command)
            yield f"an attempt takes at most {spoken(step.limit)}"
        case "tool":
            yield from _indented(step.tool(task).get("args", {}))
        case "guardrails":
            yield from _indented(guardrails.get("output", {}))
        case "inputs":
            yield from map(shown, task.paths)
            yield from _indented(guardrails.get("input", {}))
        case "validation":
            yield from (f"validation: {policy}" for policy in [step.spec.get("validation")] if policy)
            yield from map(shown, task.paths)
        case "outputs":
            yield from map(shown, task.paths)
        case "context":
            yield from (f"context: {command}" for command in [contract.config.get("context")] if command)


def _paths(paths: tuple[Text, ...]) -> Iterator[str]:
    yield from (shown(path) for path in paths[:MOST_PATHS])
    if len(paths) > MOST_PATHS:
        yield f"and {len(paths) - MOST_PATHS} more"


def _rules(stage: str, config: Table) -> Iterator[str]:
    """Yield the number of rules in a stage's guardrails."""
    rules = config.get("guardrails", {}).get(stage, {})
    counts = [_count(len(rules.get(key, ())), noun) for key, noun in (("blocklist", "word"), ("patterns", "pattern"))]
    if any(counts):
        yield f"{stage} guardrails: {', '.join(filter(None, counts))}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number > 1 else ''}" if number else ""


def _indented(value: object) -> Iterator[str]:
    """Yield the lines of a JSON value; none for an empty one."""
    if value:
        yield from json.dumps(value, indent=2, ensure_ascii=False).split("\n")
