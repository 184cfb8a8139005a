"""The verifier: each rule has a number, a test that breaks it, and a line on the page; each takes linear time."""

import json
import pickle
import re
import time
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compiler.ir.edges import Add, Clear, Edge, Keep, Origin, OutcomeTest, Reset, StepOutcome
from compiler.ir.program import (
    Artifact,
    Constant,
    Context,
    Counter,
    Entering,
    Group,
    Input,
    Jump,
    Node,
    Program,
    Settings,
    Slot,
    SourceFile,
    SpecifiedStep,
    StepSpecs,
    Variable,
)
from compiler.ir.rules import Event, Rule
from compiler.ir.serialize import to_json
from compiler.ir.tasks import Agent, Ask, Branch, End, Parallel, Reading, Shell, Stage, Tool
from compiler.ir.texts import Reference, Text, joined, text
from compiler.ir.verify import RULES, InvalidProgramError, issues, verify
from compiler.ir.verify import Rule as Check
from compiler.passes import PASSES, optimize
from compiler.text.source import Span
from tests.conftest import ROOT
from tests.differential.generate.program import random_case
from tests.support.program_json import from_json

Damage = Callable[[Program, int], Program]
"""Breaks a program at a node."""

PLACE = Origin("x.md", Span(1, 1, 1, 2))
GONE = "\U0001f5d1 gone"
"""A name that no random program has."""


@cache
def drawn(seed: int) -> Program:
    """A random program with anything that programs can have."""
    return from_json(random_case(seed).text)


def at_node(**changed: object) -> Damage:
    def damage(program: Program, place: int) -> Program:
        nodes = list(program.nodes)
        nodes[place] = replace(nodes[place], **changed)
        return replace(program, nodes=tuple(nodes))

    return damage


def with_edge(*edges: Edge, **changed: object) -> Damage:
    """Put edges before those of a node; a target of "" is the node itself."""

    def damage(program: Program, place: int) -> Program:
        node = program.nodes[place]
        own = (replace(edge, target=edge.target or node.id) for edge in edges)
        return at_node(edges=(*own, *node.edges), **changed)(program, place)

    return damage


def with_more(field: str, *items: object) -> Damage:
    return lambda program, _: replace(program, **{field: (*getattr(program, field), *items)})


def changed(**fields: object) -> Damage:
    return lambda program, _: replace(program, **fields)


AROUND = tuple(
    Group(name, Text(), Text(), "step", parent, PLACE)
    for name, parent in {"outer": "", "inner": "outer", "other": "outer"}.items()
)


def with_settled(*settled: tuple[str, str]) -> Damage:
    """Put a node in a group, and an edge that settles outcomes before its edges."""
    edge = Edge((), (), "", settles=tuple(StepOutcome(*each) for each in settled))

    def damage(program: Program, place: int) -> Program:
        program = replace(program, groups=(*program.groups, *AROUND))
        return with_edge(edge, group="inner")(program, place)

    return damage


def rule(**fields: object) -> Rule:
    return Rule(**{"name": "r", "sentence": "always x", "guards": (Event("", "stop"),), **fields})  # type: ignore[arg-type]


def twice(field: str, item: object) -> Damage:
    return with_more(field, item, item)


BREAKING: dict[str, tuple[Damage, ...]] = {
    "I1": (
        with_edge(Edge((), (), GONE)),
        changed(entry=GONE),
        changed(sources=()),
        lambda program, place: replace(program, nodes=(*program.nodes, program.nodes[place])),
        at_node(id=""),
    ),
    "I2": (
        at_node(task=Shell("sh", text("true")), edges=()),
        at_node(task=Ask("input", text("?")), edges=(Edge((OutcomeTest("fail"),), (), "x"),)),
        at_node(task=Shell("sh", text("true")), edges=(Edge((OutcomeTest("pass"), OutcomeTest("fail")), (), "x"),)),
        with_edge(Edge((OutcomeTest("pass"),), (), ""), task=End("stop")),
        with_edge(Edge((), (), ""), task=Branch()),
    ),
    "I4": (
        at_node(retries=GONE),
        at_node(group=GONE),
        with_edge(Edge((), (Reset(GONE),), "")),
        with_edge(Edge((), (Add(GONE, 1),), "")),
        with_more("groups", Group("g", Text(), Text(), "step", GONE, PLACE)),
        twice("counters", Counter(GONE, "")),
        lambda program, place: with_more("counters", Counter(GONE, ""))(
            with_more("slots", Slot(GONE))(program, place), place
        ),
    ),
    "I5": (with_edge(Edge((), (Clear(GONE),), "")),),
    "I6": (
        at_node(title=Text(("a", "b"))),
        at_node(title=Text(("",))),
        at_node(title=text("a\0b")),
        at_node(title=joined([Reference(GONE)])),
        with_more("groups", Group("g", Text(("",)), Text(), "step", "", PLACE)),
    ),
    "I7": (
        at_node(variables=(Variable("x", GONE),)),
        at_node(variables=(Variable("a-b", GONE),)),
        at_node(constants=(Constant("BASH_ENV", "x"),)),
        at_node(task=Shell("sh", joined([Reference(GONE)]))),
        with_edge(Edge((), (Keep("s", "output", "PATH"),), "")),
        with_more("secrets", "PATH"),
        with_more("inputs", Input("a b")),
    ),
    "I8": (with_more("inputs", Input("nowhere")), twice("inputs", Input("x"))),
    "I10": (at_node(task=Ask("select", text("?"))), at_node(task=Ask("input", text("?"), options=(text("a"),)))),
    "I12": (
        at_node(task=Agent("", text("x"), Reading(("A", "a")))),
        at_node(task=Agent("", text("x"), Reading(("none",)))),
        at_node(task=Agent("", text("x"), Reading((), "(a*)*"))),
        at_node(task=Parallel((Agent("", text("x"), Reading((" A",))),))),
    ),
    "I13": (at_node(task=Tool("a", "b", text("[]"))), at_node(task=Tool("a", "b", text("{")))),
    "I14": (
        at_node(task=Parallel(())),
        at_node(task=Parallel((Agent("", text("x"), Reading(("A",))), Agent("", text("x"))))),
        at_node(task=Parallel((Agent("", text("x")),), failing=("A",))),
    ),
    "I17": (
        with_edge(Edge((OutcomeTest(GONE),), (), "")),
        with_edge(Edge((OutcomeTest("pass"),), (), ""), task=Branch()),
    ),
    "I19": (
        with_edge(Edge((), (Keep("s"),), ""), task=Branch()),
        with_edge(Edge((), (Keep("s", "output"),), ""), task=Shell("sh", text("true"))),
        with_edge(Edge((), (Keep("s", "output", "x"),), ""), task=Ask("input", text("?"))),
    ),
    "I21": (at_node(settings=Settings(delay=-1)), at_node(settings=Settings(timeout=1), task=Ask("input", text("?")))),
    "I24": (changed(limit=0),),
    "I25": (at_node(constants=(Constant("x", ""), Constant("x", ""))),),
    "I26": (
        twice("secrets", "X_Y"),
        lambda program, place: replace(at_node(constants=(Constant("Z", ""),))(program, place), secrets=("Z",)),
    ),
    "I27": (
        with_more("jumps", Jump(GONE, GONE)),
        lambda program, place: replace(
            program,
            groups=(Group("g", Text(), Text(), "step", "", PLACE), Group("h", Text(), Text(), "step", "g", PLACE)),
            jumps=(Jump("h", program.nodes[place].id, (Entering("h", ()), Entering("g", ()))),),
        ),
        lambda program, place: replace(
            program, jumps=(Jump(program.nodes[place].id, program.nodes[place].id, effects=(Keep("s"),)),)
        ),
        lambda program, place: replace(
            program, jumps=(Jump(program.nodes[place].id, program.nodes[place].id, effects=(Reset(GONE),)),)
        ),
    ),
    "I28": (changed(artifact=Artifact(GONE, text("json"))), changed(artifact=Artifact("s", Text(("",))))),
    "I29": (
        at_node(task=Agent("", text("x"), report="../x")),
        at_node(task=Parallel((Agent("", text("x"), report="x"),))),
    ),
    "I30": (changed(folder=GONE),),
    "I31": (
        with_more("contexts", Context("a", Text(), GONE)),
        twice("contexts", Context(GONE, Text())),
        at_node(task=Agent("", text("x"), context=GONE)),
    ),
    "I32": (
        at_node(task=Stage("tool", "x")),
        changed(stepspec=StepSpecs("[]", ())),
        changed(stepspec=StepSpecs("{}", (SpecifiedStep("", text("{}")),))),
    ),
    "I33": (
        with_settled(("inner", "passed")),
        with_settled((GONE, "pass")),
        with_settled(("other", "pass")),
        with_settled(("outer", "pass"), ("inner", "pass")),
        with_settled(("inner", "pass"), ("inner", "fail")),
        twice("rules", rule()),
        with_more("rules", rule(guards=(Event(GONE),))),
        with_more("rules", rule(opens=(Event(GONE, "pass"),))),
        with_more("rules", rule(closes=(Event("", "failed"),))),
        with_more("rules", rule(guards=(Event(""),))),
        with_more("rules", rule(scope=GONE)),
        with_more("rules", rule(most=-1)),
        lambda program, place: with_more("rules", rule(persons=(program.nodes[place].id,)))(
            at_node(task=Shell("sh", text("true")))(program, place), place
        ),
        lambda program, place: with_more("rules", rule(guards=(Event(program.nodes[place].id),)))(
            at_node(task=Branch())(program, place), place
        ),
    ),
}


def test_each_rule_has_a_test_and_a_line_on_the_page() -> None:
    page = (ROOT / "docs" / "reference" / "program-rules.md").read_text(encoding="utf-8")
    parts = re.split(r"^- \*\*(I\d+)", page, flags=re.MULTILINE)[1:]
    lines = dict(zip(parts[::2], parts[1::2], strict=True))
    assert [number for number, line in lines.items() if "*checked" in line.lower()] == sorted(RULES, key=[*lines].index)
    assert BREAKING.keys() == RULES.keys()


@pytest.mark.parametrize("number", RULES)
@settings(max_examples=8)
@given(seed=st.integers(0, 12), place=st.integers(0, 7))
def test_damage_breaks_its_rule_where_it_is(number: str, seed: int, place: int) -> None:
    program = drawn(seed)
    assert not issues(program)
    broken, at = program, place % len(program.nodes)
    for damage in BREAKING[number]:
        broken = damage(program, at)
        found = [one for one in issues(broken) if one.rule == number]
        assert found, damage
        value = json.loads(to_json(broken))
        for one in found:
            part: object = value
            for key in one.issue.path:
                part = part[key] if isinstance(part, list) else part.get(key, {})  # type: ignore[index, attr-defined]
            expected = broken.nodes[int(one.issue.path[1])].id if one.issue.path[0] == "nodes" else ""
            assert one.node == expected
    with pytest.raises(InvalidProgramError):
        verify(broken)


def test_a_broken_rule_is_named_with_the_document_and_survives_a_process() -> None:
    program = at_node(id="2", edges=())(from_json(random_case(1).text), 0)
    with pytest.raises(InvalidProgramError) as caught:
        verify(replace(program, entry="2"), "thread-jumps")
    copied = str(pickle.loads(pickle.dumps(caught.value)))
    assert copied == str(caught.value)
    assert "p.json has a broken graph after thread-jumps. This is a bug in rdc; please report it" in copied


@settings(max_examples=60)
@given(seed=st.integers(0, 200))
def test_a_pass_that_changes_nothing_returns_the_same_program(seed: int) -> None:
    program = drawn(seed)
    for run in PASSES.values():
        after = run(program)
        assert (after is program) == (after == program)
        program = after


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_that_breaks_the_graph_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PASSES, name, lambda program: replace(program, entry=GONE))
    with pytest.raises(InvalidProgramError, match=f"rule I1: the entry {GONE} is not a node.* after {name}"):
        optimize(from_json(random_case(1).text))


def large(size: int) -> Program:
    """A program that is large in everything that a rule looks at."""
    numbers = range(size)
    words = tuple(f"W{number}" for number in numbers)
    agent = Agent("a", joined(["x ", Reference("s0")]), context="c0")
    out = Edge((), (), "end")
    chosen = tuple(Edge((OutcomeTest(word),), (), "end") for word in words)
    entries = (replace(agent, reading=Reading(words)), *(replace(agent, reading=Reading(("A",))) for _ in numbers))
    seen = tuple(Variable(f"V{n}", f"s{n}") for n in numbers)
    nodes = [
        *(_command(n) for n in numbers),
        *(_node(f"a{n}", replace(agent, report=f"a{n}", context=f"c{n}"), _keeping(n)) for n in numbers),
        *(_node(f"b{n}", Branch(), Edge((), (), f"b{n + 1}" if n + 1 < size else "end")) for n in numbers),
        _node("words", replace(agent, reading=Reading(words)), *chosen, out),
        _node("options", Ask("select", text("?"), options=tuple(map(text, words))), out),
        _node("parallel", Parallel(entries, unanimous=words), out),
        _node("variables", Shell("sh", text("x")), out, variables=seen),
        _node("end", End("complete")),
    ]
    return Program(
        name="x",
        title="x",
        sources=(SourceFile("x.md", "0"),),
        entry="n0",
        nodes=tuple(nodes),
        groups=tuple(Group(f"g{n}", text("x"), Text(), "step", f"g{n - 1}" if n else "", PLACE) for n in numbers),
        counters=tuple(Counter(f"r{n}", f"g{n}") for n in numbers),
        slots=tuple(Slot(name) for n in numbers for name in (f"s{n}", f"i{n}")),
        inputs=tuple(Input(f"i{n}") for n in numbers),
        secrets=tuple(f"SECRET_{n}" for n in numbers),
        jumps=tuple(Jump(f"n{n}", f"n{n}", effects=(Add(f"r{n}", 1), Clear(f"s{n}"))) for n in numbers),
        contexts=tuple(Context(f"c{n}", text("x"), f"c{n - 1}" if n else "") for n in numbers),
        rules=tuple(rule(name=f"r{n}", guards=(Event(f"n{n}"),), opens=(Event(f"g{n}", "pass"),)) for n in numbers),
    )


def _node(name: str, task: object, *edges: Edge, **fields: object) -> Node:
    return Node(name, text("x"), PLACE, task, edges, **fields)  # type: ignore[arg-type]


def _command(number: int) -> Node:
    effects = (Add(f"r{number}", 1), Reset(f"g{number}"), Keep(f"s{number}", "output", "x"))
    edges = Edge((), effects, "end", settles=(StepOutcome(f"g{number}", "pass"),)), Edge((), (), "end")
    return _node(f"n{number}", Shell("sh", text("x")), *edges, group=f"g{number}", retries=f"r{number}")


def _keeping(number: int) -> Edge:
    return Edge((), (Keep(f"s{number}"),), "end")


@pytest.mark.share(2)
def test_each_rule_takes_linear_time() -> None:
    """Eight times the size takes eight times as long. What is quadratic takes 64 times."""
    small, eightfold = large(125), large(1_000)
    assert {one.rule for one in issues(small)} == {"I14"}, "one word is not in each entry, which takes longest"
    for number, rule in RULES.items():
        once, more = _seconds(rule, small), _seconds(rule, eightfold)
        assert more < 30 * max(once, 0.0005), f"{number} takes {once:.4f} s, and {more:.4f} s for eight times the size"


def _seconds(rule: Check, program: Program) -> float:
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        list(rule(program))
        best = min(best, time.process_time() - begun)
    return best
