"""Slots, words, inputs and limits in the semantics, the verifier and the analyses (docs/reference/program-rules.md)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from backends.common.marks import Marks
from compiler.analyses.coverage import coverage
from compiler.analyses.domains import beginnings, outcomes_by_node
from compiler.analyses.enumeration import enumerate_paths, enumerate_states
from compiler.ir.answers import of_agent, of_parallel, of_reply, of_tool, usual
from compiler.ir.edges import Add, Clear, CounterTest, Edge, Effect, Keep, OutcomeTest, Set, SlotTest, Test
from compiler.ir.patterns import pattern_issue
from compiler.ir.program import Artifact, Constant, Context, Counter, Input, Program, Settings, Slot, Variable
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Reading, Shell, Task, Tool, alphabet
from compiler.ir.texts import Part, Reference, Text, joined, text
from compiler.ir.verify import InvalidProgramError, verify
from compiler.passes import optimize
from compiler.scenarios.mock import MockRun, mock
from compiler.scenarios.model import Reply, Scenario
from tests.support.sample_programs import node, program

REVIEW = Agent("reviewer", text("Look"), Reading(("GOOD", "BAD")))
KIND = joined(["It is a ", Reference("kind", "{{kind}}", missing="?")])


def to(target: str, *effects: Effect, on: str = "", when: tuple[Test, ...] = ()) -> Edge:
    return Edge((*([OutcomeTest(on)] if on else []), *when), effects, target)


def triage(*slots: Slot) -> Program:
    """An agent says what an issue is, a branch tests it, and each way has its own end."""
    is_bug = SlotTest("kind", "==", "bug")
    made = program(
        node("1", Agent("", text("What is it?")), to("2", Keep("kind", extract="kind"), on="pass"), to("STOP")),
        node("2", Branch(), to("bug", when=(is_bug,)), to("other")),
        node("bug", End("complete", KIND)),
        node("other", End("stop", KIND)),
        node("STOP", End("stop")),
    )
    return replace(made, slots=slots or (Slot("kind"),))


@pytest.mark.parametrize(
    ("answer", "end"), [('{"kind": "bug"}', "It is a bug"), ('{"kind": "Bug"}', "It is a Bug"), ("", "It is a ")]
)
def test_a_kept_text_decides_where_a_run_goes(answer: str, end: str) -> None:
    machine = Machine(triage())
    found = machine.end(machine.advance(machine.start(), Outcome("pass", answer)).state)
    assert found
    assert (str(found.message), found.result) == (end, "complete" if end == "It is a bug" else "stop")


def test_values_of_a_command_are_kept_and_a_cleared_slot_is_empty() -> None:
    keep = Keep("id", "output", "backup_id")
    made = replace(
        program(node("1", Shell("sh", text("true")), to("END", keep)), node("END", End("complete"))),
        slots=(Slot("id", "old"),),
    )
    verify(made)
    machine = Machine(made)
    ends = [
        machine.advance(machine.start(), Outcome("fail", "", values)).state for values in ((), (("backup_id", ""),))
    ]
    assert [end.slots["id"] for end in ends] == ["old", ""]
    ask = node("1", Ask("input", text("?")), to("2", Keep("kind"), Clear("kind")))
    made = triage()
    machine = Machine(replace(made, nodes=(ask, *made.nodes[1:])))
    state = machine.advance(machine.start(), Outcome("pass", "bug")).state
    assert (state.node, machine.end(state)) == ("other", End("stop", text("It is a ?")))


def test_inputs_are_slots_with_their_defaults() -> None:
    declared = (Input("kind", default="bug"), Input("note", required=False))
    made = replace(triage(Slot("kind"), Slot("note")), inputs=declared)
    verify(made)
    machine = Machine(made)
    assert dict(machine.start().slots) == {"kind": "bug", "note": None}
    assert dict(machine.start({"note": "x"}).slots) == {"kind": "bug", "note": "x"}
    assert list(beginnings(made)) == [{}, {"kind": "bug"}, {"kind": "other text"}]


def test_a_limit_ends_a_run_before_one_step_more_and_gates_do_not_count() -> None:
    loop = replace(
        program(
            node("gate", Gate("g"), to("1")),
            node("1", Shell("sh", text("true")), to("gate")),
            node("END", End("complete")),
        ),
        limit=2,
    )
    machine = Machine(loop)
    state, visits = machine.start(), []
    while machine.end(state) is None:
        visits.append(state.node)
        state = machine.advance(state, usual(machine.nodes[state.node].task)).state
    assert visits == ["gate", "1", "gate", "1", "gate"]
    assert machine.end(state) == End("stop", text("1: the limit of 2 steps was reached"))


def test_what_answers_and_replies_become() -> None:
    assert of_agent(REVIEW, b" it is\nGOOD\n") == Outcome("GOOD", "it is\nGOOD")
    assert of_agent(REVIEW, None) == Outcome("failed")
    assert of_agent(Agent("", text("")), b"\n") == Outcome("fail")
    assert (of_tool(b""), of_tool(None)) == (Outcome("pass"), Outcome("fail"))
    both = Parallel((REVIEW, REVIEW), failing=("BAD",))
    assert of_parallel(both, [b"GOOD", b"BAD"]) == Outcome("BAD", "GOOD\n\nBAD")
    assert of_parallel(both, [b"GOOD", None]) == Outcome("failed", "GOOD")
    select = Ask("select", text("?"), options=(text("a"), joined([Reference("x", "{{x}}")])))
    assert of_reply(select, "b", ("a", "b")) == Outcome("{{x}}", "b")
    assert of_reply(select, "{{x}}", ("a", "b")) is None
    assert of_reply(Ask("confirm", text("?")), "no") == Outcome("no", "no")
    assert of_reply(Ask("confirm", text("?")), "No") is None
    assert of_reply(Ask("yes_no", text("?")), "YES") == Outcome("pass", "YES")
    assert of_reply(Ask("input", text("?")), " x ") == Outcome("pass", "x")
    assert of_reply(Gate("g"), "approved") == Outcome("approved")
    assert of_reply(Gate("g"), "pass") is None
    ask = Ask("select", text("?"), options=(text("a"),))
    for task in (Shell("sh", text("")), ask, REVIEW, Parallel((REVIEW,)), Gate("g")):
        assert usual(task).word in alphabet(task)


def test_every_end_of_a_branch_on_a_text_is_found() -> None:
    made = triage()
    tried = [(found.word, found.text) for found in outcomes_by_node(made)[0]["1"]]
    apart = ('{"kind": "bug"}', '{"kind": "other text"}')
    assert tried == [(word, answer) for word in ("pass", "fail") for answer in apart], "tests tell them apart"
    assert enumerate_states(made).is_complete
    found = enumerate_paths(made, 10)
    assert {trace.state.node for trace in found.paths} == {"bug", "other", "STOP"}
    assert coverage(made, found.paths).untaken == ()
    verify(optimize(made))
    assert enumerate_paths(optimize(made), 10).paths == found.paths, "the passes keep what slots do"


def test_each_of_many_options_is_tried() -> None:
    ask = Ask("select", text("?"), options=tuple(text(f"option {number}") for number in range(300)))
    made = program(
        node("1", ask, to("END", on="option 299"), to("STOP")), node("END", End("complete")), node("STOP", End("stop"))
    )
    assert enumerate_states(made).is_complete
    found = enumerate_paths(made, 1000)
    assert (len(found.paths), found.is_complete) == (300, True)


def test_of_too_many_texts_some_are_not_tried_and_that_is_said() -> None:
    transitions = [to("END", when=(SlotTest("kind", "==", f"bug {number}"),)) for number in range(300)]
    ask = node("1", Ask("input", text("?")), to("2", Keep("kind")))
    made = program(
        ask, node("2", Branch(), *transitions, to("STOP")), node("END", End("complete")), node("STOP", End("stop"))
    )
    made = replace(made, slots=(Slot("kind"),))
    assert not enumerate_states(made).is_complete
    assert not enumerate_paths(made, 1000).is_complete
    given = replace(made, entry="2", inputs=(Input("kind"),))
    assert not enumerate_states(given).is_complete
    assert not enumerate_paths(given, 1000).is_complete


def test_counters_that_fall_are_told_apart_however_high_they_are() -> None:
    down = Edge((OutcomeTest("pass"),), (Add("r", -1),), "1")
    made = program(
        node("0", COMMAND, to("1", Set("r", 5))),
        node("1", COMMAND, to("END", on="pass", when=(CounterTest("r", "=", 1),)), down, to("STOP", on="fail")),
        node("END", End("complete")),
        node("STOP", End("stop")),
    )
    made = replace(made, counters=(Counter("r", ""),))
    ends = [(trace.state.node, len(trace.visits)) for trace in enumerate_paths(made, 20, 10).paths]
    assert ("END", 6) in ends, "the path down from 5 to 1"


def step(task: Task, *edges: Edge, settings: Settings | None = None) -> Program:
    first = node("1", task, *edges, to("END"))
    first = replace(first, settings=settings or Settings())
    made = program(first, node("END", End("complete")))
    return replace(made, slots=(Slot("s"),), counters=(Counter("r", ""),))


def reading(*keywords: str, validation: str | None = None, excused: tuple[str, ...] = ()) -> Program:
    return step(Agent("", text("x"), Reading(keywords, validation, excused)))


def tool(*parts: str | Reference) -> Program:
    return step(Tool("github", "merge", joined(list(parts))))


VALUE = Reference("s", "{{s}}")
COMMAND = Shell("sh", text("true"))
STRICTER = Agent("", text("Look"), Reading(("GOOD", "VERY BAD")))


def with_constant(name: str) -> Program:
    """A command with a constant that is called as the secret of the program."""
    made = step(COMMAND)
    nodes = [replace(item, constants=(Constant(name, "x"),)) if item.id == "1" else item for item in made.nodes]
    return replace(made, nodes=tuple(nodes), secrets=(name,))


def with_variables(*names: str) -> Program:
    made = step(COMMAND)
    first = replace(made.nodes[0], variables=tuple(Variable(name, "s") for name in names))
    return replace(made, nodes=(first, *made.nodes[1:]))


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (step(Shell("sh", joined(["echo ", VALUE]))), "counter s is not declared"),
        (step(Shell("sh", joined([Reference("r", before="x")]))), "has `before` or `after`"),
        (step(Shell("sh", text("true"), joined([Reference("gone")]))), "register gone is not declared"),
        (step(COMMAND, to("END", Keep("gone"))), "slot gone is not declared"),
        (step(COMMAND, to("END", Clear("r"))), "slot r is not declared"),
        (step(Branch(), to("END", Keep("s"))), "without a task cannot store anything"),
        (step(REVIEW, to("END", Keep("s", "output", "v"))), "only commands have outputs"),
        (step(COMMAND, to("END", Keep("s", "output"))), "needs a `name` for an output"),
        (step(COMMAND, to("END", Keep("s", "output", "v", "f"))), "an output cannot have `extract`"),
        (step(COMMAND, to("END", on="GOOD")), "the task has no outcome GOOD"),
        (step(COMMAND, settings=Settings(timeout=0)), "is below 1"),
        (step(COMMAND, settings=Settings(backoff=0)), "is below 1"),
        (step(Shell("sh", text("a\0b"))), "NUL"),
        (reading("none"), "reserved for answers without a keyword"),
        (reading(" GOOD"), "white space"),
        (reading("GOOD", "Good"), "two keywords differ only in case"),
        (reading("GOOD", excused=("BAD",)), "an excused or failing word is not a keyword"),
        (reading(validation="x"), "a validation needs keywords"),
        (reading("GOOD", validation="("), "is not a valid regular expression"),
        (reading("GOOD", validation="(a+)+"), "repeats, without limit"),
        (step(Parallel(())), "has no entries"),
        (step(Parallel((REVIEW, Agent("", text("x"))))), "only some of its entries have keywords"),
        (step(Parallel((REVIEW,), failing=("UGLY",))), "failing or unanimous word is not a keyword"),
        (tool("{"), "not valid JSON"),
        (tool("[]"), "not a JSON object"),
        (tool('{"a": ', VALUE, "}"), "not valid JSON"),
        (tool('{"', VALUE, '": 1}'), "is outside a string"),
        (tool('{"a": "', Reference("s", before="x"), '"}'), "has `before` or `after`"),
        (step(Ask("select", text("?"), options=(text("a"), text("a")))), "options are not valid"),
        (replace(step(COMMAND), inputs=(Input("v"),)), "no slot with the same name"),
        (replace(step(COMMAND), inputs=(Input("s", "number", default="x"),)), "default is not valid"),
        (replace(step(COMMAND), inputs=(Input("s", "choice"),)), "options are not valid"),
        (replace(step(COMMAND), inputs=(Input("s", pattern="["),)), "is not a valid regular expression"),
        (replace(step(COMMAND), inputs=(Input("s", "choice", options=("a", "")),)), "option is empty"),
        (replace(step(COMMAND), inputs=(Input("s", "choice", options=("a", "a")),)), "or duplicated"),
        (replace(step(COMMAND), limit=0), "limit is below 1"),
        (replace(step(COMMAND), inputs=(Input("a-b"),), slots=(Slot("a-b"),)), "`a-b` is not a valid variable name"),
        (with_variables("1a"), "`1a` is not a valid variable name"),
        (with_variables("PATH"), "the name `PATH` is reserved"),
        (with_variables("LD_PRELOAD"), "the name `LD_PRELOAD` is reserved"),
        (with_variables("RDC_OUTPUT"), "the name `RDC_OUTPUT` is reserved"),
        (with_variables("a", "a"), "two variables have the same name"),
        (replace(with_variables("T"), secrets=("T",)), "T is a secret, so a variable or output"),
        (with_constant("T"), "T is a secret, so a variable or output"),
        (step(COMMAND, to("END", Keep("s", "output", "a b"))), "`a b` is not a valid variable name"),
        (step(COMMAND, to("END", Keep("s", "output", "IFS"))), "the name `IFS` is reserved"),
        (step(Parallel((REVIEW, STRICTER), unanimous=("BAD",))), "a unanimous word is not a keyword of every entry"),
        (step(Gate("g"), settings=Settings(timeout=1)), "cannot have a timeout"),
        (step(Ask("input", text("?")), settings=Settings(timeout=1)), "cannot have a timeout"),
        (step(Agent("", Text(("a", "b")))), "two adjacent strings"),
        (step(Ask("input", Text(("",)))), "an empty string"),
        (tool('{"a": NaN}'), "not valid JSON"),
        (replace(step(COMMAND), contexts=(Context("a", Text(), "b"), Context("b", Text()))), "not declared before it"),
        (
            replace(step(COMMAND), contexts=(Context("a", Text(), "a"),)),
            "a comes after a, which is not declared before",
        ),
        (replace(step(COMMAND), contexts=(Context("a", Text()), Context("a", Text()))), "two contexts are named `a`"),
        (replace(step(COMMAND), contexts=(Context("a", Text(("a", "b"))),)), "two adjacent strings"),
        (replace(step(COMMAND), contexts=(Context("a", joined([Reference("gone")])),)), "the register gone is not"),
        (step(Agent("", text("x"), context="a")), "the context a is not declared"),
        (step(Parallel((Agent("", text("x"), context="a"),))), "the context a is not declared"),
        (replace(step(COMMAND), artifact=Artifact("r", text("json"))), "the artifact: the slot r is not declared"),
        (replace(step(COMMAND), artifact=Artifact("s", joined([Reference("gone")]))), "the register gone is not"),
        (replace(step(COMMAND), artifact=Artifact("s", Text(("a", "b")))), "two adjacent strings"),
    ],
)
def test_the_verifier_names_what_is_broken(broken: Program, problem: str) -> None:
    with pytest.raises(InvalidProgramError, match=problem):
        verify(broken)


def test_what_is_well_formed_passes() -> None:
    verify(tool('{"a": ["x ', VALUE, VALUE, '\ue000"], "', "b", '": 1}'))
    verify(step(Shell("sh", joined(["echo ", Reference("r", "{N}")])), to("END", Keep("s", "output", "v"), on="fail")))
    verify(with_variables("RDC_STEP_INSTANCE", "RDC_SUBSTEP_INSTANCE", "DRAFT_1"))
    verify(step(Parallel((REVIEW, STRICTER), unanimous=("GOOD",))))
    verify(reading("GOOD", "DONE", validation="(GOOD|DONE)+", excused=("DONE",)))
    verify(replace(step(COMMAND), artifact=Artifact("s", joined([VALUE]))))


USUAL = (
    *("a+b*", "(ab)+", "(a{2})+", "(?:x|y)*z+", "(one|two)+", "[a+]*", r"\d+(\.\d+)?", "a|b+"),
    *(r"(\d{1,3}\.){3}\d{1,3}", "(one|two){99}"),
)
NESTED = (
    *("(a*)*", "((a|b+)c?)*", "(?:(?=a+)b)+", "(a+?)*?", "(?P<x>(y{1,}))+", "(a|aa)+b", "(xa|Xb)+", "(a{1,3})+"),
    *("(a?b?)*", "(a?){60}b", "((a|aa){9}){9}", "(a*){9}b", "(a{1,20}){1,10}b"),
)


def test_patterns_that_repeat_without_limit() -> None:
    assert {pattern: pattern_issue(pattern) for pattern in USUAL} == dict.fromkeys(USUAL, "")
    assert [pattern for pattern in NESTED if "repeats" not in pattern_issue(pattern)] == []


def played(*replies: Reply, inputs: dict[str, str] | None = None) -> MockRun:
    ask = Ask("select", text("Which?"), options=(joined([Reference("kind", "{{kind}}")]), text("none")))
    made = triage()
    asking = node("other", ask, to("STOP", on="none"), to("bug"))
    nodes = tuple(asking if one.id == "other" else one for one in made.nodes)
    program = replace(made, nodes=nodes, inputs=(Input("kind", required=False),))
    verify(program)
    scenario = Scenario("a", "", prompted=True, inputs=inputs or {}, replies=replies, ends="COMPLETE")
    return mock(program, scenario)


def test_answers_and_replies_of_a_scenario_are_read_as_those_of_a_run() -> None:
    found = played(Reply("1", '{"kind": "cat"}'), Reply("other", "cat"))
    assert [made.outcome.word for made in found.path.visits] == ["pass", "{{kind}}"]
    assert (found.message, found.path.state.node) == ("", "bug")
    found = played(Reply("1", "cat"), Reply(None, "dog"))
    assert found.message == "`dog` is not an outcome of step other; use one of {{kind}}, none"


REGISTERS = ("a", "b")

references = st.builds(
    Reference,
    st.sampled_from(REGISTERS),
    written=st.sampled_from(["", "{a}", "{{a}}", "{b}", "a", "$", "{1.1}"]),
    missing=st.sampled_from(["", "none"]),
    before=st.sampled_from(["", "<"]),
    after=st.sampled_from(["", ">"]),
)
texts = st.lists(st.text("{}a1$. ", max_size=6) | references, max_size=6).map(joined)


def test_texts_are_filled_in_once() -> None:
    row = joined(["say ", Reference("a", "{{a}}"), "!"])
    assert row.filled({"a": "{{a}} {{b}}"}) == "say {{a}} {{b}}!"
    row = joined([Reference("a", "{{a}}", missing="-", before="[", after="]")])
    assert (row.filled({"a": None}), row.filled({"a": ""}), str(row)) == ("-", "[]", "{{a}}")
    row = joined(['"', Reference("a", before="'"), '"'])
    assert row.filled({"a": '"'}, lambda value: value.replace('"', '\\"')) == '"\'\\""', "a value can be escaped"
    row = joined([Reference("a", "{a}"), " and ", Reference("b", "{b}")])
    assert row.known({"a": "1"}) == joined(["1 and ", Reference("b", "{b}")])


@given(st.lists(st.text(max_size=3), max_size=4))
def test_neighboring_strings_are_one(parts: list[str]) -> None:
    assert joined(list(parts)) == text("".join(parts))


@given(st.lists(texts, max_size=3))
def test_marks_stand_for_references_and_for_nothing_else(rows: list[Text]) -> None:
    """Whatever stands in the texts: who splits a marked text by its marks gets the parts of the text."""
    marks = Marks(rows)
    for row in rows:
        assert _apart(marks.text(row), marks) == list(row.parts)


def _apart(marked: str, marks: Marks) -> list[Part]:
    """The parts of a marked text: from left to right, at each place the first mark that fits."""
    found: list[Part] = []
    while marked:
        mark = next((mark for mark in marks.references if marked.startswith(mark)), None)
        found.append(marks.references[mark] if mark else marked[0])
        marked = marked[len(mark or "x") :]
    return list(joined(found).parts)


def test_the_mark_is_what_the_author_wrote_where_that_is_clear() -> None:
    number = Reference("N", "{N}")
    assert Marks([joined(["a", number, "b", number])]).references == {"{N}": number}
    assert "{N}" not in Marks([joined(["${N} is no ", number])]).references
