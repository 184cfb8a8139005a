"""The verifier: what must hold for every program, after lowering and after each pass (architecture: the IR)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from compiler.ir.program import (
    Add,
    Agent,
    Ask,
    AtLeast,
    Branch,
    CounterTest,
    Effect,
    End,
    Gate,
    KeywordTest,
    Node,
    OutcomeTest,
    Parallel,
    Program,
    Reset,
    Set,
    Shell,
    SlotTest,
    Task,
    Test,
    Tool,
    Verdict,
    scope_members,
)


class InvalidProgramError(Exception):
    """A program that breaks an invariant: a mistake in rdc itself, never in a document."""


def verify(program: Program) -> None:
    """Checks a program; raises `InvalidProgramError` with every invariant that it breaks."""
    rules = (_names, _groups, _references, _registers, _questions, _totality, _idle_cycles)
    problems = [problem for rule in rules for problem in rule(program)]
    if problems:
        raise InvalidProgramError("\n".join(problems))


def _names(program: Program) -> Iterator[str]:
    for kind, names in (
        ("node", [node.id for node in program.nodes]),
        ("group", [group.id for group in program.groups]),
        ("register", [*(register.name for register in program.registers), *(slot.name for slot in program.slots)]),
        ("input", [declared.name for declared in program.inputs]),
    ):
        if len(names) != len(set(names)):
            yield f"two {kind}s share a name"


def _groups(program: Program) -> Iterator[str]:
    """Every group stands in one that is declared before it, so that frames nest."""
    declared = {""}
    for group in program.groups:
        if group.parent not in declared:
            yield f"the group {group.id} stands in {group.parent}, which is not declared before it"
        declared.add(group.id)
    for node in program.nodes:
        if node.group not in declared:
            yield f"{node.id}: the group {node.group} is not declared"


def _references(program: Program) -> Iterator[str]:
    nodes = {node.id for node in program.nodes}
    if not program.sources:
        yield "the program has no source"
    if program.entry not in nodes:
        yield f"the entry {program.entry} is no node"
    for node in program.nodes:
        for edge in node.edges:
            if edge.target not in nodes:
                yield f"{node.id}: an edge leads to {edge.target}, which is no node"


def _registers(program: Program) -> Iterator[str]:
    """Each register is declared, and used as what it is: a counter, a scope of counters, or a slot."""
    declared = {
        "counter": {register.name for register in program.registers},
        "scope": set(scope_members(program.registers)),
        "slot": {slot.name for slot in program.slots},
    }
    for node in program.nodes:
        for kind, name in sorted(set(_used(node))):
            if name not in declared[kind]:
                yield f"{node.id}: the {kind} {name} is not declared"


def _used(node: Node) -> Iterator[tuple[str, str]]:
    """What a node uses, each as the kind of register and its name."""
    yield from (("slot", slot) for slot in _slots(node.task))
    yield from (("counter", variable.register) for variable in node.variables)
    if node.retries:
        yield "counter", node.retries
    for edge in node.edges:
        for test in edge.guard:
            yield from _read(test)
        for effect in edge.effects:
            yield from _touched(effect)


def _slots(task: Task) -> Iterator[str]:
    match task:
        case Ask(slot=slot) | Agent(slot=slot) | Tool(slot=slot):
            if slot is not None:
                yield slot
        case Parallel(entries):
            yield from (entry.slot for entry in entries if entry.slot is not None)
        case Shell() | Gate() | Branch() | End():
            return
        case _:
            assert_never(task)


def _read(test: Test) -> Iterator[tuple[str, str]]:
    match test:
        case CounterTest(register):
            yield "counter", register
        case SlotTest(slot):
            yield "slot", slot
        case OutcomeTest() | KeywordTest():
            return
        case _:
            assert_never(test)


def _touched(effect: Effect) -> Iterator[tuple[str, str]]:
    match effect:
        case Add(register, amount):
            yield "counter", register
            if isinstance(amount, str):
                yield "counter", amount
        case Set(register) | AtLeast(register):
            yield "counter", register
        case Reset(scope):
            yield "scope", scope
        case _:
            assert_never(effect)


def _questions(program: Program) -> Iterator[str]:
    """A choice needs different options, and only a choice has any; a test on a keyword needs an agent that gives it."""
    for node in program.nodes:
        if isinstance(node.task, Ask):
            options = node.task.options
            if (node.task.question == "select") != bool(options) or len(options) != len(set(options)):
                yield f"{node.id}: the options do not fit a question of the kind {node.task.question}"
        known = _keywords(node.task)
        asked = {test.keyword for edge in node.edges for test in edge.guard if isinstance(test, KeywordTest)}
        for keyword in sorted(asked - known):
            yield f"{node.id}: no answer gives the keyword {keyword}"


def _keywords(task: Task) -> set[str]:
    if isinstance(task, Agent):
        return set(task.keywords)
    return {keyword for entry in task.entries for keyword in entry.keywords} if isinstance(task, Parallel) else set()


def _totality(program: Program) -> Iterator[str]:
    """Whatever the outcome, some edge holds: one whose guard asks for nothing more than that outcome."""
    for node in program.nodes:
        if isinstance(node.task, End):
            if len(node.edges) > 1 or any(edge.guard for edge in node.edges):
                yield f"{node.id}: an end goes on in one way or in none"
            continue
        guards = [_without_outcome(edge.guard) for edge in node.edges]
        open_to = {verdict for verdicts, rest in guards if not rest for verdict in verdicts}
        if isinstance(node.task, Branch) and any(_about_outcome(test) for edge in node.edges for test in edge.guard):
            yield f"{node.id}: a branch has no outcome to test"
        if not set(Verdict) <= open_to:
            yield f"{node.id}: there may be no edge to take"


def _about_outcome(test: Test) -> bool:
    return isinstance(test, OutcomeTest | KeywordTest)


def _without_outcome(guard: Iterable[Test]) -> tuple[set[Verdict], list[Test]]:
    """The verdicts that a guard admits, and what else it asks for; two different verdicts admit none."""
    tests = list(guard)
    verdicts = {test.verdict for test in tests if isinstance(test, OutcomeTest)}
    admitted = set(Verdict) if not verdicts else verdicts if len(verdicts) == 1 else set()
    return admitted, [test for test in tests if not isinstance(test, OutcomeTest)]


def _idle_cycles(program: Program) -> Iterator[str]:
    """Nodes without a task never lead back to each other, so passing through them always ends."""
    import networkx as nx  # noqa: PLC0415 (the verifier runs in tests and on demand; importing it takes time)

    idle = {node.id for node in program.nodes if isinstance(node.task, Branch | End)}
    edges = ((node.id, edge.target) for node in program.nodes if node.id in idle for edge in node.edges)
    graph: nx.DiGraph[str] = nx.DiGraph((source, target) for source, target in edges if target in idle)
    if not nx.is_directed_acyclic_graph(graph):
        yield "some branches lead back to each other without a task between"
