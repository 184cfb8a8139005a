"""Which edges a run can take, how often it visits a node, and all paths: against the exact search, and by hand."""

import dataclasses
import random
from collections import Counter as Tally
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compiler.analyses import exploration
from compiler.analyses.coverage import coverage
from compiler.analyses.domains import find_domains
from compiler.analyses.enumeration import enumerate_paths, enumerate_states
from compiler.analyses.exploration import explore, kept_retries
from compiler.analyses.values import most_visits
from compiler.diagnostics.model import Severity
from compiler.driver import compile_file
from compiler.ir import paths
from compiler.ir.edges import Add, Clear, CounterTest, Edge, Effect, Set, SlotTest, Test
from compiler.ir.program import Counter, Group, Input, Jump, Node, Program, Slot, SourceFile, with_jumps, without_jumps
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Branch, End, Shell, Verdict, alphabet
from compiler.ir.texts import Text, text
from compiler.ir.verify import verify
from compiler.passes import optimize
from compiler.passes.remove_impossible_edges import remove_impossible_edges
from compiler.scenarios.outcomes import decided_by, read_outcomes, write_outcomes
from tests.compiler.random_programs import FAIL, PASS, PLACE, programs
from tests.differential.generate.rundown import Drawn, cases, compiled
from tests.differential.oracles import rundown
from tests.support.documents import compiled as compiled_text
from tests.support.documents import findings

_many = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_many
@given(program=programs(), passed=st.lists(st.booleans(), max_size=25))
def test_a_program_loses_nothing_that_a_run_can_take(program: Program, passed: list[bool]) -> None:
    verify(program)
    loses_nothing(program, passed)
    verify(optimize(program))


@_many
@given(case=cases(), passed=st.lists(st.booleans(), max_size=25))
def test_a_runbook_loses_nothing_that_a_run_can_take(case: Drawn, passed: list[bool]) -> None:
    loses_nothing(compiled(case), passed)


def loses_nothing(program: Program, passed: list[bool]) -> None:
    """No edge that a run takes is impossible, and without the impossible ones each run walks as before."""
    nodes, found = program.index(), explore(program)
    for name, edge in enumerate_states(program).first:
        assert edge in found.left(nodes[name]).edges
    narrowed = remove_impossible_edges(program)
    verify(narrowed)
    assert walked(narrowed, passed) == walked(program, passed)


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


GOES_AWAY = (
    "## 1. A\n- PASS: CONTINUE\n- FAIL: GOTO Fix\n### 1.1 B\n- FAIL: GOTO 3\n"
    "### 1.2 C\n{more}\n## 2. D\n## 3. E\n## Fix\n"
)


def narrowed(folder: Path, text: str) -> Program:
    program = compiled_text(folder, text).program
    assert program
    return remove_impossible_edges(program)


def guards(program: Program, name: str) -> list[tuple[Test, ...]]:
    return [edge.guard for edge in program.index()[name].edges]


def test_an_outcome_that_never_arrives_is_not_asked_for(tmp_path: Path) -> None:
    goes_away = GOES_AWAY.format(more="")
    found = narrowed(tmp_path, goes_away)
    assert guards(found, "1") == [()], "1.1 leaves the step when it fails, so that no child has failed at its end"
    assert "Fix" in {edge.target for edge in found.index()["1.2"].edges}
    assert optimize(found).counters == ()
    found = narrowed(tmp_path, goes_away.replace("## 3. E", "## 3. E\n- FAIL: GOTO 1.2"))
    assert len(guards(found, "1")) == 1, "a jump from outside restarts the step"
    found = narrowed(tmp_path, goes_away.replace("1.1 B\n- FAIL: GOTO 3", "1.1 B\n- FAIL: GOTO 1.2"))
    assert len(guards(found, "1")) == 2, "it arrives by another way"
    text = goes_away.replace("1.2 C", "1.2 C\n- FAIL: GOTO 1.1").replace("FAIL: GOTO Fix", "FAIL: GOTO 1.2")
    assert len(guards(narrowed(tmp_path, text), "1")) == 1, "1.1 has passed where 1.2 follows"


def test_a_step_that_only_an_impossible_transition_leads_to_is_unreachable(tmp_path: Path) -> None:
    text = GOES_AWAY.format(more="- PASS: CONTINUE\n- FAIL: GOTO 3")
    assert findings(compiled_text(tmp_path, text)) == ["RD404 3:3", "RD401 11:4"]
    assert "Fix" not in {node.id for node in optimize(narrowed(tmp_path, text), jumps=False).nodes}


END = Node("END", Text(), PLACE, End("complete"), ())


def command(name: str, *edges: Edge, group: str = "", retries: str | None = None) -> Node:
    return Node(name, Text(), PLACE, Shell("sh", text("true")), edges, group=group, retries=retries)


def counting(
    *nodes: Node, counters: tuple[Counter, ...] = (Counter("x", ""),), groups: tuple[Group, ...] = ()
) -> Program:
    return Program("x", "X", (SourceFile("x", "0"),), "1", (*nodes, END), groups, counters)


def made(*edges: Edge, values: tuple[int, int] = (1, 2)) -> Program:
    """A step that sets a counter to one of two values, then a step with these edges."""
    first = (Edge((PASS,), (Set("x", values[0]),), "2"), Edge((), (Set("x", values[1]),), "2"))
    return counting(command("1", *first), command("2", *edges))


def to_end(*guard: Test) -> Edge:
    return Edge(guard, (), "END")


def test_a_test_that_always_holds_is_dropped_and_what_stands_below_goes() -> None:
    low, high = CounterTest("x", "<", 2), CounterTest("x", ">=", 1)
    program = made(to_end(PASS, CounterTest("x", "=", 0)), to_end(PASS, low), to_end(FAIL, high), to_end())
    found = remove_impossible_edges(program)
    verify(found)
    assert guards(found, "2") == [(PASS, low), (FAIL,), ()]
    low = CounterTest("x", "<", 1)
    found = remove_impossible_edges(made(to_end(PASS, low), to_end(high), to_end(FAIL, low), to_end(), values=(0, 1)))
    verify(found)
    expected = [(PASS, low), (high,), (FAIL,), ()]
    assert guards(found, "2") == expected, "for each outcome other edges are enough, but only a proof shows that"
    sinking = made(Edge((PASS,), (Add("x", -2),), "2"), to_end(CounterTest("x", "=", 0)), to_end())
    assert remove_impossible_edges(sinking) is sinking, "the counter may fall below zero"


def test_a_number_above_zero_can_be_on_both_sides_of_a_test() -> None:
    """It stays possible after the test failed, and for the other tests of a guard in which it held."""
    low, high, more = CounterTest("x", "<", 2), CounterTest("x", ">=", 2), CounterTest("x", ">=", 1)
    assert [*explore(made(to_end(low), to_end(high), to_end())).edges["2"]] == [0, 1, 2]
    assert 0 in explore(made(to_end(low, more), to_end())).edges["2"]


def test_a_jump_leaves_from_groups_inside_groups() -> None:
    """Only inside them is the counter more than zero."""
    groups = tuple(Group(name, Text(), Text(), "step", parent, PLACE) for name, parent in (("g", ""), ("h", "g")))
    first = command("1", Edge((), (Set("x", 1),), "2"), group="h")
    second = command("2", Edge((), (Set("x", 0),), "3"), group="h")
    program = counting(first, second, command("3", to_end(CounterTest("x", ">=", 1)), to_end()), groups=groups)
    assert [*explore(program).edges["3"]] == [1]
    assert [*explore(replace(program, jumps=(Jump("3", "3"),))).edges["3"]] == [0, 1]


AGAIN = Edge((FAIL, CounterTest("x", "<", 3)), (Add("x", 1),), "1")


def test_the_count_of_a_retry_that_is_added_to_another_counter_is_still_asked_for() -> None:
    asks = Node("2", Text(), PLACE, Branch(), (to_end(CounterTest("sum", ">=", 1)), to_end()))
    counters = (Counter("x", ""), Counter("sum", ""))
    program = counting(command("1", AGAIN, Edge((), (Add("sum", "x"),), "2")), asks, counters=counters)
    assert remove_impossible_edges(program) == program


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
    for count in (25, 250):
        compilation = compiled_text(tmp_path, document(count))
        assert compilation.program
        program = jumps(compilation.program)
        search = exploration._Search(program, find_domains(program))
        assert search.run()
        efforts.append(search.effort)
    assert efforts[1] < 11 * efforts[0]


@pytest.mark.parametrize("limit", ["LARGEST", "EFFORT"])
def test_what_takes_too_long_is_left_as_it_is(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiled_text(tmp_path, steps(3))
    assert before.program
    assert remove_impossible_edges(before.program) != before.program
    monkeypatch.setattr(exploration, limit, 0)
    program = replace(before.program)  # nothing is known of it yet
    assert remove_impossible_edges(program) is program
    if limit == "EFFORT":
        [note] = set(compiled_text(tmp_path, steps(3)).diagnostics) - set(before.diagnostics)
        assert (note.code, note.severity) == ("RD411", Severity.NOTE)


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


def retried(*leaving: Effect) -> Program:
    """A step that is retried and then left with some effects."""
    first = command("1", AGAIN, Edge((), leaving, "2"), retries="x")
    return counting(first, command("2", to_end()), counters=(Counter("x", "", role="retries"),))


def test_a_count_that_is_zero_elsewhere_needs_no_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept_retries(retried(Set("x", 0))) == frozenset()
    assert kept_retries(retried()) == {"x"}
    assert kept_retries(made(to_end())) == frozenset()
    assert kept_retries(retried(Set("x", 0), Set("x", -1))) == {"x"}, "nothing is known of what may fall below zero"
    monkeypatch.setattr(exploration, "EFFORT", 0)
    assert kept_retries(retried(Set("x", 0))) == {"x"}


@pytest.mark.most(10)
@_many
@given(case=cases(), passed=st.lists(st.booleans(), max_size=40))
def test_a_count_without_its_own_name_is_zero_wherever_else_a_run_waits(case: Drawn, passed: list[bool]) -> None:
    program = without_jumps(compiled(case))
    nodes, stored = program.index(), kept_retries(program)
    every = {node.retries for node in program.nodes if node.retries}
    for name, counters in walked(program, passed):
        others = every - stored - {nodes[name].retries}
        assert not any(counters[counter] for counter in others) or isinstance(nodes[name].task, End)


def visited(program: Program, chance: random.Random) -> Tally[str]:
    """Return how often a random run of at most 60 steps visits each node."""
    path = paths.walk(Machine(program), lambda node, _: Outcome(chance.choice(alphabet(node.task))), 60)
    return Tally(made.step for made in path.visits)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs(), seed=st.integers(0, 1000))
def test_no_run_visits_a_node_more_often(program: Program, seed: int) -> None:
    most = most_visits(program)
    for name, times in visited(program, random.Random(seed)).items():
        limit = most[name]
        assert limit is None or times <= limit, (name, most)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("examples/deploy-with-rollback.runbook.md", {"1": 1, "Rollback": 3}),
        ("examples/integration-tests.runbook.md", {"2.1": 3, "2.2": 3, "2.3": 3}),  # RETRY of a step with substeps
        ("examples/code-review.runbook.md", {"1": None, "Ask_for_changes": None}),
        ("examples/programs/review-loop.program.json", {"write": 4}),  # a counter of rounds
        ("examples/specifications/checked-code.stepspec.yaml", {"generate": 4, "verify": 3}),
    ],
)
def test_loops_of_documents(path: str, wanted: dict[str, int | None]) -> None:
    program = compile_file(path).program
    assert program is not None
    most = most_visits(program)
    assert {name: most[name] for name in wanted} == wanted


STYLE = Input("style", "choice", options=("formal", "casual"))


def is_(text: str) -> SlotTest:
    return SlotTest("style", "==", text)


def not_(text: str) -> SlotTest:
    return SlotTest("style", "!=", text)


def branching(*guards: tuple[SlotTest, ...], inputs: tuple[Input, ...] = (), clears: bool = False) -> Program:
    effects = (Clear("style"),) if clears else ()
    edges = tuple(Edge(guard, effects, "END") for guard in guards)
    first = Node("1", Text(), PLACE, Branch(), (*edges, Edge((), (), "END")))
    return Program("p", "", (SourceFile("a.md", "0" * 64),), "1", (first, END), slots=(Slot("style"),), inputs=inputs)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (branching((is_("a"),), (is_("b"),)), [0, 1, 2]),
        (branching((is_("a"),), (is_("a"),)), [0, 2]),
        (branching((is_("a"),), (not_("a"),)), [0, 1]),
        (branching((not_("a"),), (is_("a"),), (is_("b"),)), [0, 1]),
        (branching((not_("a"),), (not_("b"),)), [0, 1]),
        (branching((is_("a"), not_("a"))), [1]),
        (branching((is_("a"), is_("b"))), [1]),
        # what an input cannot be
        (branching((is_("formall"),), inputs=(STYLE,)), [1]),
        (branching((is_("formal"),), (is_("casual"),), inputs=(STYLE,)), [0, 1]),
        (branching((is_("yes"),), inputs=(Input("style", "boolean"),)), [1]),
        (branching((is_(""),), inputs=(Input("style", "boolean", required=False),)), [0, 1]),
        (branching((is_("formall"),), inputs=(STYLE,), clears=True), [0, 1]),  # it changes
    ],
)
def test_an_edge_that_an_earlier_one_rules_out(found: Program, expected: list[int]) -> None:
    edges = explore(found).edges["1"]
    assert [*edges] == expected
    if found == branching((is_("a"),), (not_("a"),)):
        assert [set(tests) for tests in edges.values()] == [{is_("a")}, set()], "what always holds is not open"


def test_a_program_that_never_ends_has_no_paths() -> None:
    found = enumerate_paths(counting(command("1", Edge((), (), "1"))), 10)
    assert (list(found.paths), found.is_complete) == ([], True)


MOST, LONGEST = 40, 12


def by_outcomes(program: Program, visits: tuple[paths.Visit, ...], limit: int) -> paths.Path:
    """The path for the outcomes of these visits, written down and read again."""
    given = read_outcomes(write_outcomes(visits, program), program)
    return paths.walk(Machine(program), decided_by(given, Verdict.PASS), limit)


@pytest.mark.most(14)
@_many
@given(case=cases())
def test_walks_are_those_of_the_semantics(case: Drawn) -> None:
    """They are distinct and end, shorter ones first, all of them if it says so; and their outcomes lead to them.

    What they leave out is taken by the path that is shown for it.
    """
    program = compiled(case)
    found = enumerate_paths(program, MOST, LONGEST)
    assert len(set(map(str, found.paths))) == len(found.paths) <= MOST
    assert all(Machine(program).end(one.state) for one in found.paths)
    assert all(len(one.visits) <= len(other.visits) <= LONGEST for one, other in pairwise(found.paths))
    assert all(by_outcomes(program, one.visits, LONGEST) == one for one in found.paths)
    taken = rundown.walk(dataclasses.replace(case, jumps=()), LONGEST)
    if found.is_complete and taken.end:
        traces = [[(made.step, made.outcome.word == Verdict.PASS) for made in one.visits] for one in found.paths]
        assert [(visit.label, passed) for visit, passed in taken.visits] in traces
    left_out(program)


def left_out(program: Program) -> None:
    found = coverage(program, enumerate_paths(program, 2, LONGEST).paths)
    assert len(found.untaken) <= found.transitions
    for item in found.untaken:
        if item.path is not None:
            assert by_outcomes(program, item.path, len(item.path)).visits == item.path
            again = coverage(program, [paths.Path(item.path, Machine(program).start())])
            assert item.transition not in [other.transition for other in again.untaken]
    impossible = {item.transition for item in coverage(program, []).untaken if item.path is None and item.is_certain}
    every = coverage(program, enumerate_paths(program, 200, LONGEST).paths)
    assert impossible <= {item.transition for item in every.untaken}
