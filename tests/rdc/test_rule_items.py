"""The rules in `rdc.lock`: their lines, and which changes need an approval."""

import unicodedata

import pytest

from compiler.diagnostics.issues import OptionSource
from compiler.ir.rules import Event, Rule
from compiler.rules.model import DeclaredRule, Proof, RuleResult, Status
from rdc.build.lock import review
from rdc.build.rule_items import rule_items
from tests.support.hostile_texts import NASTY

PLACE = OptionSource("RD013", "deploy.runbook.md", None)
OTHER = "deploy.yml secret TOKEN\n"


def result(
    sentence: str = "3 YES before 4", *guards: str, name: str = "approved", scope: str = "", is_tried: bool = False
) -> RuleResult:
    declared = DeclaredRule(name, sentence, PLACE, scope=scope, is_tried=is_tried)
    return RuleResult(declared, Rule(name, sentence, tuple(map(Event, guards or ("4",)))), Proof(Status.HOLDS))


def lock(*results: RuleResult) -> str:
    return OTHER + "".join(f"deploy.runbook.md {item}\n" for item in rule_items(results))


def gone(before: str, after: str, *approved: str, files: tuple[str, ...] = ("deploy.runbook.md",)) -> list[str]:
    found = review(before, after, files, approved, (), is_unseen=False)
    assert found.unknown == ()
    return [f"{one.code}: {one.message}: {one.help}" for one in found.findings]


def test_a_line_has_name_sentence_and_guarded_steps() -> None:
    at_ends = (Event("", "complete"), Event("", "stop"), Event("5"))
    rule = Rule("approved", "x", (*at_ends, Event("2", "pass"), Event("3", "pass"), Event("3", "fail")))
    made = RuleResult(DeclaredRule("approved", "x", PLACE), rule, Proof(Status.HOLDS))
    line = 'approved "3 YES before 4" guards 4'
    assert rule_items([result(), result(scope="part")]) == [f"rule {line}", f"rule part/{line}"]
    assert rule_items([made]) == ['rule approved "x" guards END, 5, "2 COMPLETE", "3 END"']
    nothing = RuleResult(DeclaredRule("approved", "x", PLACE), None, Proof(Status.NOT_APPLICABLE))
    assert rule_items([result(is_tried=True), nothing]) == [], "one that is tried or does not apply has none"


@pytest.mark.parametrize("text", [*NASTY, '4" guards 9', "a, b", "x\nother.md rule y", "\u2028", "\x1b[2J", "#"])
def test_hostile_names_and_sentences_stay_on_one_line(text: str) -> None:
    (item,) = rule_items([result(text, text, "5", name=text)])
    assert len(item.splitlines()) == 1
    assert not any(unicodedata.category(char) in ("Cc", "Cf") for char in item)
    before = f"deploy.runbook.md {item}\n"
    assert gone(before, before) == []
    assert len(gone(before, "")) == 1
    (fewer,) = rule_items([result(text, "5", name=text)])
    assert len(gone(before, f"deploy.runbook.md {fewer}\n")) == 1


def test_a_rule_that_is_gone_needs_an_approval() -> None:
    before, after = lock(result()), lock()
    remedy = "review it, then run: rdc build --approve 'no rule approved'"
    problem = "RD546: gone: rule approved of deploy.runbook.md"
    assert gone(before, after) == [f'{problem}: it was "3 YES before 4"; {remedy}']
    assert gone(before, after, "no rule approved") == []
    assert gone(before, after, files=("deploy.yml",)) == [], "the document is gone too, or has errors"
    lines = [f"{name}.md {rule_items([result()])[0]}" for name in "abc"]
    (found,) = gone("\n".join(lines), "", files=("a.md", "b.md", "c.md"))
    assert "gone: rule approved of a.md and 2 more" in found


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (result(), result("5 YES before 4"), 'it was "3 YES before 4", and is now "5 YES before 4"'),
        (result("x", "4", "5", "6"), result("x", "5", "7"), "it no longer guards 4, 6"),
        (result("x", "a, b", "c"), result("x", "a", "b", "c"), 'it no longer guards "a, b"'),
        (result(name="one"), result(name="two"), 'it was "3 YES before 4"'),
    ],
)
def test_a_rule_that_is_weaker_needs_an_approval(before: RuleResult, after: RuleResult, change: str) -> None:
    (found,) = gone(lock(before), lock(after))
    assert f"gone: rule {before.declared.name} of deploy.runbook.md: {change}; review it" in found


def test_more_rules_and_more_guarded_steps_need_no_approval() -> None:
    assert gone(lock(result("x", "4")), lock(result("x", "4", "5"), result(name="new"))) == []
    found = review(None, lock(result()), ("deploy.runbook.md",), ("secret TOKEN",), (), is_unseen=True)
    assert found.findings == [], "not even in CI without a lock"
