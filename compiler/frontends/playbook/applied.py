"""What a playbook says of its units, put on the nodes of its program: limits of time for calls (E3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.unit_settings import EVERY, UnitSettings, unknown_unit
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Branch, End, Tool


def apply_settings(program: Program, said: Sequence[UnitSettings]) -> tuple[Program, list[Diagnostic]]:
    """The program with these settings, and what is wrong with them. What is said of the unit itself wins."""
    if not said:
        return program, []
    by_unit = {item.unit: item for item in said}
    nodes = tuple(_limited(node, by_unit) for node in program.nodes)
    return replace(program, nodes=nodes), list(_mistakes(program, said))


def _limited(node: Node, said: Mapping[str, UnitSettings]) -> Node:
    """A node with the time that its call may take, as it, the step around it, or all are said to have."""
    if not isinstance(node.task, Agent | Tool):
        return node
    limits = (said[unit].timeout for unit in (node.id, node.group, EVERY) if unit in said)
    timeout = next((limit for limit in limits if limit is not None), None)
    return replace(node, settings=replace(node.settings, timeout=timeout)) if timeout else node


def _mistakes(program: Program, said: Sequence[UnitSettings]) -> Iterator[Diagnostic]:
    callers = {node.id for node in program.nodes if isinstance(node.task, Agent | Tool)}
    callers |= {node.group for node in program.nodes if node.id in callers}
    known = [node.id for node in program.nodes if not isinstance(node.task, Branch | End)]
    known += [group.id for group in program.groups]
    for item in said:
        if item.unit not in (EVERY, *known):
            yield unknown_unit(item, known)
            continue
        others = {"retry-delay": item.delay, "retry-backoff": item.backoff, "env": item.env or None}
        for key in (key for key, value in others.items() if value is not None):
            remedy = "remove it; in a playbook a unit has `timeout`, `secrets` and `environment`"
            yield item.place(key).finding(f"`{key}` means nothing for the units of a playbook", remedy)
        if item.timeout is not None and item.unit not in (EVERY, *callers):
            problem = f"step {item.unit} calls neither an agent nor a tool that `timeout` could end"
            yield item.place("timeout").finding(problem, "say it of a step with a text or with @tool")
