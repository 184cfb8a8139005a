"""Jumps of an operator (I27) in programs that passes have shortened: each run goes on as it would have without them."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compiler.ir.program import Entering, Jump, Program, jumps_of
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.tasks import End, Verdict
from compiler.ir.verify import verify
from compiler.passes import optimize
from tests.compiler.random_programs import COUNTERS, EFFECTS, NAMES, programs
from tests.differential.generate.rundown import Drawn, cases, compiled
from tests.support.documents import compiled as compiled_text

_many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])

moves = st.lists(st.sampled_from(Verdict) | st.integers(0, 40), max_size=25)
"""What happens in a run: outcomes, and jumps to a step by its number."""


def walked(program: Program, names: list[str], happens: list[Verdict | int]) -> list[tuple[object, ...]]:
    """What is seen of a run: where it stands, the attempt, the instances, and how it ends."""
    machine = Machine(program)
    state = machine.start()
    seen = [_shown(machine, state)]
    for each in happens:
        end = machine.nodes[state.node].task
        if isinstance(end, End) and (end.result == "complete" or isinstance(each, Verdict)):
            continue
        if isinstance(each, Verdict):
            state = machine.advance(state, Outcome(each)).state
        else:
            state = machine.jump(state, names[each % len(names)])
        seen.append(_shown(machine, state))
    return seen


def _shown(machine: Machine, state: State) -> tuple[object, ...]:
    end = machine.end(state)
    return state.node, machine.attempt(state), machine.instances(state), end and (end.result, str(end.message))


def walks_alike(program: Program, happens: list[Verdict | int]) -> None:
    verify(program)
    optimized = optimize(program)
    verify(optimized)
    names = sorted(jumps_of(program))
    assert set(names) <= set(jumps_of(optimized))
    assert walked(optimized, names, happens) == walked(program, names, happens)


@pytest.mark.most(10)
@_many
@given(case=cases(), happens=moves)
def test_a_runbook_goes_on_alike_wherever_its_operator_takes_it(case: Drawn, happens: list[Verdict | int]) -> None:
    walks_alike(compiled(case), happens)


@st.composite
def jumping_programs(draw: st.DrawFn) -> Program:
    """Valid programs with jumps of all kinds, some of them written out; counters are shown, so that none is idle."""
    program, effects = draw(programs()), st.lists(EFFECTS, max_size=2).map(tuple)
    steps = draw(st.lists(st.sampled_from((*NAMES, "g")), unique=True, max_size=4))
    entering = st.lists(st.builds(Entering, st.just("g"), effects), max_size=1).map(tuple)
    jumps = tuple(Jump(step, draw(st.sampled_from(NAMES)), draw(entering), draw(effects)) for step in steps)
    nodes = tuple(replace(node, retries=draw(st.sampled_from([None, *COUNTERS]))) for node in program.nodes)
    return replace(program, nodes=nodes, jumps=jumps)


@_many
@given(program=jumping_programs(), happens=moves)
def test_a_program_goes_on_alike_wherever_its_operator_takes_it(program: Program, happens: list[Verdict | int]) -> None:
    walks_alike(program, happens)


MARKED = (
    "## 1. A\n- PASS: GOTO 2\n- FAIL: GOTO 3\n### 1.1 B\n- FAIL: CONTINUE\n### 1.2 C\n- FAIL: CONTINUE\n"
    "## 2. D\n## 3. E\n## Cleanup F\n"
)


def program_of(folder: Path, text: str, files: dict[str, str] | None = None) -> Program:
    found = compiled_text(folder, text, files).program
    assert found
    return found


def test_what_only_a_run_with_a_jump_takes_stays(tmp_path: Path) -> None:
    program = program_of(tmp_path, MARKED)
    assert "Cleanup" in optimize(program).index()
    assert "Cleanup" not in optimize(program, jumps=False).index(), "no jumps are offered"
    text = MARKED.replace("### 1.1 B\n", "### 1.1 B\n- PASS: GOTO 3\n").replace(
        "### 1.2 C\n- FAIL: CONTINUE\n", "### 1.2 C\n"
    )
    machine = Machine(optimize(program_of(tmp_path, text)))
    state = machine.jump(machine.start(), "1.2")
    assert machine.advance(state, Outcome(Verdict.PASS)).state.node == "2"
    state = machine.advance(machine.start(), Outcome(Verdict.FAIL)).state
    assert machine.advance(machine.jump(state, "1.2"), Outcome(Verdict.PASS)).state.node == "3"


@pytest.mark.parametrize("step", ["1", "1/a.runbook.md"])
def test_a_nested_runbook_is_entered_afresh_though_its_entry_is_threaded(step: str, tmp_path: Path) -> None:
    inner = "# A\n## 1. A\n```sh\ntrue\n```\n- FAIL: RETRY 1 STOP\n## 2. B\n"
    program = program_of(tmp_path, "# M\n## 1. N\n- a.runbook.md\n- FAIL: STOP\n## 2. O\n", {"a.runbook.md": inner})
    for each in (program, optimize(program)):
        machine = Machine(each)
        state = machine.advance(machine.start(), Outcome(Verdict.FAIL)).state
        assert machine.attempt(state) == 2
        state = machine.jump(machine.jump(state, "2"), step)
        assert (state.node, machine.attempt(state)) == ("1/a.runbook.md/1", 1)
