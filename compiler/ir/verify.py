"""The verifier: what must hold for every program, after lowering and after each pass (architecture: the IR)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.ir.program import (
    Add,
    AtLeast,
    Branch,
    CounterTest,
    Edge,
    Effect,
    End,
    KeywordTest,
    OutcomeTest,
    Program,
    Reset,
    Set,
    SlotTest,
    Test,
    Verdict,
)


class InvalidProgramError(Exception):
    """A program that breaks an invariant: a mistake in rdc itself, never in a document."""


def verify(program: Program) -> None:
    """Checks a program; raises `InvalidProgramError` with every invariant that it breaks."""
    problems = [*_names(program), *_references(program), *_totality(program), *_idle_cycles(program)]
    if problems:
        raise InvalidProgramError("\n".join(problems))


def _names(program: Program) -> Iterator[str]:
    for kind, names in (
        ("node", [node.id for node in program.nodes]),
        ("group", [group.id for group in program.groups]),
        ("register", [register.name for register in program.registers]),
    ):
        if len(names) != len(set(names)):
            yield f"two {kind}s share a name"


def _references(program: Program) -> Iterator[str]:
    nodes = {node.id for node in program.nodes}
    groups = {group.id for group in program.groups} | {""}
    registers = {register.name for register in program.registers}
    slots = {slot.name for slot in program.slots}
    if program.entry not in nodes:
        yield f"the entry {program.entry} is no node"
    for node in program.nodes:
        used = {variable.register for variable in node.variables} | ({node.retries} if node.retries else set())
        for edge in node.edges:
            used |= _registers(edge)
            if edge.target not in nodes:
                yield f"{node.id}: an edge leads to {edge.target}, which is no node"
        for name in sorted(used - registers - slots):
            yield f"{node.id}: the register {name} is not declared"
        if node.group not in groups:
            yield f"{node.id}: the group {node.group} is not declared"


def _registers(edge: Edge) -> set[str]:
    names = set()
    for test in edge.guard:
        if isinstance(test, CounterTest):
            names.add(test.register)
        elif isinstance(test, SlotTest):
            names.add(test.slot)
    for effect in edge.effects:
        names |= _written(effect)
    return names


def _written(effect: Effect) -> set[str]:
    match effect:
        case Add(register, str(amount)):
            return {register, amount}
        case Set(register) | Add(register) | AtLeast(register):
            return {register}
        case Reset():
            return set()


def _totality(program: Program) -> Iterator[str]:
    """Whatever the outcome, some edge holds: one whose guard asks for nothing more than that outcome."""
    for node in program.nodes:
        if isinstance(node.task, End):
            if len(node.edges) > 1 or any(edge.guard for edge in node.edges):
                yield f"{node.id}: an end goes on in one way or in none"
            continue
        guards = [_without_outcome(edge.guard) for edge in node.edges]
        open_to = {verdict for verdicts, rest in guards if not rest for verdict in verdicts}
        needed = set(Verdict)
        if isinstance(node.task, Branch) and any(_about_outcome(test) for edge in node.edges for test in edge.guard):
            yield f"{node.id}: a branch has no outcome to test"
        if not needed <= open_to:
            yield f"{node.id}: there may be no edge to take"


def _about_outcome(test: Test) -> bool:
    return isinstance(test, OutcomeTest | KeywordTest)


def _without_outcome(guard: tuple[Test, ...]) -> tuple[set[Verdict], list[Test]]:
    """The verdicts that a guard admits, and what else it asks for."""
    verdicts = {test.verdict for test in guard if isinstance(test, OutcomeTest)} or set(Verdict)
    return verdicts, [test for test in guard if not isinstance(test, OutcomeTest)]


def _idle_cycles(program: Program) -> Iterator[str]:
    """Nodes without a task never lead back to each other, so passing through them always ends."""
    import networkx as nx  # noqa: PLC0415 (the verifier runs in tests and on demand; importing it takes time)

    idle = {node.id for node in program.nodes if isinstance(node.task, Branch | End)}
    edges = ((node.id, edge.target) for node in program.nodes if node.id in idle for edge in node.edges)
    graph: nx.DiGraph[str] = nx.DiGraph((source, target) for source, target in edges if target in idle)
    if not nx.is_directed_acyclic_graph(graph):
        yield "some branches lead back to each other without a task between"
