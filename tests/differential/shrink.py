"""What was drawn made smaller, whatever its format: a part less, or a simpler one, as long as it shows a difference.

Not all that is proposed is valid; who asks for it finds out by compiling it. What stands around a part that is gone is
repaired where a format needs that: numbers and jumps of runbooks, edges of programs, and conditions of workflows.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, TypeVar

from tests.differential.case import Case, Json
from tests.differential.generate import agent_workflow, rundown
from tests.differential.generate import rundown_model as model

Drawn = TypeVar("Drawn")
AnyStep = TypeVar("AnyStep", model.Step, model.Substep)
Names = dict[tuple[str, str | None], tuple[str, str | None]]

FIXED = {"kind", "id", "name", "origin", "sources", "entry", "target", "seed", "ident", "type", "main"}
"""Names of what is no text, and makes no sense otherwise."""


def made_smaller(drawn: Drawn, shows: Callable[[Drawn], bool], seconds: float) -> Drawn:
    """The smallest that was found within a time and still shows what it shall."""
    until = time.monotonic() + seconds
    place: int | None = 0
    while place is not None:
        candidates = list(smaller(drawn))
        # What comes before the one that was taken was tried already, and comes last now.
        order = [*range(place, len(candidates)), *range(min(place, len(candidates)))]
        place = None
        for at in order:
            if time.monotonic() > until:
                return drawn
            if shows(candidates[at]):
                drawn, place = candidates[at], at
                break
    return drawn


def smaller(drawn: Drawn) -> Iterator[Drawn]:
    """All that are a step smaller, those with much less first."""
    yield from _repaired(drawn)
    for _, candidate in sorted(_parts(drawn, 0), key=lambda found: found[0]):
        if candidate != drawn:
            yield candidate


def _repaired(drawn: Any) -> Iterator[Any]:
    """Without a step, with what led there led elsewhere."""
    if isinstance(drawn, Case):
        yield from (_without_node(drawn, number) for number in range(len(drawn.program["nodes"]) - 1))
    elif isinstance(drawn, agent_workflow.Drawn):
        yield from _without_steps(drawn)
    elif isinstance(drawn, rundown.Drawn):
        for other in _without_any_step(drawn.runbook):
            yield replace(drawn, runbook=other, files=rundown.included(other, dict(drawn.files)))
        for path, nested in drawn.files.items():
            for other in _without_any_step(nested):
                yield replace(drawn, files=rundown.included(drawn.runbook, {**drawn.files, path: other}))


def _parts(value: Any, depth: int) -> Iterator[tuple[int, Any]]:
    """A value with a part less or simpler, each with how deep that part stands."""
    if is_dataclass(value) and not isinstance(value, type):
        yield from _of_fields(value, depth)
    elif isinstance(value, tuple | list):
        for place, part in enumerate(value):
            yield depth, type(value)([*value[:place], *value[place + 1 :]])
            for at, other in _parts(part, depth + 1):
                yield at, type(value)([*value[:place], other, *value[place + 1 :]])
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if key not in FIXED:
                yield from ((at, {**value, key: other}) for at, other in _parts(part, depth + 1))
    else:
        yield from ((depth + 1, other) for other in _simpler(value) if other != value)


def _simpler(value: Any) -> Iterator[Any]:
    if isinstance(value, int) and value > 1:
        yield 1
    elif isinstance(value, str) and value:
        yield from ("", "x")
        lines = value.splitlines(keepends=True)
        yield from ("".join(lines[:at] + lines[at + 1 :]) for at in range(len(lines)))


def _of_fields(value: Any, depth: int) -> Iterator[tuple[int, Any]]:
    for field in fields(value):
        part, usual = getattr(value, field.name), field.default
        if field.name in FIXED:
            continue
        if field.default_factory is not MISSING:
            usual = field.default_factory()
        candidates = [] if usual is MISSING or usual == part else [(depth, usual)]
        candidates += [(depth, model.COMMAND)] if field.name == "body" and part != model.COMMAND else []
        for at, other in (*candidates, *_parts(part, depth + 1)):
            try:
                yield at, replace(value, **{field.name: other})
            except ValueError:  # the model itself refuses it
                continue


# --- Programs and workflows -------------------------------------------------------------------------------------------


def _without_node(case: Case, number: int) -> Case:
    """Without a node; what led there leads to the next one."""
    nodes = case.program["nodes"]
    gone, target = nodes[number]["id"], nodes[number + 1]["id"]

    def led_on(node: Json) -> Json:
        edges = [{**edge, "target": target if edge["target"] == gone else edge["target"]} for edge in node["edges"]]
        return {**node, "edges": edges}

    entry = target if case.program["entry"] == gone else case.program["entry"]
    left = [led_on(node) for node in nodes if node["id"] != gone]
    replies = {step: found for step, found in case.replies.items() if step != gone}
    return replace(case, program={**case.program, "nodes": left, "entry": entry}, replies=replies)


def _without_steps(drawn: agent_workflow.Drawn) -> Iterator[agent_workflow.Drawn]:
    steps = drawn.flow.steps
    for gone in steps if len(steps) > 1 else ():
        left = []
        for step in steps:
            conditions = tuple(pair for pair in step.conditions if pair[1] != gone.name)
            ends: dict[str, Any] = {"next": "", "end": True} if step.next == gone.name else {}
            left += [replace(step, conditions=conditions, **ends)] if step is not gone else []
        yield replace(drawn, flow=replace(drawn.flow, steps=tuple(left)))


# --- Runbooks ---------------------------------------------------------------------------------------------------------


def _without_any_step(runbook: model.Runbook) -> Iterator[model.Runbook]:
    steps = runbook.steps
    for index, step in enumerate(steps):
        if len(steps) > 1:
            yield _numbered(runbook, (*steps[:index], *steps[index + 1 :]))
        for number in range(len(step.children)) if len(step.children) > 1 else ():
            other = _with_children(step, (*step.children[:number], *step.children[number + 1 :]))
            yield _numbered(runbook, (*steps[:index], other, *steps[index + 1 :]))


def _with_children(step: model.Step, children: tuple[model.Substep, ...]) -> model.Step:
    return replace(step, body=replace(step.body, children=children)) if isinstance(step.body, model.Substeps) else step


def _numbered(runbook: model.Runbook, steps: tuple[model.Step, ...]) -> model.Runbook:
    """A runbook of these steps, with numbers without a gap (V2). A jump leads to the new name, or is a CONTINUE."""
    names: Names = {}
    for step, ident in zip(steps, _idents(steps), strict=True):
        names[step.ident, None] = ident, None
        names |= {
            (step.ident, child.ident): (ident, own)
            for child, own in zip(step.children, _idents(step.children), strict=True)
        }

    def result(found: model.Result | None) -> model.Result | None:
        if isinstance(found, model.Retry):
            then = result(found.then)
            assert then is not None
            assert not isinstance(then, model.Retry)
            return model.Retry(found.count, then)
        if not isinstance(found, model.Goto) or found.step is None:
            return found
        target = names.get((found.step, found.child))
        return model.Goto(*target, advance=found.advance) if target else model.Continue()

    def renamed(node: AnyStep, ident: str | None) -> AnyStep:
        own = node.transitions
        allowed = model.Transitions(result(own.on_pass), result(own.on_fail), own.optimistic)
        return replace(node, ident=ident or node.ident, transitions=allowed)

    left = [
        _with_children(step, tuple(renamed(child, names[step.ident, child.ident][1]) for child in step.children))
        for step in steps
    ]
    return replace(runbook, steps=tuple(renamed(step, names[step.ident, None][0]) for step in left))


def _idents(steps: Sequence[AnyStep]) -> list[str]:
    numbers = iter(range(1, len(steps) + 1))
    return [str(next(numbers)) if step.ident.isdecimal() else step.ident for step in steps]
