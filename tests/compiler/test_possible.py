"""Which edges a run can take, found without running: against the exact exploration, and on programs made by hand."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.analyses.possible import possible_ways
from compiler.analyses.states import explore
from compiler.ir.program import (
    Add,
    AtLeast,
    Branch,
    CounterTest,
    Edge,
    Effect,
    End,
    Group,
    Node,
    Origin,
    OutcomeTest,
    Program,
    Register,
    Reset,
    Set,
    Shell,
    SourceFile,
    Test,
    Verdict,
)
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.verify import verify
from compiler.passes import optimise
from compiler.passes.remove_impossible_edges import remove_impossible_edges
from compiler.source import Span
from tests.equivalence.cases import Case
from tests.equivalence.compiled import compiled
from tests.equivalence.strategies import cases

PLACE = Origin("x.runbook.md", Span(1, 1, 1, 2))
PASS, FAIL = OutcomeTest(Verdict.PASS), OutcomeTest(Verdict.FAIL)

_many = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# --- Programs of all kinds -------------------------------------------------------------------------------------------

COUNTERS = ("a", "b", "c")
NAMES = ("1", "2", "3", "4", "5")
SCOPES = {"a": "g", "b": "g", "c": ""}

_counters = st.sampled_from(COUNTERS)
_numbers = st.integers(0, 3)
_tests = st.builds(CounterTest, _counters, st.sampled_from(["<", ">=", "="]), _numbers)
_effects: st.SearchStrategy[Effect] = st.one_of(
    st.builds(Set, _counters, _numbers),
    st.builds(Add, _counters, st.sampled_from([1, 2])),
    st.builds(Add, _counters, _counters),
    st.builds(AtLeast, _counters, _numbers),
    st.just(Reset("g")),
)


@st.composite
def edges(draw: st.DrawFn, targets: tuple[str, ...], outcomes: tuple[Test, ...]) -> Edge:
    """An edge that may ask for an outcome and for counters."""
    guard = (*draw(st.lists(st.sampled_from(outcomes), max_size=1) if outcomes else st.just([])),)
    guard += tuple(draw(st.lists(_tests, max_size=2)))
    return Edge(guard, tuple(draw(st.lists(_effects, max_size=2))), draw(st.sampled_from(targets)), "")


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Valid programs: units lead anywhere, branches only to what stands below them."""
    nodes = []
    for place, name in enumerate(NAMES):
        is_branch = draw(st.booleans())
        below = (*NAMES[place + 1 :], "END")
        targets = below if is_branch else (*NAMES, "END")
        chosen = draw(st.lists(edges(targets, () if is_branch else (PASS, FAIL)), max_size=4))
        last = Edge((), tuple(draw(st.lists(_effects, max_size=1))), draw(st.sampled_from(targets)), "")
        task = Branch() if is_branch else Shell("sh", "true")
        nodes.append(Node(name, "", PLACE, task, (*chosen, last), draw(st.sampled_from(["", "g"]))))
    nodes.append(Node("END", "", PLACE, End("complete"), ()))
    registers = tuple(Register(name, scope, draw(_numbers)) for name, scope in SCOPES.items())
    group = Group("g", "", "", "step", "", PLACE)
    return Program("x", "X", (SourceFile("x", "0"),), "1", tuple(nodes), (group,), registers)


@_many
@given(program=programs())
def test_no_edge_that_a_run_takes_is_impossible(program: Program) -> None:
    verify(program)
    agrees_with_exploration(program)


@_many
@given(program=programs(), passed=st.lists(st.booleans(), max_size=25))
def test_any_program_walks_the_same_without_what_is_impossible(program: Program, passed: list[bool]) -> None:
    narrowed = remove_impossible_edges(program)
    verify(narrowed)
    verify(optimise(program))
    assert walked(narrowed, passed) == walked(program, passed)


@_many
@given(case=cases())
def test_no_transition_of_a_runbook_that_a_run_takes_is_impossible(case: Case) -> None:
    agrees_with_exploration(compiled(case))


@_many
@given(case=cases(), passed=st.lists(st.booleans(), max_size=25))
def test_a_runbook_walks_the_same_without_what_is_impossible(case: Case, passed: list[bool]) -> None:
    program = compiled(case)
    narrowed = remove_impossible_edges(program)
    verify(narrowed)
    assert walked(narrowed, passed) == walked(program, passed)


def agrees_with_exploration(program: Program) -> None:
    """Whatever the exploration of states took is among what is possible, with tests that are not always open."""
    nodes, ways = program.index(), possible_ways(program)
    for name, edge in explore(program).first:
        if name in ways:
            possible = [nodes[name].edges[way.place] for way in ways[name]]
            assert edge in possible


def walked(program: Program, passed: list[bool]) -> list[tuple[str, dict[str, int]]]:
    """The nodes of a walk, with the values of all counters at each."""
    machine = Machine(program)
    state = machine.start()
    seen = [(state.node, dict(state.counters))]
    for each in passed:
        if isinstance(machine.nodes[state.node].task, End):
            break
        state = machine.advance(state, Outcome(Verdict.PASS if each else Verdict.FAIL)).state
        seen.append((state.node, dict(state.counters)))
    return seen
