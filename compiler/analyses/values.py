"""Which steps read and write texts, as far as that can be seen, and outputs that are read too early or never (E2).

Any command may write any output of its document, and read any. The names in it show what it probably does: it writes
NAME where it mentions `RDC_OUTPUT` and has `NAME=` or `NAME<<`, and reads NAME where it mentions it otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from msgspec import Struct

from compiler.ir.edges import Clear, Keep, SlotTest
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import Shell, agents_of
from compiler.regex import Regex

OUTPUT = "RDC_OUTPUT"
"""The variable that names the file for outputs."""

_NAME = Regex(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)(=(?!=)|<<(?!<))?")


_BEFORE_OTHERS = frozenset("${-.")
"""What stands before a name that is not written: `${name=…}`, `--name=…`, `--set image.name=…`."""


class Names(Struct, frozen=True):
    """The names in a command: those that it gives something, and those that stand there otherwise."""

    given: frozenset[str]
    used: frozenset[str]


class ValueFlow(Struct, frozen=True):
    """The slots that each node reads and writes, by its id.

    `used` are all that some text or command mentions, `seen` those of which it can be seen which commands write them.
    """

    reads: Mapping[str, tuple[str, ...]]
    writes: Mapping[str, tuple[str, ...]]
    used: frozenset[str]
    seen: frozenset[str] = frozenset()


def value_flow(program: Program) -> ValueFlow:
    """Who reads and who writes which slots."""
    if not program.slots:
        return ValueFlow({}, {}, frozenset())
    slots = {slot.name for slot in program.slots}
    names = _names_of_commands(program)
    sure = _sure_writers(program, names)
    writes = {node.id: tuple(dict.fromkeys(_written(node, names, sure))) for node in program.nodes}
    known = _in_contexts(program, slots)
    reads: dict[str, tuple[str, ...]] = {}
    for node in program.nodes:
        above = chain.from_iterable(known[agent.context] for agent in agents_of(node.task))
        referred = [name for name in _referred(node) if name in slots]
        given = [name for name in _given(node, names) if name in slots]
        own = {name for name in writes[node.id] if node.id in sure.get(name, ())}
        read = dict.fromkeys((*above, *referred, *(name for name in given if name not in own)))
        reads[node.id] = tuple(read)
    return ValueFlow(reads, writes, _used(program, names), frozenset(sure))


def _names_of_commands(program: Program) -> dict[str, Names]:
    """The names in each command, by the id of its step."""
    return {node.id: _names(node.task) for node in program.nodes if isinstance(node.task, Shell)}


def _used(program: Program, names: Mapping[str, Names]) -> frozenset[str]:
    """The registers that some text or command mentions; a context is read once, however many steps are below it."""
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
    """The inputs that no text, command or condition of a program mentions."""
    if not program.inputs:
        return
    tested = {
        test.slot for node in program.nodes for edge in node.edges for test in edge.guard if isinstance(test, SlotTest)
    }
    artifact = {item.register for item in program.artifact.type.references} if program.artifact else set[str]()
    names = _names_of_commands(program)
    used = {*_used(program, names), *tested, *artifact}
    yield from (declared.name for declared in program.inputs if declared.name not in used)


def read_too_early(program: Program, flow: ValueFlow) -> Iterator[tuple[Node, str]]:
    """Each node with an output that it reads and that no node can have written by then."""
    given = {declared.name for declared in program.inputs}
    for slot in (item.name for item in program.slots if item.initial is None and item.name not in given):
        written = _led_to(program, slot, [node for node in program.nodes if _can_write(node, slot, flow)])
        yield from ((n, slot) for n in program.nodes if slot in flow.reads[n.id] and n.id not in written)


def _can_write(node: Node, slot: str, flow: ValueFlow) -> bool:
    """Whether a node writes a slot as far as can be seen; a script that it calls may, where that is not seen at all."""
    return slot in flow.writes[node.id] if slot in flow.seen else any(keep.slot == slot for keep in _kept(node))


def _led_to(program: Program, slot: str, writers: Iterable[Node]) -> set[str]:
    """The nodes that a run can come to after one of some nodes, without the slot being cleared on the way."""
    index = program.index()
    found: set[str] = set()
    pending = list(writers)
    while pending:
        for edge in pending.pop().edges:
            if edge.target not in found and Clear(slot) not in edge.effects:
                found.add(edge.target)
                pending.append(index[edge.target])
    return found


# --- Commands --------------------------------------------------------------------------------------------------------


def _names(task: Shell) -> Names:
    given: set[str] = set()
    used: set[str] = set()
    command = str(task.command).replace("\\n", "\n")  # printf 'one=%s\ntwo=%s\n' gives two
    for match in _NAME.finditer(command):
        is_other = command[max(0, match.start() - 1) : match.start()] in _BEFORE_OTHERS
        (given if match[2] and not is_other else used).add(match[1])
    return Names(frozenset(given), frozenset(used))


def _kept(node: Node) -> list[Keep]:
    effects = (effect for edge in node.edges for effect in edge.effects)
    return list(dict.fromkeys(effect for effect in effects if isinstance(effect, Keep)))


def _sure_writers(program: Program, names: Mapping[str, Names]) -> dict[str, set[str]]:
    """For each slot the commands in which it can be seen that they write it."""
    found: dict[str, set[str]] = {}
    for node in program.nodes:
        for keep in _kept(node) if node.id in names else ():
            if keep.of == "output" and keep.name in names[node.id].given and OUTPUT in names[node.id].used:
                found.setdefault(keep.slot, set()).add(node.id)
    return found


def _written(node: Node, names: Mapping[str, Names], sure: Mapping[str, set[str]]) -> Iterator[str]:
    for keep in _kept(node):
        if keep.of == "answer" or node.id in (sure.get(keep.slot) or _likely_writers(names)):
            yield keep.slot


def _likely_writers(names: Mapping[str, Names]) -> Iterable[str]:
    """The commands that may write an output of which nothing can be seen: those that mention the file, else all."""
    return [name for name, found in names.items() if OUTPUT in found.used] or names


def _referred(node: Node) -> Iterator[str]:
    return (reference.register for text in texts_of(node) for reference in text.references)


def _in_contexts(program: Program, slots: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """The slots that the whole of each context refers to (I31)."""
    found: dict[str, tuple[str, ...]] = {"": ()}
    for context in program.contexts:
        own = (item.register for item in context.text.references if item.register in slots)
        found[context.name] = (*found[context.after], *own)
    return found


def _given(node: Node, names: Mapping[str, Names]) -> Iterator[str]:
    """The registers that a node gives to what it calls; of those of a command the ones that it mentions."""
    used = names[node.id].used if node.id in names else None
    return (item.register for item in node.variables if used is None or item.name in used)
