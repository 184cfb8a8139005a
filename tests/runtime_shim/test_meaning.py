"""The walk of the runtime is that of the semantics, for random programs with slots, tests and all effects."""

from __future__ import annotations

from random import Random

import pytest

from backends.python.step_calls import author_calls
from compiler.ir.edges import Add, AtLeast, CounterTest, Reset, Set
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Branch, Task, alphabet
from runtime_shim.engine.walk import advance, filled, follow
from runtime_shim.values.slots import keeping
from tests.support.runtime_programs import (
    Ask,
    Clear,
    Counter,
    Edge,
    Effect,
    Keep,
    Node,
    Program,
    Shell,
    SlotTest,
    Test,
    agent,
    edge,
    node,
    of,
    program,
    sh,
    slot,
    text,
)

SLOTS, COUNTERS, TEXTS = ("a", "b"), ("x", "y"), ("", "one", '{"k": " v "}', "<a>")


def random_program(chance: Random) -> Program:
    """Some nodes; branches lead on only, so that no two lead back to each other."""
    tasks: list[Task] = [
        chance.choice((sh("true"), agent("x", "OK", "BAD"), Branch(), Ask("confirm", text("?")))) for _ in range(6)
    ]
    return program(
        *(random_node(chance, number, task) for number, task in enumerate(tasks)),
        slots=SLOTS,
        counters=tuple(Counter(name, "s") for name in COUNTERS),
        message=of("a is ", slot("a", before="[", after="]", missing="unset")),
    )


def random_node(chance: Random, number: int, task: Task) -> Node:
    idle = isinstance(task, Branch)
    targets = [str(other) for other in range(number + 1 if idle else 0, 6)] + ["COMPLETE", "STOP"]
    edges: list[Edge] = []
    for _ in range(chance.randrange(4)):
        tests = tuple(random_test(chance) for _ in range(chance.randrange(3)))
        word = chance.choice(alphabet(task)) if not idle and chance.random() < 0.7 else None
        edges.append(edge(chance.choice(targets), word, *random_effects(chance, task), tests=tests))
    return node(str(number), task, *edges, edge(chance.choice(targets), None, *random_effects(chance, task)))


def random_test(chance: Random) -> Test:
    if chance.random() < 0.5:
        return SlotTest(chance.choice(SLOTS), chance.choice(("==", "!=")), chance.choice(TEXTS))
    return CounterTest(chance.choice(COUNTERS), chance.choice(("<", ">=", "=")), chance.randrange(3))


def random_effects(chance: Random, task: Task) -> list[Effect]:
    counters = chance.choice(COUNTERS), chance.choice(COUNTERS)
    name = chance.choice(SLOTS)
    known: list[Effect] = [Set(counters[0], 1), Add(*counters), Add(counters[0], 1), AtLeast(counters[0], 2)]
    known += [Reset("s"), Clear(name)]
    if not isinstance(task, Branch):
        known += [Keep(name), Keep(name, extract="k")]
    if isinstance(task, Shell):
        known += [Keep(name, "output", "V")] * 2
    return [chance.choice(known) for _ in range(chance.randrange(4))]


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(40))
def test_walks_are_the_same(seed: int) -> None:
    chance = Random(seed)
    made = random_program(chance)
    machine, entries = Machine(made), author_calls(made).built()
    state, move = machine.start(), follow(entries, {"go": entries["entry"]}, entries["registers"])
    for _ in range(60):
        registers = dict(move.registers)
        assert move.node == state.node
        assert {name: registers[name] for name in SLOTS} == dict(state.slots)
        assert {name: registers[name] for name in COUNTERS} == {name: state.counters[name] for name in COUNTERS}
        end = machine.end(state)
        if end is not None:
            step = entries["nodes"][move.node]
            assert filled(step, step["message"], registers) == str(end.message)
            return
        word, reply = chance.choice(alphabet(machine.nodes[state.node].task)), chance.choice(TEXTS)
        values = (("V", chance.choice(TEXTS)),) if chance.random() < 0.5 else ()
        state = machine.advance(state, Outcome(word, reply, values)).state
        move = advance(entries, move.node, registers, word, keeping(reply, dict(values)))
