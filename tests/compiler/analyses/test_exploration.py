"""Which edges a run can take, found without running: against the exact exploration, and on programs made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compiler.analyses import exploration
from compiler.analyses.domains import find_domains
from compiler.analyses.enumeration import enumerate_states
from compiler.analyses.exploration import explore, kept_retries
from compiler.diagnostics.model import Severity
from compiler.ir.edges import Add, AtLeast, CounterTest, Edge, Effect, Origin, OutcomeTest, Reset, Set, Test
from compiler.ir.program import Counter, Group, Jump, Node, Program, SourceFile, with_jumps, without_jumps
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Branch, End, Shell, Verdict
from compiler.ir.texts import Text, text
from compiler.ir.verify import verify
from compiler.passes import optimize
from compiler.passes.remove_impossible_edges import remove_impossible_edges
from compiler.text.source import Span
from tests.differential.generate.rundown import Drawn, cases, compiled
from tests.support.documents import compiled as compiled_text
from tests.support.documents import findings

PLACE = Origin("x.runbook.md", Span(1, 1, 1, 2))
PASS, FAIL = OutcomeTest(Verdict.PASS), OutcomeTest(Verdict.FAIL)

_many = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


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
    return Edge(guard, tuple(draw(st.lists(_effects, max_size=2))), draw(st.sampled_from(targets)))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Valid programs: steps lead anywhere, branches only to what stands below them."""
    nodes = []
    for place, name in enumerate(NAMES):
        is_branch = draw(st.booleans())
        below = (*NAMES[place + 1 :], "END")
        targets = below if is_branch else (*NAMES, "END")
        chosen = draw(st.lists(edges(targets, () if is_branch else (PASS, FAIL)), max_size=4))
        last = Edge((), tuple(draw(st.lists(_effects, max_size=1))), draw(st.sampled_from(targets)))
        task = Branch() if is_branch else Shell("sh", text("true"))
        nodes.append(Node(name, Text(), PLACE, task, (*chosen, last), draw(st.sampled_from(["", "g"]))))
    nodes.append(Node("END", Text(), PLACE, End("complete"), ()))
    counters = tuple(Counter(name, scope, draw(_numbers)) for name, scope in SCOPES.items())
    group = Group("g", Text(), Text(), "step", "", PLACE)
    return Program("x", "X", (SourceFile("x", "0"),), "1", tuple(nodes), (group,), counters)


@pytest.mark.share(2)
@_many
@given(program=programs())
def test_no_edge_that_a_run_takes_is_impossible(program: Program) -> None:
    verify(program)
    agrees_with_exploration(program)


@pytest.mark.share(2)
@_many
@given(program=programs(), passed=st.lists(st.booleans(), max_size=25))
def test_any_program_walks_the_same_without_what_is_impossible(program: Program, passed: list[bool]) -> None:
    narrowed = remove_impossible_edges(program)
    verify(narrowed)
    verify(optimize(program))
    assert walked(narrowed, passed) == walked(program, passed)


@pytest.mark.share(2)
@_many
@given(case=cases())
def test_no_transition_of_a_runbook_that_a_run_takes_is_impossible(case: Drawn) -> None:
    agrees_with_exploration(compiled(case))


@pytest.mark.share(2)
@_many
@given(case=cases(), passed=st.lists(st.booleans(), max_size=25))
def test_a_runbook_walks_the_same_without_what_is_impossible(case: Drawn, passed: list[bool]) -> None:
    program = compiled(case)
    narrowed = remove_impossible_edges(program)
    verify(narrowed)
    assert walked(narrowed, passed) == walked(program, passed)


def agrees_with_exploration(program: Program) -> None:
    """Whatever the exploration of states took is among what is possible, with tests that are not always open."""
    nodes, found = program.index(), explore(program)
    for name, edge in enumerate_states(program).first:
        assert edge in found.left(nodes[name]).edges


def walked(program: Program, passed: list[bool]) -> list[tuple[str, dict[str, int]]]:
    """The nodes of a path, with the values of all counters at each."""
    machine = Machine(program)
    state = machine.start()
    seen = [(state.node, dict(state.counters))]
    for each in passed:
        if isinstance(machine.nodes[state.node].task, End):
            break
        state = machine.advance(state, Outcome(Verdict.PASS if each else Verdict.FAIL)).state
        seen.append((state.node, dict(state.counters)))
    return seen


# --- By hand ---------------------------------------------------------------------------------------------------------

GOES_AWAY = """\
## 1. A
- PASS: CONTINUE
- FAIL: GOTO Fix
### 1.1 B
- FAIL: GOTO 3
### 1.2 C
{more}
## 2. D
## 3. E
## Fix
"""


def narrowed(folder: Path, text: str) -> Program:
    program = compiled_text(folder, text).program
    assert program
    return remove_impossible_edges(program)


def guards(program: Program, name: str) -> list[tuple[Test, ...]]:
    return [edge.guard for edge in program.index()[name].edges]


def test_an_outcome_that_never_arrives_is_not_asked_for(tmp_path: Path) -> None:
    found = narrowed(tmp_path, GOES_AWAY.format(more=""))
    assert guards(found, "1") == [()], "1.1 leaves the step when it fails, so that no child has failed at its end"
    assert "Fix" in {edge.target for edge in found.index()["1.2"].edges}
    assert optimize(found).counters == ()


def test_an_outcome_that_arrives_by_another_way_is_asked_for(tmp_path: Path) -> None:
    found = narrowed(tmp_path, GOES_AWAY.format(more="").replace("## 3. E", "## 3. E\n- FAIL: GOTO 1.2"))
    assert len(guards(found, "1")) == 1, "a jump from outside restarts the step"
    found = narrowed(tmp_path, GOES_AWAY.format(more="").replace("1.1 B\n- FAIL: GOTO 3", "1.1 B\n- FAIL: GOTO 1.2"))
    assert len(guards(found, "1")) == 2
    kept = GOES_AWAY.replace("1.2 C", "1.2 C\n- FAIL: GOTO 1.1").replace("FAIL: GOTO Fix", "FAIL: GOTO 1.2")
    assert len(guards(narrowed(tmp_path, kept.format(more="")), "1")) == 1, "1.1 has passed where 1.2 follows"


def test_a_step_that_only_an_impossible_transition_leads_to_is_unreachable(tmp_path: Path) -> None:
    text = GOES_AWAY.format(more="- PASS: CONTINUE\n- FAIL: GOTO 3")
    assert findings(compiled_text(tmp_path, text)) == ["RD404 3:3", "RD401 11:4"]
    assert "Fix" not in {node.id for node in optimize(narrowed(tmp_path, text), jumps=False).nodes}


def made(*edges: Edge, values: tuple[int, int] = (1, 2)) -> Program:
    """A step that sets a counter to one of two values, then a step with these edges."""
    first = (Edge((PASS,), (Set("x", values[0]),), "2"), Edge((), (Set("x", values[1]),), "2"))
    nodes = [
        Node("1", Text(), PLACE, Shell("sh", text("true")), first),
        Node("2", Text(), PLACE, Shell("sh", text("true")), edges),
        Node("END", Text(), PLACE, End("complete"), ()),
    ]
    return Program("x", "X", (SourceFile("x", "0"),), "1", tuple(nodes), (), (Counter("x", ""),))


def to_end(*guard: Test) -> Edge:
    return Edge(guard, (), "END")


def test_a_test_that_always_holds_is_dropped_and_what_stands_below_goes() -> None:
    low, high = CounterTest("x", "<", 2), CounterTest("x", ">=", 1)
    program = made(to_end(PASS, CounterTest("x", "=", 0)), to_end(PASS, low), to_end(FAIL, high), to_end())
    found = remove_impossible_edges(program)
    verify(found)
    assert guards(found, "2") == [(PASS, low), (FAIL,), ()]


def test_an_edge_that_the_verifier_needs_to_see_stays() -> None:
    """For each outcome other edges are enough, but only a proof shows that."""
    low, high = CounterTest("x", "<", 1), CounterTest("x", ">=", 1)
    found = remove_impossible_edges(made(to_end(PASS, low), to_end(high), to_end(FAIL, low), to_end(), values=(0, 1)))
    verify(found)
    assert guards(found, "2") == [(PASS, low), (high,), (FAIL,), ()]


def test_a_number_above_zero_can_be_on_both_sides_of_a_test() -> None:
    """It stays possible after the test failed, and for the other tests of a guard in which it held."""
    low, high, more = CounterTest("x", "<", 2), CounterTest("x", ">=", 2), CounterTest("x", ">=", 1)
    assert [*explore(made(to_end(low), to_end(high), to_end())).edges["2"]] == [0, 1, 2]
    assert 0 in explore(made(to_end(low, more), to_end())).edges["2"]


def test_a_jump_leaves_from_groups_inside_groups() -> None:
    """Only inside them is the counter more than zero."""
    groups = tuple(Group(name, Text(), Text(), "step", parent, PLACE) for name, parent in (("g", ""), ("h", "g")))
    shell = Shell("sh", text("true"))
    nodes = (
        Node("1", Text(), PLACE, shell, (Edge((), (Set("x", 1),), "2"),), group="h"),
        Node("2", Text(), PLACE, shell, (Edge((), (Set("x", 0),), "3"),), group="h"),
        Node("3", Text(), PLACE, shell, (to_end(CounterTest("x", ">=", 1)), to_end())),
        Node("END", Text(), PLACE, End("complete"), ()),
    )
    program = Program("x", "X", (SourceFile("x", "0"),), "1", nodes, groups, (Counter("x", ""),))
    assert [*explore(program).edges["3"]] == [1]
    assert [*explore(replace(program, jumps=(Jump("3", "3"),))).edges["3"]] == [0, 1]


def test_nothing_is_said_of_counters_that_may_fall_below_zero() -> None:
    sinking = Edge((PASS,), (Add("x", -2),), "2")
    program = made(sinking, to_end(CounterTest("x", "=", 0)), to_end())
    assert remove_impossible_edges(program) is program


def test_the_count_of_a_retry_that_is_added_to_another_counter_is_still_asked_for() -> None:
    again = Edge((FAIL, CounterTest("x", "<", 3)), (Add("x", 1),), "1")
    nodes = (
        Node("1", Text(), PLACE, Shell("sh", text("true")), (again, Edge((), (Add("sum", "x"),), "2"))),
        Node("2", Text(), PLACE, Branch(), (to_end(CounterTest("sum", ">=", 1)), to_end())),
        Node("END", Text(), PLACE, End("complete"), ()),
    )
    program = Program("x", "X", (SourceFile("x", "0"),), "1", nodes, (), (Counter("x", ""), Counter("sum", "")))
    assert remove_impossible_edges(program) == program


# --- Size ------------------------------------------------------------------------------------------------------------


def steps(count: int) -> str:
    step = "## {n}. A\n- FAIL: STOP no\n### {n}.1 B\n- FAIL: GOTO {end}\n### {n}.2 C\n- FAIL: RETRY 2 CONTINUE\n"
    return "".join(step.format(n=n, end=count + 1) for n in range(1, count + 1)) + f"## {count + 1}. End\n"


def substeps(count: int) -> str:
    """One step, each substep of which goes back to the first one: a loop that grows with every substep."""
    children = "".join(f"### 1.{n} B\n- FAIL: GOTO 1.1\n" for n in range(2, count + 1))
    return "## 1. A\n- FAIL: STOP no\n### 1.1 B\n- FAIL: CONTINUE\n" + children


@pytest.mark.share(2)
@pytest.mark.parametrize("jumps", [with_jumps, without_jumps])
@pytest.mark.parametrize("document", [steps, substeps])
def test_the_effort_grows_with_the_document(
    document: Callable[[int], str], jumps: Callable[[Program], Program], tmp_path: Path
) -> None:
    efforts = []
    for count in (100, 1000):
        compilation = compiled_text(tmp_path, document(count))
        assert compilation.program
        program = jumps(compilation.program)
        search = exploration._Search(program, find_domains(program))
        assert search.run()
        efforts.append(search.effort)
    assert efforts[1] < 11 * efforts[0]


@pytest.mark.parametrize("limit", ["LARGEST", "EFFORT"])
def test_what_takes_too_long_is_left_as_it_is(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compiled_text(tmp_path, steps(3)).program
    assert program
    assert remove_impossible_edges(program) != program
    monkeypatch.setattr(exploration, limit, 0)
    program = replace(program)  # nothing is known of it yet
    assert remove_impossible_edges(program) is program


def test_nothing_is_concluded_from_half_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has not seen all values yet, wherever it stops."""
    program = compiled_text(tmp_path, steps(3)).program
    assert program
    whole = exploration._Search(program, find_domains(program))
    assert whole.run()
    edges = sum(len(node.edges) for node in program.nodes)
    for effort in range(whole.effort):
        monkeypatch.setattr(exploration, "EFFORT", effort / edges)
        fresh = replace(program)
        if not explore(fresh).is_complete:
            assert remove_impossible_edges(fresh) is fresh, effort
    assert effort > edges, "the search visits nodes again"


def test_a_search_that_is_given_up_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiled_text(tmp_path, steps(3)).diagnostics
    monkeypatch.setattr(exploration, "EFFORT", 0)
    [note] = set(compiled_text(tmp_path, steps(3)).diagnostics) - set(before)
    assert (note.code, note.severity) == ("RD411", Severity.NOTE)


def checks(count: int) -> str:
    """A step with as many marks as substeps: its states double with each, so that no search of single states ends."""
    children = "".join(f"### 1.{n} B\n- FAIL: CONTINUE\n" for n in range(1, count + 1))
    return f"## 1. A\n- PASS ALL: COMPLETE\n- FAIL ANY: GOTO 2\n{children}## 2. Report\n"


def test_marks_do_not_multiply(tmp_path: Path) -> None:
    compilation = compiled_text(tmp_path, checks(40))
    assert compilation.program
    assert {found.code for found in compilation.diagnostics} == {"RD118"}, "nothing says that it gave up"
    search = exploration._Search(compilation.program, find_domains(compilation.program))
    assert search.run()
    assert search.effort < 4 * sum(len(node.edges) for node in compilation.program.nodes)


# --- Counters of retries ---------------------------------------------------------------------------------------------


def retried(*leaving: Effect) -> Program:
    """A step that is retried and then left with some effects."""
    again = Edge((FAIL, CounterTest("x", "<", 3)), (Add("x", 1),), "1")
    nodes = (
        Node("1", Text(), PLACE, Shell("sh", text("true")), (again, Edge((), leaving, "2")), retries="x"),
        Node("2", Text(), PLACE, Shell("sh", text("true")), (to_end(),)),
        Node("END", Text(), PLACE, End("complete"), ()),
    )
    return Program("x", "X", (SourceFile("x", "0"),), "1", nodes, (), (Counter("x", "", role="retries"),))


def test_a_count_that_is_zero_elsewhere_needs_no_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept_retries(retried(Set("x", 0))) == frozenset()
    assert kept_retries(retried()) == {"x"}
    assert kept_retries(made(to_end())) == frozenset()
    assert kept_retries(retried(Set("x", 0), Set("x", -1))) == {"x"}, "nothing is known of what may fall below zero"
    monkeypatch.setattr(exploration, "EFFORT", 0)
    assert kept_retries(retried(Set("x", 0))) == {"x"}


@_many
@given(case=cases(), passed=st.lists(st.booleans(), max_size=40))
def test_a_count_without_its_own_name_is_zero_wherever_else_a_run_waits(case: Drawn, passed: list[bool]) -> None:
    program = without_jumps(compiled(case))
    nodes, kept = program.index(), kept_retries(program)
    every = {node.retries for node in program.nodes if node.retries}
    for name, counters in walked(program, passed):
        others = every - kept - {nodes[name].retries}
        assert not any(counters[counter] for counter in others) or isinstance(nodes[name].task, End)
