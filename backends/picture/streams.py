"""The data that flows between steps: answers that later steps read, if their author named them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from backends.picture.captions import Lines, wrapped
from backends.picture.naming import is_named, one_line
from compiler.ir.edges import Clear, Keep, SlotTest
from compiler.ir.graph import reached_from
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import End, agents_of
from compiler.ir.texts import Text

MOST_LOOKED_AT = 1_000_000
"""In edges. A program too large to draw shows no data flow."""


class Stream(Struct, frozen=True):
    """The slots, by name, that one box writes and another one reads."""

    source: str
    target: str
    names: tuple[str, ...]

    @property
    def lines(self) -> Lines:
        """The label: the names in lines."""
        return wrapped(", ".join(map(one_line, self.names)))


def streams(program: Program) -> Iterator[Stream]:
    """Yield all streams, ordered by the boxes that write, then by those that read. Ends may be drawn twice."""
    if not program.slots:
        return
    kept = {node.id: _kept(node) for node in program.nodes}
    written = sum(map(len, kept.values()))
    if not written or written * sum(len(node.edges) for node in program.nodes) > MOST_LOOKED_AT:
        return
    index = program.index()
    above = _in_contexts(program)
    read = {node.id: _read(node, above) for node in program.nodes if not isinstance(node.task, End)}
    for node in program.nodes:
        found: dict[str, list[str]] = {}
        for slot in kept[node.id]:
            for reader in _readers(index, node, slot):
                if slot in read.get(reader, ()):
                    found.setdefault(reader, []).append(slot)
        yield from (Stream(node.id, other.id, tuple(found[other.id])) for other in program.nodes if other.id in found)


def _kept(node: Node) -> tuple[str, ...]:
    """Return the named slots that an answer is kept in."""
    effects = (effect for edge in node.edges for effect in edge.effects)
    return tuple(
        dict.fromkeys(
            effect.slot
            for effect in effects
            if isinstance(effect, Keep) and effect.of == "answer" and is_named(effect.slot)
        )
    )


def _read(node: Node, above: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the slots that an author names in a node's strings, in its context, or in conditions on its edges."""
    named = _named(texts_of(node)).union(*(above[agent.context] for agent in agents_of(node.task)))
    return named | {test.slot for edge in node.edges for test in edge.guard if isinstance(test, SlotTest)}


def _in_contexts(program: Program) -> Mapping[str, frozenset[str]]:
    """Return the slots that an author names in each context (I31)."""
    found: dict[str, frozenset[str]] = {"": frozenset()}
    for context in program.contexts:
        found[context.name] = found[context.after] | _named([context.text])
    return found


def _named(texts: Iterable[Text]) -> frozenset[str]:
    return frozenset(item.register for written in texts for item in written.references if item.written)


def _readers(index: Mapping[str, Node], writer: Node, slot: str) -> Collection[str]:
    """Return the nodes that a run can reach before another value is kept in the slot."""

    def onward(name: str) -> Iterator[str]:
        for edge in index[name].edges:
            if not any(_is_of(effect, slot) or effect == Clear(slot) for effect in edge.effects):
                yield edge.target

    starts = (edge.target for edge in writer.edges if any(_is_of(effect, slot) for effect in edge.effects))
    return reached_from(starts, onward)


def _is_of(effect: object, slot: str) -> bool:
    return isinstance(effect, Keep) and effect.slot == slot
