"""How to make a workflow that shows a difference smaller: each result has a part less, or a simpler one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.agent_workflows.model import Flow, Step, Told
from tests.programs.cases import Json


def smaller(told: Told) -> Iterator[Told]:
    """All that are one step smaller."""
    for flow in _flows(told.flow):
        yield replace(told, flow=flow)
    if told.task is not None:
        yield replace(told, task=None)
    for step, replies in told.replies.items():
        for simpler in _replies(replies):
            yield replace(told, replies={**told.replies, step: simpler})


def _flows(flow: Flow) -> Iterator[Flow]:
    for place, step in enumerate(flow.steps):
        if len(flow.steps) > 1:
            left = flow.steps[:place] + flow.steps[place + 1 :]
            yield replace(flow, steps=tuple(_without(other, step.name) for other in left))
        for other in _steps(step):
            yield replace(flow, steps=(*flow.steps[:place], other, *flow.steps[place + 1 :]))
    if flow.description is not None:
        yield replace(flow, description=None)
    if flow.name != "x":
        yield replace(flow, name="x")


def _without(step: Step, name: str) -> Step:
    """A step that leads to another one no more."""
    conditions = tuple(pair for pair in step.conditions if pair[1] != name)
    if step.next == name:
        return replace(step, conditions=conditions, next="", end=True)
    return replace(step, conditions=conditions)


def _steps(step: Step) -> Iterator[Step]:
    if step.human:
        yield replace(step, human=False)
    if step.report:
        yield replace(step, report=None)
    if step.agent:
        yield replace(step, agent="")
    for place in range(len(step.conditions)):
        yield replace(step, conditions=step.conditions[:place] + step.conditions[place + 1 :])
    if not step.entries and step.prompt != "Do it.":
        yield replace(step, prompt="Do it.")
    if any(prompt != "Do it." for _, prompt in step.entries):
        yield replace(step, entries=tuple((agent, "Do it.") for agent, _ in step.entries))


def _replies(replies: list[Json]) -> Iterator[list[Json]]:
    for place in range(len(replies)):
        if len(replies) > 1:
            yield replies[:place] + replies[place + 1 :]
    for place, reply in enumerate(replies):
        lines = reply.get("answer", "").split("\n")
        for line in range(len(lines) if len(lines) > 1 else 0):
            shorter = {**reply, "answer": "\n".join(lines[:line] + lines[line + 1 :])}
            yield [*replies[:place], shorter, *replies[place + 1 :]]
