"""The steps and outcomes that rules select, in programs of all formats."""

from operator import attrgetter
from pathlib import Path

import pytest
from msgspec.structs import replace

from compiler.driver import Compilation, compile_file
from compiler.ir.rules import Event, Rule
from compiler.ir.serialize import to_json
from tests.support.runbooks import command, question

LINT = (
    """---
rdc:
  rules:
    own: 1 PASS before COMPLETE
    end: no END after any step labeled last
    few: any command at most 9 times
    title: Report at most 9 times
  steps: {2: {labels: [last]}}
---

"""
    + command("1. Lint", "true")
    + command("2. Report", "true")
)


DEPLOY = """---
rdc:
  secrets: [KEY]
  rules:
RULES
  steps:
    "4": {labels: [production, eu], secrets: [TOKEN]}
    "2": {labels: [quality]}
    "2/lint.runbook.md/2": {labels: [inner]}
---

# Deploy

## 1. Prepare

""" + "".join(
    (
        command("### 1.1 Fetch", "true"),
        question("### 1.2 Ready?", "", "YES: CONTINUE", "NO: STOP"),
        "## 2. Check\n\n- lint.runbook.md\n\n",
        question("3. Is it time?", "", "YES: CONTINUE", "NO: STOP"),
        command("4. Deploy now", "true", "PASS: COMPLETE", "FAIL: GOTO 5"),
        command("5. Restore", "true", "PASS: STOP"),
        command("6. Never", "true"),
    )
)


REVIEW = """name: review
rdc:
  rules:
RULES
steps:
  - {name: implement, prompt: Do it, human: true, next: review}
  - name: review
    parallel: [{agent: a, prompt: Look}, {agent: b, prompt: Look}]
    conditions: [{keyword: APPROVED, goto: finish}, {keyword: REJECTED, goto: implement}]
  - {name: finish, prompt: End, end: true}
"""


SPECIFICATION = """workflow: {module: m, workflow: w}
rdc:
  rules:
RULES
step_specs:
  - {id: write, name: Write it, human_gate: required, outputs: ['{output_folder}/a.md'], validation: format}
  - {id: publish, outputs: ['{output_folder}/b.md']}
"""


PLAYBOOK = (
    "---\nrdc:\n  rules:\nRULES\n---\n\n# Look\n\n## STEP 1: Choose\n\nChoose one.\n\n@output(choice)\n"
    '@elicit(select, "Which one?", "Left side", "right")\n\n## STEP 2: Go\n\nGo {{choice}}.\n'
)


DOCUMENTS = {
    "deploy.runbook.md": DEPLOY,
    "review.workflow.yaml": REVIEW,
    "write.stepspec.yaml": SPECIFICATION,
    "look.playbook.md": PLAYBOOK,
}


def compiled(folder: Path, name: str, *sentences: str) -> Compilation:
    """A document with rules, which are named r0, r1 and so on."""
    (folder / "rdc.toml").touch()
    (folder / "lint.runbook.md").write_text(LINT if name == "deploy.runbook.md" else "")
    rules = "\n".join(f"    r{number}: '{one}'" for number, one in enumerate(sentences))
    (folder / name).write_text(DOCUMENTS[name].replace("RULES", rules))
    return compile_file(str(folder / name))


def machine(folder: Path, name: str, sentence: str) -> Rule:
    """The machine of a rule of a document."""
    found = compiled(folder, name, sentence)
    (rule,) = [result.rule for result in found.rules if result.declared.name == "r0"] or [None]
    assert rule, found.diagnostics
    return rule


def refused(folder: Path, name: str, sentence: str) -> str:
    """The error and the remedy of a rule of a document."""
    found = compiled(folder, name, sentence)
    assert (found.program, found.despite_rules) == (None, None)
    (one,) = [one for one in found.diagnostics if one.code == "RD423"]
    return f"{one.message}; {one.help}"


def of_runbook(folder: Path, options: str, *steps: str) -> Compilation:
    """A runbook with other options and steps."""
    (folder / "a.runbook.md").write_text(f"---\nrdc: {{{options}}}\n---\n\n{''.join(steps)}")
    return compile_file(str(folder / "a.runbook.md"))


def starts(*names: str) -> tuple[Event, ...]:
    return tuple(map(Event, names))


RUNBOOK, WORKFLOW, SPEC, BOOK = DOCUMENTS
GUARDED = {
    "4 at most 1 time": starts("4"),
    '"Deploy now" at most 1 time': starts("4"),
    "no 1 after 4": starts("1.1", "1.2"),
    "no 2 after 4": starts("2/lint.runbook.md/1", "2/lint.runbook.md/2"),
    "no Check after 4": starts("2/lint.runbook.md/1", "2/lint.runbook.md/2"),
    "2/lint.runbook.md/1 at most 1 time": starts("2/lint.runbook.md/1"),
    "any question at most 9 times": starts("1.2", "3"),
    "any command at most 9 times": starts("1.1", "2/lint.runbook.md/1", "2/lint.runbook.md/2", "4", "5"),
    "any step labeled eu at most 9 times": starts("4"),
    "any step labeled inner at most 9 times": starts("2/lint.runbook.md/2"),
    "no any step labeled quality after 4": starts("2/lint.runbook.md/1", "2/lint.runbook.md/2"),
    "any step with secret TOKEN at most 9 times": starts("4"),
    "4 or Restore or 4 at most 9 times": starts("4", "5"),
    "3 YES before END": (Event("", "complete"), Event("", "stop")),
    "always 4": (Event("", "complete"), Event("", "stop")),
    "no STOP after 4": (Event("", "stop"),),
}


@pytest.mark.parametrize("sentence", GUARDED)
def test_targets_select_the_starts_of_steps(sentence: str, tmp_path: Path) -> None:
    assert machine(tmp_path, RUNBOOK, sentence).guards == GUARDED[sentence]


def test_outcomes_are_those_of_the_document(tmp_path: Path) -> None:
    sentence = "3 yes or 1.2 No or 1 PASS or 2 fail or Restore pass before 4, again after 5 FAIL or 4"
    rule = machine(tmp_path, RUNBOOK, sentence)
    events = [(event.step, event.word) for event in rule.opens]
    assert events == [("3", "pass"), ("1.2", "fail"), ("1", "pass"), ("2", "fail"), ("5", "pass")]
    assert rule.closes == (Event("5", "fail"), Event("4"))
    rule = machine(tmp_path, WORKFLOW, "review approved or review rejected or review NONE before finish")
    assert [event.word for event in rule.opens] == ["APPROVED", "REJECTED", "none"]
    rule = machine(tmp_path, WORKFLOW, "any gate approved before implement")
    assert (rule.opens, rule.guards) == ((Event("implement/human", "approved"),), starts("implement"))
    rule = machine(tmp_path, BOOK, '1/elicit "left side" before 2')
    assert rule.opens == (Event("1/elicit", "Left side"),)


def test_the_machine_has_all_that_the_sentence_says(tmp_path: Path) -> None:
    rule = machine(tmp_path, RUNBOOK, "no 4 after 3 NO until 1.2 YES by a person or 3 YES by a person")
    assert (rule.is_open, rule.most) == (True, None)
    assert rule.needs == "1.2 YES by a person or 3 YES by a person"
    assert rule.persons == ("1.2", "3")
    assert (rule.closes, rule.guards) == ((Event("3", "fail"),), starts("4"))
    rule = machine(tmp_path, RUNBOOK, "after 4 FAIL, always Restore")
    assert (rule.is_open, rule.needs, rule.opens, rule.closes) == (True, "Restore", starts("5"), (Event("4", "fail"),))
    assert not machine(tmp_path, RUNBOOK, "always Restore").is_open
    assert not machine(tmp_path, RUNBOOK, "3 YES before 4").is_open
    assert machine(tmp_path, RUNBOOK, "4 at most 0 times").most == 0


def test_a_step_of_a_specification_is_its_stages_without_its_gates(tmp_path: Path) -> None:
    stages = starts("write", "write/validation", "write/outputs")
    assert machine(tmp_path, SPEC, "no write after publish").guards == stages
    assert machine(tmp_path, SPEC, 'no "Write it" after publish').guards == stages
    rule = machine(tmp_path, SPEC, "write PASS or write FAIL before publish")
    assert rule.opens == (Event("write/outputs", "pass"), Event("write", "fail")), "its execution passes earlier"
    assert machine(tmp_path, SPEC, "write/validation PASS before publish").opens == (Event("write/validation", "pass"),)
    rule = machine(tmp_path, SPEC, "any gate approved by a person before write")
    assert (len(rule.opens), rule.persons) == (1, (rule.opens[0].step,))
    found = compiled(tmp_path, SPEC, "after write PASS, always publish", "no publish after write FAIL until write PASS")
    assert [result.proof.status for result in found.rules] == ["holds", "holds"], "it passes with its last stage"
    found = compiled(tmp_path, SPEC, "after write FAIL, always publish")
    assert [result.proof.status for result in found.rules] == ["broken"]
    assert (found.program, bool(found.despite_rules)) == (None, True)


def test_rules_of_a_nested_runbook_are_about_its_inclusion(tmp_path: Path) -> None:
    found = compiled(tmp_path, RUNBOOK, "always 4")
    rules = {result.rule.name: result.rule for result in found.rules if result.rule}
    scope = "2/lint.runbook.md"
    own, end = rules[f"{scope}/own"], rules[f"{scope}/end"]
    assert (own.scope, own.guards, own.opens) == (scope, (Event(scope, "pass"),), (Event(f"{scope}/1", "pass"),))
    assert end.guards == (Event(scope, "pass"), Event(scope, "fail"))
    assert end.closes == starts(f"{scope}/2")
    assert rules[f"{scope}/few"].guards == starts(f"{scope}/1", f"{scope}/2")
    assert rules[f"{scope}/title"].guards == starts(f"{scope}/2")
    assert rules["r0"].scope == ""


REFUSED = {
    "Deploy before 5": "unknown step `Deploy`; did you mean `Deploy now`?",
    "3 YES before Deplyo": "unknown step `Deplyo`; did you mean `Deploy now`?; the steps are 1.1, 1.2",
    "3 before 4": "`3` means that the step started, not that it passed: left of `before`, a step needs an outcome; "
    "write `3 YES before 4`",
    "1.1 before 4": "write `1.1 PASS before 4`",
    "3 YEP before 4": "step `3` has no outcome `YEP`; did you mean `YES`?; the outcomes are YES, NO",
    "5 YES before 4": "step `5` has no outcome `YES`; the outcomes are PASS, FAIL",
    "1 NO before 4": "step `1` has no outcome `NO`; the outcomes are PASS, FAIL",
    "any command maybe before 4": "`any command` has no outcome `maybe`; the outcomes are PASS, FAIL",
    "4 PASS by a person before 5": "step 4 is not a question or a gate",
    "1 PASS by a person before 5": "step 1 is not a question or a gate",
    "1 at most 2 times": "step 1 has steps inside, so `at most` can't count it; count the first step inside it: `1.1`",
    "any step labeled quality at most 2 times": "step 2 has steps inside",
    "no 6 after 4": "no run reaches step `6`",
    "any tool at most 2 times": "no step is of the kind `any tool`",
    "any step labeled prodution at most 2 times": "no step has the label `prodution`; did you mean `production`?",
    "any step with secret TOKN at most 2 times": "no step has the secret `TOKN`; did you mean `TOKEN`?",
    "4 PASS before complete": "unknown step `complete`",
    "1.3 at most 2 times": "unknown step `1.3`",
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_rule_that_selects_nothing_is_an_error(sentence: str, tmp_path: Path) -> None:
    assert REFUSED[sentence] in refused(tmp_path, RUNBOOK, sentence)


def test_an_entry_of_a_parallel_step_cannot_be_named(tmp_path: Path) -> None:
    problem = "`review_1` is an entry of step review, which counts as one step; write `review`"
    assert problem in refused(tmp_path, WORKFLOW, "review_1 APPROVED before finish")
    problem = "left of `before`, a step needs an outcome; write `review APPROVED before finish`"
    assert problem in refused(tmp_path, WORKFLOW, "review before finish")


def test_a_title_of_two_steps_is_an_error(tmp_path: Path) -> None:
    twice = command("1. Go", "true"), command("2. Go", "true")
    (found,) = of_runbook(tmp_path, "rules: {r0: Go at most 1 time}", *twice).diagnostics
    assert (found.code, found.help) == ("RD423", "use an id: 1, 2")
    assert "2 steps have the title `Go`" in found.message


ASKED = question("1. Ask?", "", "YES: CONTINUE", "NO: STOP")
OF_SECRET = "secrets: [KEY], rules: {r0: any step with secret KEY at most 1 time}"
OF_LABEL = "rules: {r0: any step labeled x at most 9 times}, steps: {'*': {labels: [x]}}"


@pytest.mark.parametrize("options", [OF_SECRET, f"{OF_SECRET}, steps: {{4: {{timeout: 1m}}}}", OF_LABEL])
def test_all_steps_with_a_label_or_a_secret(options: str, tmp_path: Path) -> None:
    """Without settings of their own, all steps with a command get the secrets."""
    steps = (command(f"{number}. Go", "true") for number in (2, 3, 4))
    (result,) = of_runbook(tmp_path, options, ASKED, *steps).rules
    assert result.rule
    assert result.rule.guards == starts(*(["1"] if options == OF_LABEL else []), "2", "3", "4")


def test_the_secrets_of_the_agents_command_are_those_of_the_steps_that_call_it(tmp_path: Path) -> None:
    shared = "".join(f'[[rule]]\nname = "{one}"\nrule = "any step with secret {one} at most 9 times"\n' for one in "BA")
    agents = 'agents.b = {run = "b", secrets = ["B"]}\nagent = {run = "a", secrets = ["A"]}\n'
    (tmp_path / "rdc.toml").write_text(f"[github]\n{agents}{shared}")
    (tmp_path / WORKFLOW).write_text(REVIEW.replace("  rules:\nRULES\n", "  logs: true\n"))
    guards = [result.rule and result.rule.guards for result in compile_file(str(tmp_path / WORKFLOW)).rules]
    assert guards == [starts("review"), starts("implement", "review", "finish")]


def test_a_program_in_json_has_its_rules_once(tmp_path: Path) -> None:
    found, path = compiled(tmp_path, RUNBOOK, "always 4", "3 YES before 4"), tmp_path / "a.program.json"
    made = (result.rule for result in found.rules if result.rule and result.declared.name in ("r1", "own"))
    kept = sorted(made, key=attrgetter("name"))
    assert found.despite_rules
    path.write_text(to_json(replace(found.despite_rules, rules=tuple(kept))))
    again = compile_file(str(path))
    assert [result.rule for result in again.rules] == kept
    assert again.program
    shared = '[[rule]]\nname = "r1"\nrule = "3 YES before 4"\n'
    (tmp_path / "rdc.toml").write_text(shared)
    path.write_text(to_json(replace(again.program, rules=(replace(kept[1], guards=(Event("6"),)),))))
    assert [result.rule for result in compile_file(str(path)).rules] == [kept[1]]
    (tmp_path / "rdc.toml").write_text(shared.replace("before 4", "before 5"))
    again = compile_file(str(path))
    assert again.program is None
    assert "the project already has a rule `r1`" in again.diagnostics[0].message
