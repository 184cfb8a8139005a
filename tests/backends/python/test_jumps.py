"""The operator's jumps by the table and the runtime of a program, held against the semantics (I27)."""

from __future__ import annotations

import random
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.python.edition import has_jumps
from backends.python.step_calls import author_calls
from compiler.ir.program import Program, jumps_of
from compiler.ir.semantics import Machine, Outcome
from compiler.passes import optimize
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import advance, attempt_of, follow
from runtime_shim.operator.jumps import moved, target_of
from runtime_shim.values.slots import keeping
from tests.equivalence.cases import Case
from tests.equivalence.compiled import compiled
from tests.equivalence.strategies import cases

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


@pytest.mark.share(2)
@settings(max_examples=80, suppress_health_check=list(HealthCheck), deadline=None)
@given(cases(), st.integers(0, 1000))
def test_jumps_lead_where_the_semantics_say(case: Case, seed: int) -> None:
    assert compare(compiled(case), random.Random(seed))


def test_what_is_no_step_is_refused() -> None:
    steps = {"1": {"task": "ask"}, "2/a.runbook.md/1": {"task": "shell"}, "STOP": {"task": "end"}}
    assert target_of({"nodes": steps}, "2")["go"] == "2/a.runbook.md/1"
    for name in ("", "STOP", "9", "2/", "1.1"):
        with pytest.raises(UsageError, match="there is no step"):
            target_of({"nodes": steps}, name)


def test_operators_move_runs_of_all_editions_with_values_but_not_those_of_specifications() -> None:
    assert {name for name in EDITIONS if has_jumps(name)} == {"values", "agents"}
