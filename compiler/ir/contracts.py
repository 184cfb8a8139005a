"""Check that a program's contract is well-formed (docs/reference/program-rules.md, I32)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.ir.program import Contract, Program
from compiler.ir.tasks import Branch, End, Gate, Stage
from compiler.ir.texts import text
from compiler.ir.wellformed import object_problems

Problems = Iterator[tuple[str, str]]


def contract_problems(program: Program) -> Problems:
    """Yield problems of a contract and its stages, each with its node, or "" for the program."""
    if program.contract is None:
        stages = (node.id for node in program.nodes if isinstance(node.task, Stage))
        yield from ((name, "the program has no contract, which a stage needs") for name in stages)
        return
    yield from (("", problem) for problem in _contract(program, program.contract))
    yield from _nodes(program, program.contract)


def _contract(program: Program, contract: Contract) -> Iterator[str]:
    ids = [step.id for step in contract.steps]
    if not all(ids) or len(ids) != len(set(ids)):
        yield "the contract has a step without an id, or two steps with the same id"
    known = {item.name for item in program.registers} | {item.name for item in program.slots}
    for name, written in (("workflow", contract.workflow), ("config", contract.config)):
        yield from object_problems(text(written), f"the contract: the parts of {name}")
    for step in contract.steps:
        yield from object_problems(step.spec, f"the contract: the parts of step {step.id}")
        for item in step.spec.references:
            if item.register not in known:
                yield f"the contract: the register {item.register} is not declared"


def _nodes(program: Program, contract: Contract) -> Problems:
    """Check that each stage and gate belongs to a step, and that no edge leads to an earlier step."""
    places = {step.id: place for place, step in enumerate(contract.steps)}
    nodes = program.index()
    for node in program.nodes:
        if isinstance(node.task, Branch | End):
            continue
        if not isinstance(node.task, Stage | Gate):
            yield node.id, "a program with a contract can only have stages and gates"
        if node.group not in places or (isinstance(node.task, Stage) and node.task.step != node.group):
            yield node.id, "it is not in the group of its step in the contract"
            continue
        targets = (nodes[edge.target] for edge in node.edges if edge.target in nodes)
        if any(places.get(target.group, len(places)) < places[node.group] for target in targets):
            yield node.id, "an edge leads back to an earlier step"
