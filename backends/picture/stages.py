"""What a picture says of the stages of a step with a contract, and of its gates (I32)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from backends.specification import Specification, Table, shown
from compiler.ir.program import Node
from compiler.ir.tasks import Gate, Stage, Task
from compiler.ir.texts import Text
from compiler.times import spoken

LONGEST_COMMAND = 40
"""In characters."""

MOST_PATHS = 4
"""Of files in a box; the tooltip has all of them."""


def look_of(task: Task) -> str:
    """What decides how a box looks: the kind of the task, of a stage which one it is."""
    return task.stage if isinstance(task, Stage) else task.kind


def stage_lines(node: Node, contract: Specification) -> Iterator[str]:
    """What stands in the box of a stage or of a gate of a contract, sentence by sentence."""
    step = contract.steps[node.group]
    match node.task:
        case Gate(_, reason):
            yield f"gate {node.id}"
            yield shown(reason)
        case Stage("execute"):
            yield step.title
            yield contract.executor(LONGEST_COMMAND)
        case Stage("tool", subject=subject) as task:
            yield f"tool {subject}"
            yield contract.matters(step, task)
        case Stage("validation", checks=checks, paths=paths):
            yield f"validation: {', '.join(checks)}"
            yield from _paths(paths)
        case Stage("outputs", subject=level, paths=paths):
            yield "outputs"
            yield from _paths(paths)
            yield from (f"evidence {word}" for word in (level,) if word)
        case Stage("inputs", paths=paths):
            yield "inputs"
            yield from _paths(paths)
            yield from _rules("input", contract.config)
        case Stage("guardrails"):
            yield from _rules("output", contract.config)
        case Stage("context"):
            yield "context"
            yield f"from {contract.config.get('context', 'a command')}"


def stage_tooltip(node: Node, contract: Specification) -> Iterator[str]:
    """What is to be read where somebody points at the box of a stage: all of what it is given."""
    step = contract.steps.get(node.group)
    if step is None:
        return
    match node.task:
        case Stage("execute"):
            yield shown(step.group.prompt)
            yield from (f"{name}: {step.spec[name]}" for name in ("phase", "human_gate") if step.spec.get(name))
            yield from (f"executor: {command}" for command in [contract.config.get("executor")] if command)
            yield f"an attempt takes at most {spoken(step.limit)}"
        case Stage("tool") as task:
            yield from _indented(step.tool(task).get("args", {}))
        case Stage("guardrails"):
            yield from _indented(contract.config.get("guardrails", {}).get("output", {}))
        case Stage("inputs", paths=paths):
            yield from map(shown, paths)
            yield from _indented(contract.config.get("guardrails", {}).get("input", {}))
        case Stage("validation") as task:
            yield from (f"validation: {step.spec['validation']}" for _ in "1" if step.spec.get("validation"))
            yield from map(shown, task.paths)
        case Stage(paths=paths):
            yield from map(shown, paths)
        case Gate(_, reason):
            yield shown(reason)


def _paths(paths: tuple[Text, ...]) -> Iterator[str]:
    yield from (shown(path) for path in paths[:MOST_PATHS])
    if len(paths) > MOST_PATHS:
        yield f"and {len(paths) - MOST_PATHS} more"


def _rules(stage: str, config: Table) -> Iterator[str]:
    """How many rules the guardrails of a stage have."""
    rules = config.get("guardrails", {}).get(stage, {})
    counts = [_count(len(rules.get(key, ())), noun) for key, noun in (("blocklist", "word"), ("patterns", "pattern"))]
    if any(counts):
        yield f"{stage} guardrails: {', '.join(filter(None, counts))}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number > 1 else ''}" if number else ""


def _indented(value: object) -> Iterator[str]:
    """The lines of a JSON value; none of an empty one."""
    if value:
        yield from json.dumps(value, indent=2, ensure_ascii=False).split("\n")
