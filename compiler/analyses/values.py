"""Estimate which steps read and write slots, which outputs are read too early or never, and how often steps run.

Any command may read and write any output of its document. The names in it show its probable use: it writes NAME if it
contains `RDC_OUTPUT` and `NAME=` or `NAME<<`, and reads NAME if it contains it otherwise.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from compiler.analyses.domains import may_fall
from compiler.ir.edges import Add, AtLeast, Clear, CounterTest, Edge, Keep, Reset, SlotTest, counter_effects
from compiler.ir.graph import loop_regions, reached_from
from compiler.ir.program import Node, Program, scope_members, texts_of
from compiler.ir.tasks import Ask, Shell, agents_of
from compiler.text.regex import Regex

OUTPUT = "RDC_OUTPUT"
"""The variable with the name of the output file."""

_NAME = Regex(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)(=(?!=)|<<(?!<))?")


_BEFORE_OTHERS = frozenset("${-.")
"""Characters before a name that is not written: `${name=…}`, `--name=…`, `--set image.name=…`."""


class Names(Struct, frozen=True):
    """The names in a command: the ones that are assigned, and the others."""

    given: frozenset[str]
    used: frozenset[str]


class ValueFlow(Struct, frozen=True):
    """The slots that each node reads and writes, by node id.

    `used` are the slots that any text or command mentions. `seen` are the slots whose writers are visible in commands.
    """

    reads: Mapping[str, tuple[str, ...]]
    writes: Mapping[str, tuple[str, ...]]
    used: frozenset[str]
    seen: frozenset[str] = frozenset()


def value_flow(program: Program) -> ValueFlow:
    """Return which nodes read and write which slots."""
    if not program.slots:
        return ValueFlow({}, {}, frozenset())
    slots, names = {slot.name for slot in program.slots}, _names_of_commands(program)
    sure = _sure_writers(program, names)
    writes = {node.id: tuple(dict.fromkeys(_written(node, names, sure))) for node in program.nodes}
    known = _in_contexts(program, slots)
    reads: dict[str, tuple[str, ...]] = {}
    for node in program.nodes:
        above = chain.from_iterable(known[agent.context] for agent in agents_of(node.task))
        referred = [name for name in _referred(node) if name in slots]
        given = [name for name in _given(node, names) if name in slots]
        own = {name for name in writes[node.id] if node.id in sure.get(name, ())}
        reads[node.id] = tuple(dict.fromkeys((*above, *referred, *(name for name in given if name not in own))))
    return ValueFlow(reads, writes, _used(program, names), frozenset(sure))


def _names_of_commands(program: Program) -> dict[str, Names]:
    return {node.id: _names(node.task) for node in program.nodes if isinstance(node.task, Shell)}


def _used(program: Program, names: Mapping[str, Names]) -> frozenset[str]:
    """Return the registers that any text or command mentions; each context is read once."""
    shown = (text for group in program.groups for text in (group.title, group.prompt))
    used = {item.register for text in shown for item in text.references}
    contexts = {context.name: context for context in program.contexts}
    for node in program.nodes:
        used.update(_referred(node), _given(node, names))
        for agent in agents_of(node.task):
            context = contexts.pop(agent.context, None)
            while context:
                used.update(item.register for item in context.text.references)
                context = contexts.pop(context.after, None)
    return frozenset(used)


def unread_inputs(program: Program) -> Iterator[str]:
    """Yield the inputs that no text, command or condition mentions."""
    if not program.inputs:
        return
    tested = {
        test.slot for node in program.nodes for edge in node.edges for test in edge.guard if isinstance(test, SlotTest)
    }
    artifact = {item.register for item in program.artifact.type.references} if program.artifact else set[str]()
    used = {*_used(program, _names_of_commands(program)), *tested, *artifact}
    yield from (declared.name for declared in program.inputs if declared.name not in used)


def read_too_early(program: Program, flow: ValueFlow) -> Iterator[tuple[Node, str]]:
    """Yield each node with an output that it reads before any node can have written it."""
    given = {declared.name for declared in program.inputs}
    for slot in (item.name for item in program.slots if item.initial is None and item.name not in given):
        written = _led_to(program, slot, [node for node in program.nodes if _can_write(node, slot, flow)])
        yield from ((n, slot) for n in program.nodes if slot in flow.reads[n.id] and n.id not in written)


def _can_write(node: Node, slot: str, flow: ValueFlow) -> bool:
    return slot in flow.writes[node.id] if slot in flow.seen else any(keep.slot == slot for keep in _kept(node))


def _led_to(program: Program, slot: str, writers: Iterable[Node]) -> set[str]:
    index = program.index()

    def onward(node: Node) -> list[str]:
        return [edge.target for edge in node.edges if Clear(slot) not in edge.effects]

    starts = (name for writer in writers for name in onward(_keeping(writer, slot)))
    return {*reached_from(starts, lambda name: onward(index[name]))}


def _keeping(node: Node, slot: str) -> Node:
    """Return a node with only the edges that keep a slot: a question has a value only after PASS."""
    return replace(
        node, edges=tuple(edge for edge in node.edges if any(e.kind == "keep" and e.slot == slot for e in edge.effects))
    )


def _names(task: Shell) -> Names:
    given: set[str] = set()
    used: set[str] = set()
    command = str(task.command).replace("\\n", "\n")  # printf 'one=%s\ntwo=%s\n' assigns two
    for match in _NAME.finditer(command):
        is_other = command[max(0, match.start() - 1) : match.start()] in _BEFORE_OTHERS
        (given if match[2] and not is_other else used).add(match[1])
    return Names(frozenset(given), frozenset(used))


def _kept(node: Node) -> list[Keep]:
    effects = (effect for edge in node.edges for effect in edge.effects)
    return list(dict.fromkeys(effect for effect in effects if isinstance(effect, Keep)))


def _sure_writers(program: Program, names: Mapping[str, Names]) -> dict[str, set[str]]:
    """Return the nodes that visibly write each slot: commands with its name, and questions for a value."""
    found: dict[str, set[str]] = {}
    for node in program.nodes:
        asks = isinstance(node.task, Ask) and node.task.value
        for keep in _kept(node) if asks or node.id in names else ():
            if asks or (keep.of == "output" and keep.name in names[node.id].given and OUTPUT in names[node.id].used):
                found.setdefault(keep.slot, set()).add(node.id)
    return found


def _written(node: Node, names: Mapping[str, Names], sure: Mapping[str, set[str]]) -> Iterator[str]:
    likely = [name for name, found in names.items() if OUTPUT in found.used] or names
    for keep in _kept(node):
        if keep.of == "answer" or node.id in (sure.get(keep.slot) or likely):
            yield keep.slot


def _referred(node: Node) -> Iterator[str]:
    return (reference.register for text in texts_of(node) for reference in text.references)


def _in_contexts(program: Program, slots: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the slots that each context refers to, including outer contexts (I31)."""
    found: dict[str, tuple[str, ...]] = {"": ()}
    for context in program.contexts:
        own = (item.register for item in context.text.references if item.register in slots)
        found[context.name] = (*found[context.after], *own)
    return found


def _given(node: Node, names: Mapping[str, Names]) -> Iterator[str]:
    """Yield the registers that a node passes to its call; for a command, only those that it mentions."""
    used = names[node.id].used if node.id in names else None
    return (item.register for item in node.variables if used is None or item.name in used)


def most_visits(program: Program) -> Mapping[str, int | None]:
    """Return the most visits of each node in a run, or None for a loop that no counter bounds.

    A run can take the bounded edges of a loop only so often. Without them, the loop falls apart into smaller ones.
    """
    found: dict[str, int | None] = dict.fromkeys(program.index(), 1)
    scopes = scope_members(program.counters)
    members = None if may_fall(program) else {scope: {one.name for one in several} for scope, several in scopes.items()}
    pending: list[tuple[Sequence[Node], int]] = [(program.nodes, 1)]
    while pending:
        for region, bounded, most in _loops(*pending.pop(), members):
            found |= dict.fromkeys((node.id for node in region), most)
            if most is not None:
                pending.append(([_without(node, bounded.keys()) for node in region], most))
    return found


def _loops(
    nodes: Sequence[Node], times: int, members: Mapping[str, set[str]] | None
) -> Iterator[tuple[Sequence[Node], Mapping[str, int], int | None]]:
    """Yield the loops among nodes that a run enters so many times: nodes, bounded counters, and the most visits."""
    for region in loop_regions({node.id: {edge.target: None for edge in node.edges} for node in nodes}):
        inside = [_within(node, region) for node in nodes if node.id in region]
        bounded = {} if members is None else _bounded([edge for node in inside for edge in node.edges], members)
        yield inside, bounded, times * (1 + sum(bounded.values())) if bounded else None


def _within(node: Node, region: frozenset[str]) -> Node:
    return replace(node, edges=tuple(edge for edge in node.edges if edge.target in region))


def _without(node: Node, bounded: Iterable[str]) -> Node:
    return replace(node, edges=tuple(edge for edge in node.edges if _counted(edge).isdisjoint(bounded)))


def _bounded(edges: Sequence[Edge], members: Mapping[str, set[str]]) -> dict[str, int]:
    """Return how often a run can take the edges that count in a register and test it, if it only rises."""
    falls = {name for edge in edges for name in _falling(edge, members)}
    found: dict[str, int] = {}
    for edge in edges:
        for test in edge.guard:
            if isinstance(test, CounterTest) and test.operator == "<" and test.register in _counted(edge) - falls:
                found[test.register] = max(test.value, found.get(test.register, 0))
    return found


def _counted(edge: Edge) -> set[str]:
    tested = {test.register for test in edge.guard if isinstance(test, CounterTest) and test.operator == "<"}
    return {effect.register for effect in edge.effects if isinstance(effect, Add) and effect.amount == 1} & tested


def _falling(edge: Edge, members: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the counters that may be lower after an edge. No counter is ever less than zero."""
    for effect in counter_effects(edge.effects):
        if isinstance(effect, Reset):
            yield from members.get(effect.scope, ())
        elif not isinstance(effect, Add | AtLeast):
            yield effect.register
