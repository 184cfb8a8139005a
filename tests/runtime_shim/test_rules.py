"""Rules in a run: what is held and why, what an operator can do then, and what the journal has of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from compiler.ir.edges import StepOutcome
from compiler.ir.program import Group, Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Ask, Gate
from compiler.ir.texts import text
from runtime_shim.operator.rules import Locks
from tests.runtime_shim.operator import codes, unchanged
from tests.support.rules import COMMAND
from tests.support.runtime_programs import ORIGIN, Compiled, agent, edge, node, program, sh

pytestmark = pytest.mark.process

QUESTION = Ask("yes_no", text("Deploy?"))
APPROVED = Rule(
    "approved", "2 YES before 3", (Event("3"),), (Event("2", "pass"),), (Event("2", "fail"),), needs="2 YES"
)
BY_PERSON = replace(APPROVED, needs="2 YES by a person", persons=("2",))
HELD = 'rdc: 3 can\'t start: rule approved needs "2 YES" first'


def deploys(*rules: Rule, second: object = QUESTION, last: str = "true") -> Program:
    """A check, a decision, and a deployment."""
    words = ("approved", "rejected") if isinstance(second, Gate) else ("pass", "fail")
    return program(
        node("1", sh(COMMAND), edge("2", "pass"), edge("STOP", "fail")),
        node("2", second, edge("3", words[0]), edge("STOP", words[1])),  # type: ignore[arg-type]
        node("3", sh(last), edge("COMPLETE", "pass"), edge("STOP", "fail")),
        rules=rules,
    )


def test_a_jump_that_breaks_a_rule_is_refused_and_not_recorded(tmp_path: Path) -> None:
    place = Compiled(tmp_path, deploys(APPROVED))
    assert place.run("run").code == 75
    with unchanged(place):
        refused = place.run("goto", "3")
    assert (refused.code, refused.last) == (2, HELD.replace("rdc: ", "rdc: error: "))
    moved = place.run("goto", "1")
    assert (moved.code, "rdc: closed rules: approved\n" in moved.err) == (0, True)
    assert place.run("resume").code == 75
    assert place.run("answer", "2", "yes", "--resume").code == 0, "the flow itself keeps the rule"


def test_an_override_lets_one_event_pass_and_opens_nothing(tmp_path: Path) -> None:
    place = Compiled(tmp_path, deploys(APPROVED, last="kill -9 $PPID"))
    place.run("run")
    note = "the database is down"
    passed = place.run("goto", "3", "--override", "approved", "--note", note, "--by", "ann", "--events", "events")
    assert passed.code == 0, passed.err
    record = next(one for one in place.records() if one["kind"] == "override")
    assert (record["rule"], record["event"], record["by"], record["note"]) == ("approved", "start of 3", "ann", note)
    assert f"rule approved was overridden for the start of 3 by ann: {note}" in place.run("status").out
    assert json.loads(place.run("status", "--json").out)["overrides"][0]["note"] == note
    assert [json.loads(one)["event"] for one in place.text("events").splitlines()] == ["goto", "override"]
    assert place.run("resume").code == -9
    again = place.run("resume", "--rerun-interrupted")
    assert (again.code, again.last) == (75, "rdc: WAITING 3 Step 3"), "a repetition is another start"
    assert HELD in again.err
    place.made = deploys(APPROVED)
    assert place.run("resume", "--override", "approved", "--note", "x\ty").code == 2, "a note is one line"


def test_a_wrong_override_is_refused(tmp_path: Path) -> None:
    fixed = Rule("fixed", "3 at most 1 time", (Event("3"),), most=1, override=False)
    place = Compiled(tmp_path, deploys(APPROVED, fixed))
    place.run("run")
    with unchanged(place):
        for words, reason in (
            (("aproved", "--note", "so"), "rule aproved doesn't exist; did you mean approved?"),
            (("zzz", "--note", "so"), "rule zzz doesn't exist"),
            (("approved",), "--override needs --note TEXT with the reason"),
            (("fixed", "--note", "so"), "rule fixed can't be overridden"),
            (("approved", "--note", "so"), "no rule holds the run, so none can be overridden"),
        ):
            refused = place.run("resume", "--override", *words)
            assert (refused.code, refused.last) == (2, f"rdc: error: {reason}")


def test_an_assumed_outcome_closes_but_does_not_open(tmp_path: Path) -> None:
    checked = Rule("checked", "1 PASS before 2", (Event("2"),), (Event("1", "pass"),), needs="1 PASS")
    open_ = Rule("open", "no 2 after 1 PASS", (Event("2"),), (), (Event("1", "pass"),), is_open=True)
    for number, rule in enumerate((checked, open_)):
        folder = tmp_path / str(number)
        folder.mkdir()
        place = Compiled(folder, deploys(rule))
        (folder / "kill").touch()
        assert place.run("run").code == -9
        held = place.run("resume", "--assume", "pass")
        assert (held.code, f"2 can't start: rule {rule.name} " in held.err) == (75, True), held.err
        assert held.last == "rdc: WAITING 2 Step 2"
        assert json.loads(place.run("status", "--json").out)["state"] == "held"
        answered = place.run("answer", "2", "yes")
        assert (answered.code, f"rule {rule.name} " in answered.last) == (2, True), "it has not started"
        passed = place.run("answer", "2", "yes", "--override", rule.name, "--note", "seen", "--resume")
        assert passed.code == 0, passed.err


def test_the_end_of_a_run_is_held_until_the_step_that_it_needs(tmp_path: Path) -> None:
    always = Rule("always", "always 2", (Event("", "complete"), Event("", "stop")), (Event("2"),), needs="2")
    place = Compiled(tmp_path, deploys(always))
    (tmp_path / "fail-1").touch()
    held = place.run("run")
    assert (held.code, 'the run can\'t end: rule always needs "2" first' in held.err) == (75, True), held.err
    assert "rdc: to decide that: " in held.err
    assert place.run("resume").code == 75, "it stays held"
    assert "HELD at STOP" in place.run("status").out
    ended = place.run("resume", "--override", "always", "--note", "nothing to clean")
    assert (ended.code, ended.last) == (1, "rdc: STOP gave up")
    assert "rule always was overridden for the end of the run" in ended.err


def test_a_run_is_either_a_mock_run_or_a_real_one_where_a_rule_needs_a_person(tmp_path: Path) -> None:
    asked = node("2", QUESTION, edge("3", "pass"), edge("STOP", "fail"))
    place = Compiled(tmp_path, program(asked, node("3", agent("Deploy it.")), rules=(BY_PERSON,)))
    (tmp_path / "mock.json").write_text('{"agents": {}}')
    (tmp_path / "answers").write_text("2 yes\n")
    assert place.mocked("run", "--answers", "answers").code == 2, "no mock answers step 3"
    answered = [one.get("by") for one in place.records() if one["kind"] == "done" and one["node"] == "2"]
    assert answered == ["mock"], "it answers for the person and says so"
    real = place.run("resume", "--agent", "echo done")
    assert (real.code, real.last) == (2, "rdc: error: this is a mock run; continue it with --mock"), real.err
    (tmp_path / "mock.json").write_text('{"agents": {"3": ["done"]}}')
    done = place.mocked("resume", "--answers", "answers")
    assert done.code == 0, done.err
    assert place.run("run").code == 75
    mocked = place.mocked("resume", "--answers", "answers")
    assert (mocked.code, mocked.last) == (2, "rdc: error: this is not a mock run; continue it without --mock")
    assert place.run("answer", "2", "yes").code == 0


def test_only_a_person_answers_where_a_rule_needs_one(tmp_path: Path) -> None:
    place = Compiled(tmp_path, deploys(BY_PERSON))
    (tmp_path / "answers").write_text("yes\n2 yes\n")
    for words in (("--answers", "answers"), ("--agent", "echo YES")):
        waits = place.run("run", *words)
        assert (waits.code, waits.last) == (75, "rdc: WAITING 2 Step 2")
        assert place.run("answer", "2", "yes").code == 0
        assert place.run("resume", *words).code == 0
    rule = replace(BY_PERSON, opens=(Event("2", "approved"),), closes=())
    place = Compiled(tmp_path, deploys(rule, second=Gate("2", text("Deploy?"))))
    assert codes(place, "run --human", "approve --gate 2 --resume") == [75, 0], "the option opens no such gate"


def nested(*rules: Rule) -> Program:
    """Two steps within step 1, which is tried again, and one after it."""
    failed, passed = StepOutcome("1", "fail"), StepOutcome("1", "pass")
    again = Ask("pass_fail", text("Well?"))
    return program(
        node("1.1", sh("true"), edge("1.2", "pass"), edge("STOP", "fail"), group="1"),
        node(
            "1.2",
            again,
            replace(edge("2", "pass"), settles=(passed,)),
            replace(edge("1.1", "fail"), settles=(failed,)),
            group="1",
        ),
        node("2", sh("true"), edge("COMPLETE", "pass"), edge("STOP", "fail")),
        groups=(Group("1", text("First"), text(""), "step", "", ORIGIN),),
        rules=rules,
    )


def test_a_record_has_the_outcomes_of_the_steps_around(tmp_path: Path) -> None:
    place = Compiled(
        tmp_path, nested(Rule("first", "1 PASS before 2", (Event("2"),), (Event("1", "pass"),), needs="1"))
    )
    place.run("run")
    assert codes(place, "goto 2", "answer 1.2 pass --resume") == [2, 0]
    assert [one["settles"] for one in place.records() if "settles" in one] == [[["1", "pass"]]]


def test_the_rules_of_a_nested_document_start_again_with_it(tmp_path: Path) -> None:
    once = Rule("once", "1.1 at most 1 time", (Event("1.1"),), most=1)
    for scope, code in (("", 75), ("1", 0)):
        folder = tmp_path / (scope or "whole")
        folder.mkdir()
        place = Compiled(folder, nested(replace(once, scope=scope)))
        place.run("run")
        answered = place.run("answer", "1.2", "fail")
        assert ("rule once " in answered.err) == bool(code), answered.err
        if not code:
            assert place.run("resume").last == "rdc: WAITING 1.2 Step 1.2"


def test_an_adoption_applies_new_rules_to_what_the_run_has_done(tmp_path: Path) -> None:
    other = Rule("other", "no 3 after 2 NO", (Event("3"),), (), (Event("2", "fail"),), is_open=True)
    place = Compiled(tmp_path, deploys(other))
    place.run("run")
    Compiled(tmp_path, deploys(replace(other, name="others"), APPROVED))
    refused = place.run("resume")
    assert (refused.code, "rules added" in refused.err or "rules differ" in refused.err) == (2, True), refused.err
    assert place.run("resume", "--adopt").code == 75
    adopted = next(one for one in place.records() if one["kind"] == "adopt")
    assert adopted["rules_since"] == {"other": "removed", "others": "added", "approved": "added"}
    assert place.run("goto", "3").last == HELD.replace("rdc: ", "rdc: error: "), "nothing in the journal opens it"
    Compiled(tmp_path, deploys(replace(other, name="others"), replace(APPROVED, closes=())))
    assert "belongs to a different version" in place.run("answer", "2", "yes").last
    Compiled(tmp_path, deploys(replace(other, name="others"), APPROVED))
    assert place.run("answer", "2", "yes", "--resume").code == 0


def test_outcomes_around_steps_with_new_names_close_rules_but_open_none() -> None:
    rules = {
        "again": {"guards": ["4"], "opens": [["1", "pass"]], "closes": [["2", "fail"]]},
        "passed": {"guards": ["4"], "opens": [["2", "pass"]], "closes": [["2", "fail"]]},
    }
    records: list[dict[str, Any]] = [
        {"kind": "begin", "node": "2", "condition": "waiting"},
        {"kind": "done", "node": "2", "outcome": "pass", "how": "answered", "next": "3.1", "condition": "running"},
        {"kind": "done", "node": "3.1", "outcome": "fail", "how": "exit code 1", "settles": [["3", "fail"]]},
    ]
    records[2] |= {"next": "4", "condition": "waiting"}
    names = {"1": "1 (removed)", "2": "1", "3.1": "2.1", "4": "3"}
    adopted = [*records, {"kind": "adopt", "node": "3", "condition": "waiting", "renamed": names}]
    assert Locks(rules, [*adopted[:2], adopted[3]]).now == {"again": 1, "passed": 0}
    assert Locks(rules, adopted).now == {"again": 0, "passed": 0}


def test_an_adoption_holds_a_step_that_has_not_started(tmp_path: Path) -> None:
    place = Compiled(tmp_path, deploys())
    place.run("run")
    assert place.run("goto", "3").code == 0
    Compiled(tmp_path, deploys(APPROVED))
    held = place.run("resume", "--adopt")
    assert (held.code, HELD in held.err) == (75, True), held.err
    Compiled(tmp_path, deploys())
    assert place.run("resume", "--adopt").code == 0


def test_names_of_rules_cannot_steer_a_terminal(tmp_path: Path) -> None:
    evil = replace(APPROVED, name="a\x1b[31m\nb", needs="\x1b[2J")
    place = Compiled(tmp_path, deploys(evil))
    place.run("run")
    refused = place.run("goto", "3")
    assert refused.code == 2
    assert "\x1b" not in refused.err
    place.run("goto", "3", "--override", evil.name, "--note", "so")
    shown = place.run("status").out + place.run("resume").err
    assert "overridden" in shown
    assert "\x1b" not in shown


def test_an_event_that_passes_by_an_override_opens_no_other_rule(tmp_path: Path) -> None:
    other = Rule("other", "3 before COMPLETE", (Event("", "complete"),), (Event("3"),), needs="3")
    place = Compiled(tmp_path, deploys(APPROVED, other))
    place.run("run")
    assert place.run("goto", "3", "--override", "approved", "--note", "so").code == 0
    held = place.run("resume")
    assert (held.code, "the run can't end: rule other " in held.err) == (75, True), held.err


def test_an_answer_from_a_file_is_not_a_persons_answer_for_a_new_rule(tmp_path: Path) -> None:
    place = Compiled(tmp_path, deploys(last=COMMAND.replace("kill ]", "kill3 ]").replace("rm kill", "rm kill3")))
    (tmp_path / "answers").write_text("2 yes\n")
    (tmp_path / "kill3").touch()
    assert place.run("run", "--answers", "answers").code == -9
    Compiled(tmp_path, replace(place.made, rules=(BY_PERSON,)))
    held = place.run("resume", "--adopt", "--rerun-interrupted")
    assert (held.code, "3 can't start: rule approved " in held.err) == (75, True), held.err
