"""Compare the steps of a run with those of another version of its program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State, digest

Step = Sequence[str]  # name, kind, title, digest of all that it does
NOT_DONE = ("title", "at", "edges", "group", "attempt", "variables", "placeholders", "timeout", "delay", "backoff")
# Steps with the same key are the same, by the surest key first. Numbers change if steps are added.
FOUND_BY: tuple[Callable[[Step], Any], ...] = (
    lambda step: step,
    lambda step: step[1:],
    lambda step: step[1:3],
    lambda step: (step[1], step[3]),
    lambda step: step[:2] if step[0][0].isalpha() else "",
)


def steps_of(nodes: Table) -> list[list[str]]:
    """Return the steps of a program, as the first record of a run keeps them."""
    doing = [(name, node) for name, node in nodes.items() if node["task"] not in ("branch", "end")]
    return [
        [
            name,
            node["task"],
            node.get("title", ""),
            digest({key: node[key] for key in {*node}.difference(NOT_DONE)})[:12],
        ]
        for name, node in doing
    ]


def matched(old: Sequence[Step], new: Sequence[Step]) -> dict[str, str]:
    """Return the new names of the old steps that the new version has."""
    found: dict[str, str] = {}
    for key in FOUND_BY:
        free: dict[Any, list[str]] = {}
        taken = {*found.values()}
        for step in new:
            if step[0] not in taken and key(step):
                free.setdefault(tuple(key(step)), []).append(step[0])
        for step in old:
            if step[0] not in found and free.get(tuple(key(step))):
                found[step[0]] = free[tuple(key(step))].pop(0)
    return found


def problem_with(state: State, new: Sequence[Step], names: Mapping[str, str]) -> str:
    """Return why a run cannot continue with these steps, or ""."""
    if state.node not in names:
        return f"the run is at step {state.node}, which this program does not have"
    at, order, old = names[state.node], [step[0] for step in new], {step[0]: step for step in state.steps}
    before = list(old)[: list(old).index(state.node)]
    done = {names.get(one["node"]) for one in state.finished if one["node"] in before}
    place = order.index(at)
    if again := [name for name in order[place:] if name in done]:
        return f"step {again[0]} has finished, and this version would run it again after step {at}"
    if added := [name for name in order[:place] if name not in names.values()]:
        return f"step {added[0]} is new and comes before step {at}, where the run is"
    if state.condition in ("running", "waiting") and list(old[state.node])[1:] != list(new[place])[1:]:
        return f"step {at} was started, and this version has another kind, title or command for it"
    return ""


def renamed(register: str, state: State, names: Mapping[str, str]) -> str:
    """Return the new name of a counter, which may be that of a step; "" if the step is gone."""
    head, _, rest = register.partition(" ")
    inner = next((name for name in names if name.startswith((f"{head}.", f"{head}/"))), "")
    if head in names or not (rest and (inner or any(head == step[0] for step in state.steps))):
        return f"{names.get(head, head)} {rest}".rstrip()
    depth = inner[len(head) :].replace("/", ".").count(".")
    return f"{names[inner].replace('/', '.').rsplit('.', depth)[0]} {rest}" if inner else ""
