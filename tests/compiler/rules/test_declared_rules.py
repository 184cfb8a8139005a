"""Rules and labels in documents of all formats, and `[[rule]]` of projects."""

import sys
from itertools import filterfalse
from pathlib import Path

import pytest

from compiler.driver import Compilation, Settings, compile_file, format_opened, open_file
from compiler.frontends.common.interface import Formatted
from compiler.project.options import is_label
from tests.support.hostile_texts import EVIL, NASTY

STEPS = "name: look\ndescription: Look\nsteps:\n  - name: look\n    agent: a\n    prompt: Look\n"
SPECS = "workflow: {module: m, workflow: w}\nstep_specs:\n  - {id: look, outputs: ['{output_folder}/a.md']}\n"
DOCUMENTS = {
    "a.runbook.md": "---\nrdc:\nOPTIONS\n---\n\n## look\n\nIs it good?\n\n- YES: COMPLETE\n- NO: STOP\n",
    "a.playbook.md": "---\nrdc:\nOPTIONS\n---\n\n# Look\n\n## STEP 1: look\n\nLook at it.\n",
    "a.workflow.yaml": f"rdc:\nOPTIONS\n{STEPS}",
    "a.stepspec.yaml": f"rdc:\nOPTIONS\n{SPECS}",
}
IDS = dict(zip(DOCUMENTS, ("look", "1", "look", "look"), strict=True))
SHARED = '[[rule]]\nname = "shared"\nrule = "no any step labeled quick after any step labeled quick"\n'


def compiled(folder: Path, name: str, options: str, project: str = "", configuration: str = "rdc.toml") -> Compilation:
    """A document with options below `rdc`, in a project; ID is the id of its step."""
    (folder / ".git").mkdir(exist_ok=True)
    (folder / configuration).write_text(project, encoding="utf-8")
    written = DOCUMENTS[name].replace("OPTIONS", options.replace("ID", IDS[name]) or "  logs: true")
    (folder / name).write_text(written, encoding="utf-8")
    return compile_file(str(folder / name))


def shown(found: Compilation) -> list[str]:
    """The errors of a document: code, line and message."""
    return [f"{one.code} {one.span and one.span.line}: {one.message}" for one in found.diagnostics]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_of_any_format_has_rules_and_labels(name: str, tmp_path: Path) -> None:
    options = """\
  rules:
    seen: always look
    few: {rule: any step labeled quick at most 9 times, why: "It is slow.", override: false}
  steps: {"ID": {labels: [quick, über-1]}}"""
    if name == "a.stepspec.yaml":
        options = options.replace("any step labeled quick at most 9 times", "no any step labeled quick after STEP")
        options = options.replace("STEP", "look FAIL").replace("{rule: no", '{rule: "no').replace("FAIL,", 'FAIL",')
    found = compiled(tmp_path, name, options)
    assert found.program, shown(found)
    seen, few = found.program.rules
    assert (seen.name, seen.sentence, seen.why, seen.override) == ("seen", "always look", "", True)
    assert (few.name, few.why, few.override) == ("few", "It is slow.", False)
    assert {event.step.partition("/")[0] for event in few.guards} == {IDS[name]}
    assert [result.declared.place.span and result.declared.place.span.line for result in found.rules] == (
        [4, 5] if name.endswith(".md") else [3, 4]
    )


WRONG = {
    "rules: [a]": "`rules` must be a mapping",
    "rules: {1x: always look}": "the name of a rule must",
    'rules: {"a b": always look}': "the name of a rule must",
    'rules: {"a\\e[1m": always look}': "the name of a rule must",
    f"rules: {{{'x' * 65}: always look}}": "the name of a rule must",
    "rules: {a: 5}": "rule `a` is not a sentence",
    "rules: {a: [x]}": "rule `a` is not a sentence",
    "rules: {a: {N}}": "rule `a` is not a sentence",
    "rules: {a: after look FAIL, always look}": "rule `always look` has no sentence",
    "rules: {a: {why: x}}": "a rule needs the key `rule`",
    "rules: {a: {rule: always look, wy: x}}": "unknown key `wy` in a rule; did you mean `why`?",
    "rules: {a: {rule: always look, try: true}}": "unknown key `try` in a rule",
    "rules: {a: {rule: always look, for: x}}": "unknown key `for` in a rule",
    "rules: {a: {rule: always look, override: 1}}": "`override` of a rule must be true or false",
    'rules: {a: {rule: always look, why: ""}}': "`why` of a rule must be a text",
    'rules: {a: {rule: always look, why: "a\\nb"}}': "`why` of a rule must be a text",
    "steps: {ID: {labels: quick}}": "`labels` must be a list",
    "steps: {ID: {labels: []}}": "`labels` must be a list",
    "steps: {ID: {labels: [a b]}}": "`labels` must be a list",
    "steps: {ID: {labels: [1]}}": "`labels` must be a list",
    "steps: {lok: {labels: [x]}}": "lok",
    'rules: {a: "look before look"}': "RD423 ",
    'rules: {a: "nothing"}': "RD422 ",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_wrong_rule_or_label_is_an_error_at_its_place(name: str, tmp_path: Path) -> None:
    for options, problem in WRONG.items():
        found = compiled(tmp_path, name, f"  {options}")
        assert found.program is None, options
        wanted = [one for one in found.diagnostics if problem in f"{one.code} {one.message}"]
        assert wanted, (options, shown(found))
        assert all(one.span and one.span.line == (3 if name.endswith(".md") else 2) and one.help for one in wanted)
    found = compiled(tmp_path, name, "  rules:\n    a: {N}.2 PASS before 4")
    assert found.program is None
    assert any('put the value in quotes: `a: "{N}.2 PASS before 4"`' in one.help for one in found.diagnostics)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_name_that_is_used_twice_is_an_error(name: str, tmp_path: Path) -> None:
    found = compiled(tmp_path, name, "  rules: {a: always look, a: always look}")
    assert found.program is None
    assert any("duplicate key `a`" in one.message for one in found.diagnostics), shown(found)
    found = compiled(tmp_path, name, "  rules: {shared: always look}", SHARED)
    assert found.program is None
    assert any("the project already has a rule `shared`" in one.message for one in found.diagnostics), shown(found)
    assert compiled(tmp_path, name, "  rules: {shared: always look}", f'{SHARED}for = "b/**"\n').program


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_rule_of_the_project_applies_to_documents_with_its_steps(name: str, tmp_path: Path) -> None:
    found = compiled(tmp_path, name, "", SHARED)
    assert [(result.rule, result.proof.status) for result in found.rules] == [(None, "doesn't apply")]
    assert found.program
    assert found.program.rules == ()
    found = compiled(tmp_path, name, '  steps: {"ID": {labels: [quick]}}', SHARED)
    (result,) = found.rules
    assert result.rule
    assert result.declared.place.path.endswith("rdc.toml")
    assert result.declared.is_shared


STATUSES = {
    "any gate approved before look": "broken",
    "any gate approved before other": "doesn't apply",
    "always other": "broken",
    "after other FAIL, always look": "doesn't apply",
    "no look after other": "doesn't apply",
    "no other after look": "doesn't apply",
    "other at most 1 time": "doesn't apply",
    "no look after look until any gate approved": "holds",
}


def test_only_the_opening_events_may_be_missing(tmp_path: Path) -> None:
    for rule, status in STATUSES.items():
        (result,) = compiled(tmp_path, "a.runbook.md", "", f"[[rule]]\nname = \"a\"\nrule = '{rule}'\n").rules
        assert result.proof.status == status, rule


def test_a_rule_that_is_tried_is_only_a_warning(tmp_path: Path) -> None:
    broken = '[[rule]]\nname = "a"\nrule = "any gate approved before look"\n'
    assert compiled(tmp_path, "a.runbook.md", "", broken).program is None
    found = compiled(tmp_path, "a.runbook.md", "", f"{broken}try = true\n")
    assert found.program
    assert found.program.rules == ()
    (result,) = found.rules
    assert (result.declared.is_tried, result.proof.status) == (True, "broken")
    assert [one.severity for one in found.diagnostics if one.code == "RD420"] == ["warning"]


PATTERNS = {
    **dict.fromkeys(('"a.runbook.md"', '"*.md"', '"**/*.md"', '["!a.*", "**"]', '["**", "!b.*"]'), True),
    **dict.fromkeys(('"b/**"', '["**", "!a.*"]'), False),
}


@pytest.mark.parametrize("patterns", PATTERNS)
def test_a_rule_of_the_project_is_for_the_documents_of_its_paths(patterns: str, tmp_path: Path) -> None:
    rule = f'[[rule]]\nname = "a"\nrule = "look at most 9 times"\nfor = {patterns}\n'
    assert bool(compiled(tmp_path, "a.runbook.md", "", rule).rules) == PATTERNS[patterns]


def test_a_project_can_have_its_rules_in_pyproject(tmp_path: Path) -> None:
    rule = '[[tool.rdc.rule]]\nname = "a"\nrule = "look at most 9 times"\nwhy = "x"\noverride = false\n'
    (result,) = compiled(tmp_path, "a.runbook.md", "", rule, "pyproject.toml").rules
    assert result.rule
    assert (result.rule.name, result.rule.why, result.rule.override) == ("a", "x", False)
    found = compiled(tmp_path, "a.runbook.md", "", rule.replace("name", "nam"), "pyproject.toml")
    assert any("RD501 2: the configuration is not valid: unknown key `nam` in a rule" in one for one in shown(found))


OF_TOML = {
    'rule = "x"': "`rule` must be a list of at most 100 tables",
    "[rule]\nname = 'a'": "`rule` must be a list of at most 100 tables",
    "[[rule]]\nrule = 'look at most 1 time'": "the name of a rule must",
    "[[rule]]\nname = 1\nrule = 'look at most 1 time'": "the name of a rule must",
    "[[rule]]\nname = 'a'": "a rule needs the key `rule`",
    "[[rule]]\nname = 'a'\nrule = 5": "a rule needs the key `rule`",
    "[[rule]]\nname = 'a'\nrule = 'always look'\ntri = true": "unknown key `tri` in a rule; did you mean `try`?",
    "[[rule]]\nname = 'a'\nrule = 'always look'\ntry = 'yes'": "`try` of a rule must be true or false",
    "[[rule]]\nname = 'a'\nrule = 'always look'\noverride = 0": "`override` of a rule must be true or false",
    "[[rule]]\nname = 'a'\nrule = 'always look'\nwhy = []": "`why` of a rule must be a text",
    "[[rule]]\nname = 'a'\nrule = 'always look'\nfor = '/x'": "`for` must be a path",
    "[[rule]]\nname = 'a'\nrule = 'always look'\nfor = '../x'": "`for` must be a path",
    "[[rule]]\nname = 'a'\nrule = 'always look'\nfor = []": "`for` must be a path",
    "[[rule]]\nname = 'a'\nrule = 'always look'\nfor = ['[z-a]']": "`for` must be a path",
    "[[rule]]\nname = 'a'\nrule = 'always x'\n[[rule]]\nname = 'a'\nrule = 'always x'": "two rules have the name `a`",
    "[[rule]]\nname = 'a'\nrule = 'nothing'": "rule `a`: column",
}


def test_a_wrong_rule_of_the_project_is_an_error_at_its_place(tmp_path: Path) -> None:
    for project, problem in OF_TOML.items():
        found = compiled(tmp_path, "a.runbook.md", "", f"{project}\n")
        assert found.program is None
        (wanted,) = [one for one in found.diagnostics if problem in one.message]
        assert (Path(wanted.path).name, bool(wanted.span), bool(wanted.help)) == ("rdc.toml", True, True)


@pytest.mark.parametrize(
    ("name", "each"),
    [(name, 1 if name == "a.runbook.md" else 4) for name in DOCUMENTS]
    + [pytest.param(name, 1, marks=pytest.mark.soak) for name in DOCUMENTS if name != "a.runbook.md"],
)
def test_hostile_texts_are_rules_or_errors(name: str, each: int, tmp_path: Path) -> None:
    for text in [*filterfalse(is_label, (*EVIL, *NASTY))][::each]:
        quoted = "".join(f"\\U{ord(one):08x}" for one in text if not 0xD800 <= ord(one) < 0xE000)
        for options in (
            f'  rules: {{a: "{quoted}"}}',
            f'  rules: {{"{quoted}": look}}',
            f'  steps: {{ID: {{labels: ["{quoted}"]}}}}',
        ):
            found = compiled(tmp_path, name, options)
            assert found.program is None, text
            assert all(one.message.isprintable() for one in found.diagnostics), text


LAZY = ("apply", "prove", "report", "resolve", "sentences", "steps")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_without_rules_loads_nothing_of_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (*(f"compiler.rules.{one}" for one in LAZY), "compiler.project.rules"):
        monkeypatch.setitem(sys.modules, module, None)
    assert compiled(tmp_path, name, '  steps: {"ID": {labels: [x]}}').program
    with pytest.raises(ModuleNotFoundError):
        compiled(tmp_path, name, "  rules: {a: always look}")


STEP = "\n## {}. T{}\n\n```bash\ntrue\n```\n"
NUMBERED = "---\nrdc:\n  rules:\n    RULE\n---\n" + "".join(STEP.format(number, number) for number in (1, 3, 5))


def formatted(path: Path, text: str) -> Formatted:
    path.write_text(text)
    return format_opened(open_file(str(path)), Settings()).result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a: 3 PASS or "1" PASS before 5, again after 3', 'a: 2 PASS or "1" PASS before 3, again after 2'),
        ('a: {rule: "after 3 FAIL, always T5", why: "3"}', 'a: {rule: "after 2 FAIL, always T5", why: "3"}'),
        ("a: 5 at most 3 times", "a: 3 at most 3 times"),
        ("a: no 5 after 3 until any command PASS", "a: no 3 after 2 until any command PASS"),
        ('a: {rule: always 3, why: "always 3"}', 'a: {rule: always 2, why: "always 3"}'),
        # rules that cannot be edited, so that the numbers stay
        ("a: >\n      3 PASS\n      before 5", None),
        ("a: 2 PASS before 5", None),
        ("a: always 3\n      or 5", None),
    ],
)
def test_new_numbers_of_steps_are_in_the_rules_too(before: str, after: str | None, tmp_path: Path) -> None:
    found = formatted(tmp_path / "a.runbook.md", NUMBERED.replace("RULE", before))
    if after is None:
        assert (found.text, "RD117" in {one.code for one in found.diagnostics}) == (None, True)
    else:
        assert f"    {after}\n" in (found.text or "")


def test_a_playbook_with_rules_keeps_its_numbers(tmp_path: Path) -> None:
    steps = "".join(f"\n## STEP {number}: T\n\nDo it.\n" for number in (1, 3, 5))
    text = f"---\nrdc: {{rules: {{a: 3 PASS before 5}}}}\n---\n\n# T\n{steps}"
    assert formatted(tmp_path / "a.playbook.md", text).text == text
