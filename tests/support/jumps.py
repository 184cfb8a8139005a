"""The operator's jumps by the table and the runtime of a program, held against the semantics (I27)."""

import random
from typing import cast

from backends.python.step_calls import author_calls
from compiler.ir.program import Program, jumps_of
from compiler.ir.semantics import Machine, Outcome
from compiler.passes import optimize
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import advance, attempt_of, follow
from runtime_shim.operator.jumps import moved
from runtime_shim.values.slots import keeping

STEPS = 40


class Standing:
    """Where a run stands, as `moved` looks at it."""

    def __init__(self, node: str, registers: dict[str, object]) -> None:
        self.node, self.registers = node, registers


def compare(program: Program, moments: random.Random) -> int:
    """Path with outcomes and jumps at random, by the semantics and by the table; returns how many jumps there were."""
    machine, made = Machine(program), author_calls(optimize(program)).built()
    names, jumped = sorted(jumps_of(program)), 0
    state = machine.start()
    begin = follow(made, {"go": made["entry"]}, made["registers"])
    node, registers = begin.node, dict(begin.registers)
    for _ in range(STEPS):
        assert node == state.node
        if machine.end(state) is None:
            assert attempt_of(made["nodes"][node], registers) == machine.attempt(state)
        if machine.end(state) or moments.random() < 0.3:
            name = moments.choice(names)
            state = machine.jump(state, name)
            move = moved(made, cast("State", Standing(node, registers)), name)
            jumped += 1
        else:
            word = moments.choice(("pass", "fail"))
            state = machine.advance(state, Outcome(word)).state
            move = advance(made, node, registers, word, keeping("", {}))
        node, registers = move.node, dict(move.registers)
    return jumped
