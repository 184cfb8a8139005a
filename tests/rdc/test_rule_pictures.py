"""A rule on the picture of its document: marks, numbers and the note."""

from pathlib import Path

import pytest

from backends.picture.model import Picture, picture
from compiler.diagnostics.issues import OptionSource
from compiler.driver import compile_file
from compiler.ir.paths import walk
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.semantics import Machine
from compiler.rules.model import DeclaredRule, Proof, RuleResult, Status
from compiler.scenarios.outcomes import decided_by, read_outcomes
from rdc.draw.rules import with_rule
from tests.conftest import ROOT
from tests.support.cli import document

RUNBOOK = """# Deploy
## 1. Build
### 1.1 Compile
```bash
make
```
## 2. Ship it?
- YES: CONTINUE
- NO: GOTO 1
## 3. Install
```bash
make install
```
"""
SPECIFICATION = ROOT / "examples/specifications/hello-steps.stepspec.json"
PLACE = OptionSource("RD013", "deploy.runbook.md", None)

HOLDS = Proof(Status.HOLDS)


def program(path: Path) -> Program:
    made = compile_file(str(path)).program
    assert made
    return made


def result(rule: Rule, proof: Proof = HOLDS) -> RuleResult:
    return RuleResult(DeclaredRule(rule.name, rule.sentence, PLACE), rule, proof)


def marked(drawn: Picture) -> dict[str, str]:
    """What the marked boxes and frames show besides their titles."""
    boxes = {box.node.id: " ".join(box.lines[1:]) for box in drawn.boxes if box.mark}
    return boxes | {frame.id: frame.title for frame in drawn.frames if frame.mark}


@pytest.fixture
def deploy(tmp_path: Path) -> Program:
    return program(document(tmp_path, "deploy.runbook.md", RUNBOOK))


def test_a_rule_that_holds_marks_the_steps_that_it_is_about(deploy: Program) -> None:
    rule = Rule("approved", "2 YES before 3", (Event("3"),), (Event("2", "pass"),), (Event("1", "fail"), Event("2")))
    drawn = with_rule(picture(deploy), deploy, result(rule))
    assert marked(drawn) == {"2": "opens: YES closes: start", "3": "guarded", "1": "1 Build · closes: FAIL"}
    assert drawn.notes == ("rule approved: holds", "2 YES before 3")
    rule = Rule("end", "2 YES before COMPLETE", (Event("", "complete"),), (Event("2", "pass"),))
    found = marked(with_rule(picture(deploy), deploy, result(rule)))
    assert sorted(found.values()) == ["guarded", "opens: YES"], "the ends of a run are guarded"
    found = marked(with_rule(picture(deploy), deploy, result(Rule("few", "3 at most 1 time", (Event("3"),), most=1))))
    assert found == {"3": "at most 1 time"}


def broken(program: Program, outcomes: str, event: Event) -> RuleResult:
    path = walk(Machine(program), decided_by(read_outcomes(outcomes, program), "pass"))
    steps = [made.step for made in path.visits]
    visits = path.visits[: steps.index(event.step) if event.step else None]
    proof = Proof(Status.BROKEN, visits, event, (("env", "prod"),))
    return result(Rule("approved", "x", (event,), (Event("2", "fail"),)), proof)


def test_the_path_of_a_broken_rule_is_numbered(deploy: Program) -> None:
    found = broken(deploy, "2=no,no,yes", Event("3"))
    drawn = with_rule(picture(deploy), deploy, found)
    numbered = {"1.1": "(1) PASS, (3) PASS, (5) PASS", "2": "(2) NO, (4) NO, (6) YES"}
    assert marked(drawn) == {**numbered, "3": "(7) breaks the rule"}
    assert drawn.notes[0] == "rule approved: broken with env=prod"
    found = broken(deploy, f"2={','.join(['no'] * 50)},yes", Event("3"))
    shown = marked(with_rule(picture(deploy), deploy, found))["2"]
    assert (shown[:16], shown[-1]) == ("(2) NO, (4) NO, ", "…"), "a long path is cut"


def test_a_path_to_the_end_breaks_the_rule_at_its_last_step(deploy: Program) -> None:
    shown = marked(with_rule(picture(deploy), deploy, broken(deploy, "", Event("", "complete"))))
    assert shown == {"1.1": "(1) PASS", "2": "(2) YES", "3": "(3) PASS (3) the end breaks the rule"}


def test_a_box_for_a_whole_step_has_the_marks_of_its_stages() -> None:
    contract = program(SPECIFICATION)
    inner = [node.id for node in contract.nodes if node.task.kind == "stage" and node.id != node.group]
    rule = Rule("few", "x", tuple(map(Event, inner)))
    drawn = with_rule(picture(contract, folds=True), contract, result(rule))
    boxes = [box for box in drawn.boxes if box.node.task.kind == "stage"]
    assert boxes
    assert {box.mark for box in boxes} == {"changed"}
