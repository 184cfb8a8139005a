"""Broken rules in the document's words, and the command that shows the run (P-14, P-19)."""

import random
import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from compiler.diagnostics.issues import OptionSource
from compiler.diagnostics.model import MOST_PLACES, Diagnostic, Severity
from compiler.driver import Compilation, compile_file
from compiler.ir.paths import walk
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.semantics import Machine
from compiler.rules.model import DeclaredRule, Proof, RuleResult, Status
from compiler.rules.prove import prove
from compiler.rules.report import diagnostics, places
from compiler.scenarios.outcomes import decided_by, read_outcomes
from tests.support.documents import compiled
from tests.support.rule_meaning import random_program, sentences
from tests.support.runbooks import command, question

FLOW = (
    "# T\n\n## 1. Build\n\n"
    + command("### 1.1 Fetch", "git fetch")
    + command("### 1.2 Compile", "make")
    + command("2. Test", "make test", "PASS: CONTINUE", "FAIL: GOTO 4")
    + question("3. Ship?", "Is it good?", "YES: CONTINUE", "NO: STOP")
    + command("4. Deploy", "make deploy")
)


def checked(folder: Path, sentence: str, document: str) -> Compilation:
    return compiled(folder, f"---\nrdc:\n  rules:\n    r: {sentence}\n---\n\n{document}")


def broken(found: Compilation) -> Diagnostic:
    (one,) = (item for item in found.diagnostics if item.code == "RD420")
    return one


@pytest.mark.parametrize(
    ("sentence", "path"),
    [
        ("3 YES before 4", '1.1 PASS, 1.2 PASS, 2 FAIL → GOTO 4, then 4 starts without "3 YES"'),
        ("1 FAIL before 1", '1.1 starts without "1 FAIL"'),
        ("'\"Ship?\" YES before 4'", '1.1 PASS, 1.2 PASS, 2 FAIL → GOTO 4, then 4 starts without `"Ship?" YES`'),
        ("no 4 after 2 FAIL", "1.1 PASS, 1.2 PASS, 2 FAIL → GOTO 4, then 4 starts"),
        ("always 4", '1.1 FAIL, then the run ends with STOP without "4"'),
        (
            "3 NO before COMPLETE",
            '1.1 PASS, 1.2 PASS, 2 FAIL → GOTO 4, 4 PASS, then the run ends with COMPLETE without "3 NO"',
        ),
    ],
)
def test_the_message_is_the_path_in_the_words_of_the_document(sentence: str, path: str, tmp_path: Path) -> None:
    found = broken(checked(tmp_path, sentence, FLOW))
    assert found.message == f"rule `r`: a run can break it: {path}"
    assert (found.span and found.span.line, found.severity) == (4, Severity.ERROR)


LOOP = command("1. Try", "make", "PASS: COMPLETE", "FAIL: CONTINUE") + command("2. Fix", "make fix", "PASS: GOTO 1")


def test_of_a_long_path_the_first_and_last_ten_steps_are_shown(tmp_path: Path) -> None:
    found = broken(checked(tmp_path, "1 at most 20 times", LOOP))
    turn = "1 FAIL, 2 PASS → GOTO 1"
    shown = [*[turn] * 5, "… 20 more steps …", *[turn] * 5, "then 1 starts, and the most is 20 times"]
    assert found.message == f"rule `r`: a run can break it: {', '.join(shown)}"
    assert len(found.flow) == 41


def test_the_flow_has_a_place_for_each_step_and_for_the_breach(tmp_path: Path) -> None:
    found = broken(checked(tmp_path, "3 YES before 4", FLOW))
    assert {one.path for one in found.flow} == {found.path}
    assert [(one.span.line, one.message) for one in found.flow] == [
        (11, "1.1 PASS"),
        (17, "1.2 PASS"),
        (23, "2 FAIL → GOTO 4"),
        (39, '4 starts without "3 YES"'),
    ]
    file = Path(found.path).with_name("my flow.runbook.md")
    file.write_text(Path(found.path).read_text(encoding="utf-8"), encoding="utf-8")
    assert f"rdc trace '{file}' --outcomes 2=fail" in broken(compile_file(str(file))).help, "it is quoted"


def test_a_flow_has_no_more_places_than_github_shows(tmp_path: Path) -> None:
    program = checked(tmp_path, "1 at most 2000 times", LOOP).despite_rules
    assert program
    rule = Rule("r", "", (Event("1"),), most=MOST_PLACES)
    (found,) = prove(program, [rule])
    assert len(found.visits) == 2 * MOST_PLACES
    shown = places(program.index(), rule, found)
    assert (len(shown), shown[-1].message) == (MOST_PLACES, f"1 starts, and the most is {MOST_PLACES} times")


PLACE = OptionSource("RD013", "rdc.toml", None)


def reported(program: Program, rule: Rule, proof: Proof, *, is_tried: bool = False) -> Diagnostic:
    (found,) = diagnostics(program, [RuleResult(DeclaredRule("r", "", PLACE, is_tried=is_tried), rule, proof)])
    return found


def test_a_rule_that_is_tried_is_only_a_warning(tmp_path: Path) -> None:
    program = checked(tmp_path, "4 at most 1 time", FLOW).program
    assert program
    proof, rule = Proof(Status.NOT_PROVEN, reason="there are too many states"), program.rules[0]
    for is_tried, severity in ((True, Severity.WARNING), (False, Severity.ERROR)):
        found = reported(program, rule, proof, is_tried=is_tried)
        assert (found.code, found.severity, found.path) == ("RD421", severity, "rdc.toml")
        assert found.message == "rule `r`: rdc can't prove it: there are too many states"
    for status in (Status.HOLDS, Status.NOT_APPLICABLE):
        assert not [*diagnostics(program, [RuleResult(DeclaredRule("r", "", PLACE), rule, Proof(status))])]


def test_control_characters_of_a_document_do_not_reach_the_terminal(tmp_path: Path) -> None:
    program = checked(tmp_path, "4 at most 1 time", FLOW).program
    assert program
    rule = Rule("r", "", (Event("1.1"),), needs="\x1b[31m3 YES")
    (proof,) = prove(program, [rule])
    found = reported(program, rule, replace(proof, inputs=(("a", "\x1b]0;x\x07"),)))
    assert found.message.isprintable()
    assert all(one.message.isprintable() for one in found.flow)
    assert found.help == "change the transitions on this path, or the rule"


@pytest.mark.parametrize("name", ["rundown", "program", "playbook", "agent-workflow"])
def test_the_command_of_the_help_shows_the_path(name: str) -> None:
    """Its words, split as a shell does it, lead to the same visits."""
    seen = 0
    for seed in range(8):
        program = random_program(name, seed)
        rules = [sentence.rule for sentence in sentences(program, random.Random(seed), 4)]
        for rule, proof in zip(rules, prove(program, rules), strict=True):
            if proof.status is not Status.BROKEN:
                continue
            words = shlex.split(reported(program, rule, proof).help.partition("use: ")[2])
            if not words:  # too long, or not printable
                continue
            options = dict(zip(words[3::2], words[4::2], strict=True))
            given = read_outcomes(options.get("--outcomes", ""), program)
            path = walk(Machine(program), decided_by(given, "pass"), len(proof.visits), dict(proof.inputs))
            assert path.visits == proof.visits
            assert words[:3] == ["rdc", "trace", program.sources[0].path]
            seen += 1
    assert seen > 8
