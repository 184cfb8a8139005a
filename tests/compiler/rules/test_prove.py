"""Proofs of rules in real documents: which value the rule has where, and how much is explored (P-5 to P-12)."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from compiler.analyses.enumeration import StateSpace
from compiler.ir.edges import Edge, Origin, OutcomeTest, SlotTest
from compiler.ir.program import Input, Node, Program, Settings, Slot, SourceFile
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Ask, Branch, End, Shell, Task
from compiler.ir.texts import Text, text
from compiler.rules import prove as tiers
from compiler.rules.model import Proof, Status
from compiler.rules.prove import prove
from compiler.text.source import Span
from tests.support.documents import compiled
from tests.support.runbooks import command, question

PLACE = Origin("x.runbook.md", Span(1, 1, 1, 2))
COMPLETE, STOP = Event("", "complete"), Event("", "stop")


def proof(folder: Path, sentence: str, *steps: str, files: dict[str, str] | None = None) -> Proof:
    """The proof of a sentence in a runbook of these steps."""
    document = f"---\nrdc:\n  rules:\n    r: {sentence}\n---\n\n{''.join(steps)}"
    found = compiled(folder, document, files)
    assert found.rules, found.diagnostics
    return found.rules[0].proof


def steps(made: Proof) -> str:
    """The visits of a path: `1+ 2-`."""
    marks = {"pass": "+", "fail": "-"}
    return " ".join(f"{one.step}{marks[one.outcome.word]}" for one in made.visits)


DEPLOY = (
    command("1. Test", "make test", "PASS: CONTINUE", "FAIL: GOTO 3"),
    question("2. Ship?", "Is it good?", "YES: CONTINUE", "NO: STOP"),
    command("3. Deploy", "make deploy", "PASS: COMPLETE", "FAIL: RETRY 2 GOTO Rollback"),
    command("Rollback", "make undo", "PASS: GOTO 1", "FAIL: STOP"),
)


RETRIED = (
    command("1. Deploy", "make", "PASS: CONTINUE", "FAIL: RETRY 2 STOP"),
    command("2. Restore", "make", "FAIL: STOP"),
)
PARTS = (
    "## 1. Build\n\n- PASS ALL: CONTINUE\n- FAIL ANY: GOTO 2\n\n",
    command("### 1.1 Compile", "make", "FAIL: CONTINUE"),
    command("### 1.2 Lint", "make lint", "FAIL: CONTINUE"),
    command("2. Deploy", "make deploy"),
)
TWO = (command("1. A", "true", "FAIL: STOP"), command("2. B", "true"))


@pytest.mark.parametrize(
    ("parts", "sentence", "path", "event"),
    [
        (DEPLOY, "2 YES before 3", "1-", Event("3")),
        (DEPLOY, "1 PASS or 1 FAIL before 3", None, None),
        (DEPLOY, "1 PASS before 1", "", Event("1")),
        (DEPLOY, "1 PASS or 1 FAIL before 3, again after 3", "1- 3-", Event("3")),
        (DEPLOY, "1 PASS or 1 FAIL before 3, again after 3 PASS", None, None),
        (DEPLOY, "2 YES before COMPLETE", "1- 3+", COMPLETE),
        (DEPLOY, "no 3 after Rollback", "1- 3- 3- 3- Rollback+ 1-", Event("3")),
        (DEPLOY, "no 3 after Rollback until 1 PASS or 1 FAIL", None, None),
        (DEPLOY, "after 3 FAIL, always Rollback", "1- 3- 3+", COMPLETE),
        (DEPLOY, "after 1 FAIL, always 3", None, None),
        (DEPLOY, "always 3", "1+ 2-", STOP),
        (DEPLOY, "3 at most 3 times", "1- 3- 3- 3- Rollback+ 1-", Event("3")),
        (
            DEPLOY,
            "Rollback at most 12 times",
            " ".join(["1- 3- 3- 3- Rollback+"] * 12 + ["1- 3- 3- 3-"]),
            Event("Rollback"),
        ),
        # The graph has a loop, so only the counters show that there are three attempts.
        (RETRIED, "1 at most 3 times", None, None),
        (RETRIED, "1 at most 2 times", "1- 1-", Event("1")),
        (RETRIED, "after 1 FAIL, always 2", "1- 1- 1-", STOP),
        # A step with substeps passes before the next one starts.
        (PARTS, "1 PASS before 2", "1.1+ 1.2-", Event("2")),
        (PARTS, "1 PASS or 1 FAIL before 2", None, None),
        (PARTS, "1 FAIL or 1.2 PASS before 2", None, None),
        (TWO, "1 PASS before 2", None, None),  # the jumps of an operator are no part of a proof
    ],
)
def test_verdicts_and_shortest_paths(
    parts: tuple[str, ...], sentence: str, path: str | None, event: Event | None, tmp_path: Path
) -> None:
    found = proof(tmp_path, sentence, *parts)
    assert found.status == (Status.HOLDS if path is None else Status.BROKEN)
    assert (steps(found), found.event) == (path or "", event)
    if event == STOP and parts == RETRIED:
        assert [one.attempt for one in found.visits] == [1, 2, 3], "which the search forgot"


NESTED = "---\nrdc:\n  rules:\n    r: {rule}\n---\n\n" + "".join(
    (command("1. Look", "true", "PASS: CONTINUE", "FAIL: CONTINUE"), command("2. Fix", "true", "FAIL: STOP"))
)


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("1 PASS before 2", "2/lint.runbook.md/1-"),
        ("1 at most 1 time", None),
        ("always 2", None),
        ("2 PASS before END", "2/lint.runbook.md/1+ 2/lint.runbook.md/2-"),
        ("2 PASS before COMPLETE", None),
    ],
)
def test_a_rule_of_a_nested_document_starts_again_with_each_inclusion(
    rule: str, path: str | None, tmp_path: Path
) -> None:
    main = command("1. Start", "true") + "## 2. Lint\n\n- lint.runbook.md\n\n- PASS: GOTO 1\n- FAIL: STOP\n\n"
    found = compiled(tmp_path, main, {"lint.runbook.md": NESTED.format(rule=rule)})
    assert found.rules, found.diagnostics
    made = found.rules[0].proof
    assert steps(made) == ("" if path is None else f"1+ {path}")
    assert made.status is (Status.HOLDS if path is None else Status.BROKEN)


def test_a_rule_of_a_nested_document_starts_again_when_the_step_around_it_is_retried(tmp_path: Path) -> None:
    inner = NESTED.format(rule="2 at most 1 time")
    main = "## 1. Lint\n\n- lint.runbook.md\n\n- FAIL: RETRY 2 STOP\n\n"
    found = compiled(tmp_path, main, {"lint.runbook.md": inner})
    assert [one.proof.status for one in found.rules] == [Status.HOLDS]
    outside = "---\nrdc:\n  rules:\n    r: 1/lint.runbook.md/2 at most 1 time\n---\n\n"
    found = compiled(tmp_path, outside + main, {"lint.runbook.md": inner})
    assert [steps(one.proof) for one in found.rules if not one.rule or not one.rule.scope] == [
        "1/lint.runbook.md/1+ 1/lint.runbook.md/2- 1/lint.runbook.md/1+"
    ]


def program(*nodes: Node, **more: object) -> Program:
    ends = (Node("END", Text(), PLACE, End("complete"), ()), Node("STOP", Text(), PLACE, End("stop"), ()))
    return Program("x", "X", (SourceFile("x", "0" * 64),), nodes[0].id, (*nodes, *ends), **more)  # type: ignore[arg-type]


def step(name: str, passed: str, failed: str, task: Task | None = None, **more: object) -> Node:
    edges = (Edge((OutcomeTest("pass"),), (), passed), Edge((OutcomeTest("fail"),), (), failed))
    return Node(name, Text(), PLACE, task or Shell("sh", text("true")), edges, **more)  # type: ignore[arg-type]


def test_limits_of_steps_and_of_waits_end_the_run() -> None:
    loop = program(step("1", "1", "2"), step("2", "END", "END"), limit=3)
    needed, often = Rule("r", "", (STOP,), opens=(Event("2"),)), Rule("r", "", (Event("1"),), most=3)
    broken, holds = prove(loop, [needed, often])
    assert (steps(broken), broken.event) == ("1+ 1+ 1+", STOP)
    assert holds.status is Status.HOLDS
    rule = Rule("r", "", (STOP,), opens=(Event("2"),))
    for task, status in ((Ask("input", text("?")), Status.BROKEN), (Ask("yes_no", text("?")), Status.HOLDS)):
        asks = step("1", "2", "2", task, settings=Settings(expire=60))
        (found,) = prove(program(asks, step("2", "STOP", "STOP")), [rule])
        assert (found.status, found.visits) == (status, ())


@pytest.mark.parametrize(
    ("mode", "status", "reason"),
    [
        (Input("mode"), Status.HOLDS, ""),
        # No string that rdc knows of fits the pattern and differs from the one of the test.
        (Input("mode", pattern="fast|fester"), Status.NOT_PROVEN, "tests distinguish more strings than rdc tries"),
        (Input("mode", "choice", options=("fast", "slow")), Status.HOLDS, ""),
    ],
)
def test_a_path_starts_with_the_inputs_that_lead_there(mode: Input, status: Status, reason: str) -> None:
    fast = Edge((SlotTest("mode", "==", "fast"),), (), "2")
    first = Node("0", Text(), PLACE, Branch(), (fast, Edge((), (), "1")))
    asks = Node("1", Text(), PLACE, Branch(), (replace(fast, target="3"), Edge((), (), "2")))
    known = {"slots": (Slot("mode"),), "inputs": (mode,)}
    made = program(first, asks, step("2", "END", "END"), step("3", "2", "2"), **known)
    never, needed = Rule("r", "", (Event("3"),)), Rule("r", "", (Event("2"),), opens=(Event("1", "pass"),))
    (found,) = prove(made, [never])
    assert (found.status, found.reason) == (status, reason)
    (found,) = prove(program(first, step("1", "2", "STOP"), step("2", "END", "END"), **known), [needed])
    assert (found.inputs, found.visits, found.event) == ((("mode", "fast"),), (), Event("2"))


def explored(folder: Path, number: int, patch: pytest.MonkeyPatch) -> int:
    """How many states the proof of a rule about the last step takes, if so many failures are tolerated."""
    spaces: list[StateSpace] = []
    again = StateSpace.again

    def noted(space: StateSpace) -> StateSpace:
        spaces.append(again(space))
        return spaces[-1]

    patch.setattr(StateSpace, "again", noted)
    parts = [
        "## {n}. S\n\n- PASS ALL: CONTINUE\n- FAIL ANY: CONTINUE\n\n".replace("{n}", str(n))
        + command(f"### {n}.1 A", "true", "FAIL: CONTINUE")
        + command(f"### {n}.2 B", "true", "FAIL: CONTINUE")
        for n in range(1, number + 1)
    ]
    last = command(f"{number + 1}. Last", "true", "FAIL: RETRY 1 STOP")
    assert proof(folder, "Last at most 2 times", *parts, last).status is Status.HOLDS
    return len(spaces[-1].steps)


def test_states_grow_with_steps_and_do_not_double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = explored(tmp_path, 10, monkeypatch), explored(tmp_path, 20, monkeypatch)
    assert 10 < few < many < 2.2 * few


def test_too_many_states_are_not_proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "MOST_STATES", 50)
    often = command("1. Again", "true", "PASS: COMPLETE", "FAIL: CONTINUE"), command("2. Fix", "true", "PASS: GOTO 1")
    found = proof(tmp_path, "1 at most 100 times", *often)
    assert (found.status, found.reason) == (Status.NOT_PROVEN, "rdc explored 50 states, and there are more")
    assert proof(tmp_path, "1 at most 20 times", *often).status is Status.BROKEN
