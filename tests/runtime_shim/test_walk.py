"""The pure walk: guards, effects, branches, ends, placeholders; random programs take the paths of the semantics."""

from collections.abc import MutableMapping
from random import Random

import pytest

from backends.python.step_calls import author_calls
from compiler.ir.edges import Add, AtLeast, Clear, CounterTest, Edge, Effect, Keep, Reset, Set, SlotTest, Test
from compiler.ir.program import Counter, Node, Program
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Ask, Branch, Shell, Task, alphabet
from compiler.ir.texts import text
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.state import differences, identified, without_places
from runtime_shim.engine.walk import advance, attempt_of, filled, follow, instances_of
from runtime_shim.values.slots import keeping
from tests.support.process import Table, ask, end, program, shell
from tests.support.runtime_programs import agent, edge, node, of, sh, slot
from tests.support.runtime_programs import program as model_program


def step(*edges: Table) -> Table:
    return {"title": "T", "at": "x:1", "task": "ask", "question": "pass/fail", "edges": list(edges)}


def test_first_edge_that_holds_is_taken() -> None:
    table = program(
        {
            "1": step(
                {"on": "fail", "if": [["r", "<", 2]], "do": [["r", "+", 1]], "go": "1", "says": "RETRY 2"},
                {"on": "fail", "do": [["r", "=", 0]], "go": "STOP", "says": "STOP"},
                {"go": "COMPLETE", "says": "anything else"},
            )
        },
        {"r": 0},
    )
    registers: MutableMapping[str, int] = {"r": 0}
    walk = []
    node = "1"
    while node == "1":
        move = advance(table, node, registers, "fail")
        node, registers = move.node, move.registers
        walk.append((node, dict(registers), move.says))
    assert walk == [("1", {"r": 1}, "RETRY 2"), ("1", {"r": 2}, "RETRY 2"), ("STOP", {"r": 0}, "STOP")]
    assert advance(table, "1", {"r": 0}, "pass").says == "anything else"


def test_tests_on_registers() -> None:
    for test, value, expected in (
        ("<", 1, True),
        ("<", 2, False),
        (">=", 2, True),
        (">=", 1, False),
        ("=", 2, True),
        ("=", 3, False),
    ):
        table = program({"1": step({"if": [["r", test, 2], ["q", "=", 0]], "go": "COMPLETE"}, {"go": "STOP"})})
        assert (advance(table, "1", {"r": value, "q": 0}, "pass").node == "COMPLETE") == expected
        assert advance(table, "1", {"r": value, "q": 1}, "pass").node == "STOP"


def test_effects_apply_in_order_and_leave_the_argument_alone() -> None:
    effects = [
        ["a", "=", 5],
        ["b", "+", "a"],
        ["c", "at least", "b"],
        ["d", "at least", 1],
        ["reset", "s"],
        ["a", "+", 1],
    ]
    registers = {"a": 7, "b": 0, "c": 0, "d": 0, "reset": 0}
    table = program(
        {"1": step({"do": [*effects, ["reset", "=", 3]], "go": "COMPLETE"})}, registers, scopes={"s": ["a"]}
    )
    before = {"a": 0, "b": 1, "c": 3, "d": 4, "reset": 0}
    move = advance(table, "1", before, "pass")
    assert move.registers == move.changed == {"a": 8, "b": 6, "c": 6, "d": 4, "reset": 3}, "reset may be a register too"
    assert before == {"a": 0, "b": 1, "c": 3, "d": 4, "reset": 0}
    with pytest.raises(UsageError, match=r"broken: 1 has no transition"):
        advance(program({"1": step({"on": "pass", "go": "COMPLETE"})}), "1", {}, "fail")


def test_branches_and_nested_ends_are_passed_through() -> None:
    edges = [{"if": [["f", ">=", 1]], "go": "n", "says": "1 FAIL: STOP"}, {"go": "2", "says": "1 PASS"}]
    table = program(
        {
            "1": step({"on": "fail", "do": [["f", "=", 1]], "go": "b", "says": "CONTINUE"}, {"go": "b"}),
            "b": {"title": "", "at": "x", "task": "branch", "edges": edges},
            "n": end("stop", "lint failed", edges=[{"do": [["g", "+", 1]], "go": "2", "says": ""}]),
            "2": ask("COMPLETE"),
        },
        {"f": 0, "g": 0},
    )
    good, bad = advance(table, "1", {"f": 0, "g": 0}, "pass"), advance(table, "1", {"f": 0, "g": 0}, "fail")
    assert (good.node, good.passed) == ("2", ("b",))
    assert (bad.node, bad.passed, bad.changed) == ("2", ("b", "n"), {"f": 1, "g": 1})
    assert (good.says, bad.says) == ("1 PASS", "CONTINUE, 1 FAIL: STOP"), "empty labels are left out"
    assert follow(table, {"go": "b"}, {"f": 0, "g": 0}).node == "2"
    assert follow(table, {"go": "STOP"}, {}).node == "STOP"


def test_placeholders_attempts_and_instances() -> None:
    dynamic = {"placeholders": {"{N}": "N", "{n}": "x.n"}}
    assert filled(dynamic, "echo {N}.{n} {M}", {"N": 12, "x.n": "{N}"}) == "echo 12.{N} {M}", (
        "they are filled in one pass"
    )
    assert filled(dynamic, "{n}", {"N": 12, "x.n": "a"}, lambda text: f"<{text}>") == "<a>"
    assert filled({}, "{N}", {"N": 1}) == "{N}"
    assert attempt_of({"attempt": "r"}, {"r": 2}) == 3
    assert attempt_of({}, {"r": 2}) == 1
    assert instances_of({"variables": {"RDC_STEP_INSTANCE": "N"}}, {"N": 4}) == {"RDC_STEP_INSTANCE": 4}


def test_identity_of_a_program() -> None:
    def identity(made: Table) -> Table:
        return identified(made, without_places(made))

    nodes = {"1": shell("true", "2"), "2": ask("COMPLETE")}
    one = program(nodes, {"r": 0})
    moved = program({**nodes, "1": shell("true", "2", at="other:99")}, {"r": 0}, title="Renamed")
    assert identity(one)["program"] == identity(moved)["program"]
    for other in (
        program({**nodes, "1": shell("false", "2")}, {"r": 0}),
        program(nodes, {"r": 1}),
        program(nodes, {"r": 0}, entry="2"),
        program(nodes, {"r": 0}, scopes={"s": ["r"]}),
    ):
        assert identity(one)["program"] != identity(other)["program"]
    steps = identity(one)["nodes"]
    other = program({"2": ask("COMPLETE", prompt="New"), "3": ask("COMPLETE")})
    assert differences(steps, identity(other)["nodes"]) == ["steps added: 3", "steps removed: 1", "steps changed: 2"]
    assert len(differences(steps, identity(program(dict(one["nodes"]), {"r": 5}))["nodes"])) == 1


SLOTS, COUNTERS, TEXTS = ("a", "b"), ("x", "y"), ("", "one", '{"k": " v "}', "<a>")


def random_program(chance: Random) -> Program:
    """Some nodes; branches lead on only, so that no two lead back to each other."""
    tasks: list[Task] = [
        chance.choice((sh("true"), agent("x", "OK", "BAD"), Branch(), Ask("confirm", text("?")))) for _ in range(6)
    ]
    return model_program(
        *(random_node(chance, number, task) for number, task in enumerate(tasks)),
        slots=SLOTS,
        counters=tuple(Counter(name, "s") for name in COUNTERS),
        message=of("a is ", slot("a", before="[", after="]", missing="unset")),
    )


def random_node(chance: Random, number: int, task: Task) -> Node:
    idle = isinstance(task, Branch)
    targets = [str(other) for other in range(number + 1 if idle else 0, 6)] + ["COMPLETE", "STOP"]
    edges: list[Edge] = []
    for _ in range(chance.randrange(4)):
        tests = tuple(random_test(chance) for _ in range(chance.randrange(3)))
        word = chance.choice(alphabet(task)) if not idle and chance.random() < 0.7 else None
        edges.append(edge(chance.choice(targets), word, *random_effects(chance, task), tests=tests))
    return node(str(number), task, *edges, edge(chance.choice(targets), None, *random_effects(chance, task)))


def random_test(chance: Random) -> Test:
    if chance.random() < 0.5:
        return SlotTest(chance.choice(SLOTS), chance.choice(("==", "!=")), chance.choice(TEXTS))
    return CounterTest(chance.choice(COUNTERS), chance.choice(("<", ">=", "=")), chance.randrange(3))


def random_effects(chance: Random, task: Task) -> list[Effect]:
    counters = chance.choice(COUNTERS), chance.choice(COUNTERS)
    name = chance.choice(SLOTS)
    known: list[Effect] = [Set(counters[0], 1), Add(*counters), Add(counters[0], 1), AtLeast(counters[0], 2)]
    known += [Reset("s"), Clear(name)]
    if not isinstance(task, Branch):
        known += [Keep(name), Keep(name, extract="k")]
    if isinstance(task, Shell):
        known += [Keep(name, "output", "V")] * 2
    return [chance.choice(known) for _ in range(chance.randrange(4))]


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(40))
def test_walks_are_the_same(seed: int) -> None:
    chance = Random(seed)
    made = random_program(chance)
    machine, entries = Machine(made), author_calls(made).built()
    state, move = machine.start(), follow(entries, {"go": entries["entry"]}, entries["registers"])
    for _ in range(60):
        registers = dict(move.registers)
        assert move.node == state.node
        assert {name: registers[name] for name in SLOTS} == dict(state.slots)
        assert {name: registers[name] for name in COUNTERS} == {name: state.counters[name] for name in COUNTERS}
        end = machine.end(state)
        if end is not None:
            step = entries["nodes"][move.node]
            assert filled(step, step["message"], registers) == str(end.message)
            return
        word, reply = chance.choice(alphabet(machine.nodes[state.node].task)), chance.choice(TEXTS)
        values = (("V", chance.choice(TEXTS)),) if chance.random() < 0.5 else ()
        state = machine.advance(state, Outcome(word, reply, values)).state
        move = advance(entries, move.node, registers, word, keeping(reply, dict(values)))
