"""The IR: its forms, its verifier, what can be read off its graph, and the passes."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compiler.ir import graph
from compiler.ir.edges import (
    Add,
    CounterTest,
    Edge,
    Effect,
    Keep,
    Origin,
    OutcomeTest,
    Reset,
    Set,
    SlotTest,
    StepOutcome,
    Test,
)
from compiler.ir.program import Artifact, Context, Counter, Group, Jump, Node, Program, Slot, SourceFile
from compiler.ir.rules import Event, Rule
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.serialize import same, to_json
from compiler.ir.tasks import Agent, Ask, Branch, End, Parallel, Shell, Task, Tool, Verdict
from compiler.ir.texts import Reference, Text, joined, text
from compiler.ir.verify import InvalidProgramError, verify
from compiler.passes import optimize
from compiler.passes.fold_effects import fold_effects
from compiler.passes.remove_dead_counters import remove_dead_counters
from compiler.passes.remove_unreachable import remove_unreachable
from compiler.passes.thread_jumps import thread_jumps
from compiler.text.source import Span
from tests.support.documents import compiled
from tests.support.program_json import from_json
from tests.support.text_form import to_text_form

PLACE = Origin("x.runbook.md", Span(1, 1, 1, 2))
ALWAYS = ((OutcomeTest(Verdict.PASS),), (OutcomeTest(Verdict.FAIL),))


def node(name: str, *edges: Edge, task: Task | None = None) -> Node:
    return Node(name, Text(), PLACE, task or Shell("sh", text("true")), edges)


def to(target: str, *effects: Effect, guard: tuple[Test, ...] = ()) -> Edge:
    return Edge(guard, effects, target)


def program(*nodes: Node, counters: tuple[Counter, ...] = ()) -> Program:
    return Program("x", "X", (SourceFile("x.runbook.md", "0"),), nodes[0].id, nodes, counters=counters)


def counted(register: str) -> tuple[Edge, ...]:
    return to("COMPLETE", guard=(CounterTest(register, "<", 1),)), to("COMPLETE")


DONE = node("COMPLETE", task=End("complete"))
COUNTER = Counter("r", "1")
WITH_SLOT = replace(
    program(
        node("1", to("2", Keep("s")), task=Ask("input", text("Which version?"))),
        node("2", to("COMPLETE", guard=(SlotTest("s", "==", "x"),)), to("STOP"), task=Branch()),
        DONE,
        node("STOP", task=End("stop")),
    ),
    slots=(Slot("s"),),
)


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (program(node("a", to("b")), DONE), "leads to the unknown node b"),
        (program(node("a", to("COMPLETE")), node("a", to("COMPLETE")), DONE), "two nodes are named `a`"),
        (program(node("a", to("COMPLETE", Set("r", 1))), DONE), "counter r is not declared"),
        (program(node("a", to("COMPLETE", guard=ALWAYS[0])), DONE), "no edge to take"),
        (program(node("a", to("b"), task=Branch()), node("b", to("a"), task=Branch())), "form a cycle"),
        (
            program(node("a", to("COMPLETE", guard=ALWAYS[0]), to("COMPLETE"), task=Branch()), DONE),
            "a node without a task has no outcome",
        ),
        (program(replace(node("a", to("COMPLETE")), group="g"), DONE), "group g is not declared"),
        (replace(program(node("a", to("COMPLETE")), DONE), entry="z"), "entry z"),
        (replace(program(node("a", to("COMPLETE")), DONE), sources=()), "has no source"),
        (replace(WITH_SLOT, counters=(Counter("s", ""),)), "two registers or slots are named `s`"),
        (replace(WITH_SLOT, slots=()), "1: the slot s is not declared"),
        (replace(WITH_SLOT, slots=(), counters=(Counter("s", ""),)), "1: the slot s is not declared"),
        (program(node("a", to("COMPLETE", Reset("1"))), DONE), "the scope 1 is not declared"),
        (program(node("a", to("COMPLETE", Reset(""))), DONE, counters=(COUNTER,)), "the scope  is not declared"),
        (replace(WITH_SLOT, nodes=(node("1", *counted("s")), DONE)), "the counter s is not declared"),
        (replace(WITH_SLOT, nodes=(node("1", to("COMPLETE", Set("s", 1))), DONE)), "the counter s is not declared"),
        (program(node("a", to("COMPLETE", guard=(SlotTest("r", "==", "x"),)), to("COMPLETE")), DONE), "the slot r is"),
        (program(node("a", to("COMPLETE", guard=(*ALWAYS[0], *ALWAYS[1]))), DONE), "no edge to take"),
        (
            replace(program(node("a", to("COMPLETE")), DONE), groups=(Group("g", Text(), Text(), "step", "h", PLACE),)),
            "in h",
        ),
    ],
)
def test_the_verifier_names_what_is_broken(broken: Program, problem: str) -> None:
    with pytest.raises(InvalidProgramError, match=problem):
        verify(broken)


def test_a_program_that_keeps_texts_is_valid() -> None:
    verify(WITH_SLOT)


def test_the_end_of_a_program_goes_nowhere() -> None:
    machine = Machine(program(node("a", to("COMPLETE")), DONE))
    state = machine.advance(machine.start(), Outcome(Verdict.FAIL)).state
    assert state.node == "COMPLETE"
    with pytest.raises(ValueError, match="is an end"):
        machine.advance(state, Outcome(Verdict.PASS))


LOOPS = "## {N}. Loop\n- PASS: GOTO NEXT\n- FAIL: GOTO After\n## After\n- FAIL: RETRY 2 STOP\n## Never\n"


def test_what_can_be_read_off_the_graph(tmp_path: Path) -> None:
    loops = compiled(tmp_path, LOOPS).program
    assert loops
    assert graph.loop_regions(graph.to_graph(loops)) == [frozenset({"{N}"}), frozenset({"After"})]
    assert graph.led_to(loops, [loops.entry]).keys() == {"{N}", "After", "COMPLETE", "STOP"}
    assert graph.with_path_out(loops).keys() == {"{N}", "After", "Never", "COMPLETE", "STOP"}


def test_a_document_without_loops_is_checked_without_networkx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if documents include each other, or counters are explored."""
    monkeypatch.setitem(sys.modules, "networkx", None)  # importing it fails
    (tmp_path / "x.runbook.md").write_text("## 1. A\n- y.runbook.md\n## 2. B\n- z.runbook.md\n")
    (tmp_path / "z.runbook.md").write_text("## 1. A\n- y.runbook.md\n")
    (tmp_path / "y.runbook.md").write_text("## 1. A\n```bash\na\n```\n")
    text = "## 1. A\n- FAIL: GOTO Fix\n## 2. B\n### 2.1 C\n- FAIL: CONTINUE\n### 2.2 D\n- FAIL: CONTINUE\n"
    more = "## 3. E\n- x.runbook.md\n- y.runbook.md\n## Fix\n- PASS: STOP x\n"
    assert compiled(tmp_path, text + more).program


STEP = Group("1", Text(), Text(), "step", "", PLACE)
INNER = Group("1.1", Text(), Text(), "step", "1", PLACE)
PASSED, FAILED = StepOutcome("1.1", "pass"), StepOutcome("1", "fail")


def settling(target: str, *settles: StepOutcome) -> Edge:
    return replace(to(target), settles=settles)


def in_steps(*nodes: Node, group: str = "1.1") -> Program:
    """A program whose first node is in a group."""
    first, *others = nodes
    return replace(program(replace(first, group=group), *others, DONE), groups=(STEP, INNER))


def test_threading_leads_past_branches_and_joins_what_edges_do_and_settle() -> None:
    branch = replace(node("b", settling("COMPLETE", FAILED), task=Branch()), group="1")
    threaded = thread_jumps(in_steps(node("a", settling("b", PASSED)), branch))
    assert threaded.nodes[0].edges == (settling("COMPLETE", PASSED, FAILED),)
    branch = node("b", to("COMPLETE", Set("r", 2)), task=Branch())
    whole = program(node("a", to("b", Add("r", 1))), branch, DONE, counters=(Counter("r", ""),))
    threaded = thread_jumps(whole)
    assert threaded.nodes[0].edges[0].target == "COMPLETE"
    assert threaded.nodes[0].edges[0].effects == (Add("r", 1), Set("r", 2))
    assert [item.id for item in remove_unreachable(threaded).nodes] == ["a", "COMPLETE"]


def test_threading_leaves_a_branch_that_settles_a_step() -> None:
    branch = replace(node("b", settling("COMPLETE", FAILED), task=Branch()), group="1")
    started = in_steps(replace(branch, edges=(settling("a", FAILED),)), node("a", to("COMPLETE")), group="1")
    for whole in (
        in_steps(node("a", to("b")), branch, group=""),  # from outside of it
        in_steps(node("a", settling("b", FAILED)), branch),  # again
        replace(started, jumps=(Jump("1", "b"),)),  # at the start, or by a jump
    ):
        assert thread_jumps(whole) is whole


def test_no_other_pass_changes_what_edges_settle() -> None:
    edges = (
        replace(settling("COMPLETE", PASSED), guard=ALWAYS[0], effects=(Add("dead", 0),)),
        replace(settling("COMPLETE", PASSED, FAILED), effects=(Set("r", 1), Set("r", 2), Set("dead", 1))),
    )
    whole = replace(in_steps(node("a", *edges), node("x", to("a"))), counters=(Counter("r", ""), Counter("dead", "")))
    after = optimize(whole, jumps=False)
    assert after.counters == ()
    assert [[edge.settles for edge in each.edges] for each in after.nodes] == [[(PASSED,), (PASSED, FAILED)], []]


def test_a_rule_loses_its_unreachable_steps_and_goes_with_its_runbook() -> None:
    rule = Rule(
        "r",
        "x",
        guards=(Event("a"), Event("gone"), Event("", "stop")),
        opens=(Event("1.1", "pass"), Event("gone", "yes")),
        closes=(Event("1", "pass"),),
        persons=("gone",),
    )
    gone = node("gone", to("COMPLETE"), task=Ask("confirm", text("?")))
    whole = replace(in_steps(node("a", to("COMPLETE")), gone), rules=(rule, replace(rule, name="s", scope="2")))
    whole = replace(whole, groups=(*whole.groups, Group("2", Text(), Text(), "runbook", "", PLACE)))
    verify(whole)
    left = remove_unreachable(whole)
    verify(left)
    assert [(one.guards, one.opens, one.closes, one.persons) for one in left.rules] == [
        ((Event("a"), Event("", "stop")), (Event("1.1", "pass"),), (Event("1", "pass"),), ())
    ]


def test_what_edges_settle_and_rules_are_written_only_where_they_are() -> None:
    rule = Rule("r", "always a", guards=(Event("", "complete"),))
    plain, settled = in_steps(node("a", to("COMPLETE"))), in_steps(node("a", settling("COMPLETE", PASSED)))
    edges = [json.loads(to_json(each))["nodes"][0]["edges"][0] for each in (plain, settled)]
    assert edges[0].keys() == {"guard", "effects", "target", "written", "origins"}
    assert edges[1]["settles"] == [{"step": "1.1", "word": "pass"}]
    assert '"rules"' not in to_json(plain)
    assert json.loads(to_json(replace(plain, rules=(rule,))))["rules"][0]["name"] == "r"
    tricky = replace(plain, title=',"settles":[]')
    assert from_json(to_json(tricky)) == tricky
    assert not same(plain, settled)
    assert not same(plain, replace(plain, rules=(rule,)))


def test_folding() -> None:
    edge = to("COMPLETE", Set("m", 1), Add("n", "m"), Set("m", 0), Add("k", 0))
    folded = fold_effects(program(node("a", edge), DONE, counters=tuple(Counter(name, "") for name in "mnk")))
    assert folded.nodes[0].edges[0].effects == (Add("n", 1), Set("m", 0)), "what is known is computed"
    edge = to("COMPLETE", Set("m", 1), Reset("s"), Add("n", "m"), Set("m", 0))
    folded = fold_effects(program(node("a", edge), DONE, counters=(Counter("m", "s"), Counter("n", ""))))
    assert folded.nodes[0].edges[0].effects == edge.effects, "it is read before it is overwritten"


def test_counters_that_nothing_reads_are_removed_with_their_effects(tmp_path: Path) -> None:
    edges = (
        to("a", Add("live", "feeder"), guard=(CounterTest("live", "<", 3),)),
        to("COMPLETE", Set("dead", 1), Reset("s")),
    )
    counters = (Counter("live", ""), Counter("feeder", ""), Counter("dead", "s"))
    trimmed = remove_dead_counters(program(node("a", *edges), DONE, counters=counters))
    assert [counter.name for counter in trimmed.counters] == ["live", "feeder"]
    assert trimmed.nodes[0].edges[1].effects == ()
    found = compiled(tmp_path, "## 1. A\n- FAIL: STOP x\n### 1.1 B\n### 1.2 C\n").program
    assert found
    assert (found.counters, [item.id for item in found.nodes]) == ((), ["1.1", "1.2", "1/STOP", "COMPLETE"])


def test_counters_that_only_texts_name_stay() -> None:
    made = replace(program(node("1", to("COMPLETE")), DONE, counters=(COUNTER,)), slots=(Slot("s"),))
    named = joined(["round ", Reference("r", "{N}")])
    for reading in (
        replace(made, contexts=(Context("a", named),)),
        replace(made, artifact=Artifact("s", named)),
        replace(made, nodes=(made.nodes[0], replace(DONE, task=End("complete", named)))),
    ):
        assert remove_dead_counters(reading).counters == (COUNTER,)
    assert remove_dead_counters(made).counters == ()


def test_warnings_name_the_source_by_the_path_that_the_user_gave(tmp_path: Path) -> None:
    compilation = compiled(tmp_path, "## 1. A?\n- PASS: COMPLETE\n## 2. B?\n")
    assert [item.path for item in compilation.diagnostics] == [str(tmp_path / "main.runbook.md")]


def _flow(*arcs: str) -> graph.Graph:
    found: dict[str, dict[str, None]] = {name: {} for arc in arcs for name in arc}
    for arc in arcs:
        found[arc[0]][arc[1]] = None
    return found


@settings(max_examples=200)
@given(st.lists(st.text("abcdefgh", min_size=2, max_size=2), min_size=1, max_size=24), st.sets(st.sampled_from("abcd")))
def test_regions_and_their_order_are_those_of_the_definition(arcs: list[str], chosen: set[str]) -> None:
    flow_graph = _flow(*arcs)
    above = {name: {other for other in flow_graph if name in _reached(flow_graph, other)} for name in flow_graph}
    loops = {frozenset(above[name] & _reached(flow_graph, name)) for name in flow_graph if name in above[name]}
    assert set(graph.loop_regions(flow_graph)) == loops
    members = frozenset(chosen & flow_graph.keys())
    order = graph.ordered_components(flow_graph, [members] if members else [])
    assert sorted(name for names in order for name in names) == sorted(flow_graph)
    assert not members or any(members <= set(names) for names in order)
    place = {name: number for number, names in enumerate(order) for name in names}
    assert all(place[name] <= place[target] for name, targets in flow_graph.items() for target in targets)


def _reached(flow_graph: graph.Graph, start: str) -> set[str]:
    """The nodes that a path of at least one edge reaches."""
    found, pending = set[str](), list(flow_graph[start])
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += flow_graph[name]
    return found


def test_components_and_what_lies_between(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _flow("ab", "bc", "cb", "cd", "ad")
    assert graph.ordered_components(found) == [["a"], ["b", "c"], ["d"]]
    assert graph.ordered_components(found, [frozenset("ad")]) == [["a", "b", "c", "d"]], "b and c lie between"
    either = graph.ordered_components(_flow("xb", "xa"))
    assert either == [["x"], ["b"], ["a"]], "as in the graph where both may come first"
    found = _flow("ab", "bc", "cd", "be", "ed", "df")
    assert graph.between(found, "ab", "d") == frozenset("abcde"), "closed under paths"
    assert graph.between(found, "b", "c") == frozenset("bc")
    assert graph.between(found, "f", "d") == frozenset("d"), "f does not lead to d"
    monkeypatch.setitem(sys.modules, "networkx", None)  # importing it fails
    forward = _flow("ab", "ac", "bc")
    assert graph.loop_regions(forward) == []
    assert graph.ordered_components(forward) == [["a"], ["b"], ["c"]]
    with pytest.raises(ImportError):
        graph.loop_regions(_flow("aa"))


def test_an_optional_tool_and_an_artifact_are_written_only_where_they_are() -> None:
    """I13, I28: what has neither is written as it always was."""
    plain, optional = (Tool("library", "prompt", text("{}"), is_optional) for is_optional in (False, True))
    edges = to("COMPLETE", Keep("s"))
    without, using = (
        replace(program(node("1", edges, task=task), DONE), slots=(Slot("s"),)) for task in (plain, optional)
    )
    using = replace(using, artifact=Artifact("s", joined([Reference("s", "{{s}}", "markdown")])))
    written = json.loads(to_json(without))
    assert not {"optional", "artifact"} & {*written, *written["nodes"][0]["task"]}
    assert {'artifact "s" type <"s" missing "markdown">', "  optional true"} <= {*to_text_form(using).splitlines()}
    assert "optional" not in to_text_form(without)


def test_a_prompt_stands_below_its_context_and_that_one_below_another() -> None:
    """I31: what is filled in is as it is when the agent is called."""
    above = (Context("a", joined(["A ", Reference("s", missing="-")])), Context("b", text(" B "), "a"))
    agents = (Agent("", text("own"), context="b"), Agent("", text("plain")))
    pair = node("2", to("COMPLETE"), task=Parallel(agents))
    made = program(node("1", to("2", Keep("s")), task=agents[0]), pair, DONE)
    made = replace(made, slots=(Slot("s"),), contexts=above)
    verify(made)
    assert '{\n      "name": "a",\n      "text"' in to_json(made), "a context without one above it names none"
    assert "context" not in json.loads(to_json(made))["nodes"][1]["task"]["entries"][1]
    assert 'context "b" after "a" " B "' in to_text_form(made).splitlines()
    machine = Machine(made)
    state = machine.start()
    assert machine.prompt(state, agents[0]) == "A - B own"
    state = machine.advance(state, Outcome("pass", "{s}")).state
    assert [machine.prompt(state, agent) for agent in agents] == ["A {s} B own", "plain"]


@pytest.mark.parametrize(
    ("start", "goal", "expected"),
    [("a", "g", "abd"), ("a", "e", "ac"), ("c", "g", ""), ("e", "a", ""), ("b", "d", "b")],
)
def test_only_places_on_a_path_to_the_goal_are_found(start: str, goal: str, expected: str) -> None:
    arcs = {"a": "bc", "b": "d", "c": "ce", "d": "bg", "e": "", "g": "h", "h": "g"}
    assert graph.on_the_way(start, goal, arcs.__getitem__) == frozenset(expected)
