"""The semantics of the compiled program against the oracle: the same walk, before and after all passes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from compiler.driver import compile_file
from compiler.ir.program import Ask, End, Program, Shell, Verdict
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.verify import verify
from compiler.passes import optimise

from .cases import LIMIT, MAIN, Case
from .strategies import cases
from .visits import Visit, Walk

EXAMPLES = 300


def compiled(case: Case) -> Program:
    """The program of a case, which must have no errors."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        for path, text in case.documents().items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
        compilation = compile_file(str(Path(folder) / MAIN))
    assert compilation.program, compilation.diagnostics
    return compilation.program


def walk_of(program: Program, case: Case, limit: int = LIMIT) -> Walk:
    """The walk of a program by the semantics, in the oracle's terms."""
    machine = Machine(program)
    state = machine.start()
    visits: list[tuple[Visit, bool]] = []
    while True:
        node = machine.nodes[state.node]
        if isinstance(node.task, End):
            return Walk(tuple(visits), (node.task.result.upper(), machine.text(state, node.task.message)))
        if len(visits) == limit:
            return Walk(tuple(visits), None)
        assert isinstance(node.task, Shell | Ask)
        instances = {variable.name: state.counters[variable.register] for variable in node.variables}
        visit = Visit(
            node.id,
            machine.attempt(state),
            instances.get("RDC_STEP_INSTANCE"),
            instances.get("RDC_SUBSTEP_INSTANCE"),
            len(visits),
            is_command=isinstance(node.task, Shell),
        )
        passed = case.outcomes(visit)
        visits.append((visit, passed))
        state = machine.advance(state, Outcome(Verdict.PASS if passed else Verdict.FAIL)).state


def comparable(walk: Walk) -> object:
    """A walk without the index and the file, which the label says too."""
    steps = [
        (v.label, v.attempt, v.step_instance, v.substep_instance, v.is_command, passed) for v, passed in walk.visits
    ]
    return steps, walk.end


@pytest.mark.parametrize("passes", [False, True], ids=["lowered", "optimised"])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_walks_are_those_of_the_oracle(passes: bool, case: Case) -> None:
    program = compiled(case)
    verify(program)
    if passes:
        program = optimise(program)
        verify(program)
    assert comparable(walk_of(program, case)) == comparable(case.walk())
