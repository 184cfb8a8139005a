"""What people see of rules: lists, pictures, traces, the lock, and rules of the whole project."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.rdc.projects import Project
from tests.support.cli import call, document, spawn

DEPLOY = """---
rdc:
  rules:
    approved: 1 YES before Install
    few: Install at most 2 times
    ended: {rule: "after Install FAIL, always Back", why: Customers see half of it otherwise.}
  steps: {2: {labels: [production]}}
---
# Deploy
## 1. Ship it?
- YES: CONTINUE
- NO: STOP
## 2. Install
```bash
echo installing
```
- FAIL: RETRY 1 GOTO Back
## Back
```bash
echo back
```
"""
BROKEN = DEPLOY.replace("- NO: STOP", "- NO: GOTO 2")
pytestmark = pytest.mark.process

SHARED = """
[[rule]]
name = "asked"
rule = "any question YES before any step labeled production"
"""
BUILD = '[[build]]\nsource = "docs/*.runbook.md"\nto = "python"\nout = "out/{name}.py"\n'
KEYS: dict[str, object] = {
    **{key: {"type": "string"} for key in ("document", "name", "rule", "why", "path")},
    "verdict": {"enum": ["holds", "broken", "not proven", "doesn't apply"]},
    "guards": {"type": "array", "items": {"type": "string"}},
    **{key: {"type": "boolean"} for key in ("try", "override")},
    **{key: {"type": ["integer", "null"]} for key in ("line", "column", "end_line", "end_column")},
}
RULE = {"type": "object", "properties": KEYS, "required": [*KEYS], "additionalProperties": False}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    document(tmp_path, "deploy.runbook.md", DEPLOY)
    document(tmp_path, "broken.runbook.md", BROKEN)
    document(tmp_path, "plain.runbook.md", "## 1. Go\n\n```bash\ntrue\n```\n")
    return tmp_path


def test_rules_are_listed_with_their_verdicts_and_guarded_steps(folder: Path) -> None:
    result = call("check", "--rules", "deploy.runbook.md", "plain.runbook.md", cwd=folder).exits(1)
    assert result.out.splitlines() == [
        "deploy.runbook.md  approved  holds   guards 2",
        "deploy.runbook.md  few       holds   guards 2",
        "deploy.runbook.md  ended     broken  guards END",
    ]
    result = call("check", "--rules", "plain.runbook.md", cwd=folder)
    assert (result.code, result.out, result.err) == (0, "", "no problems in 1 file\n")
    for words in ("--format sarif", "--format github", "--fix", "--diff"):
        result = call("check", "--rules", *words.split(), "deploy.runbook.md", cwd=folder)
        assert (result.code, "--rules only lists rules" in result.err) == (2, True)


def test_rules_as_json(folder: Path) -> None:
    result = call("check", "--rules", "--format", "json", "broken.runbook.md", cwd=folder).exits(1)
    found = json.loads(result.out)["rules"]
    Draft202012Validator({"type": "array", "items": RULE}).validate(found)
    facts = [(one["name"], one["verdict"], *one["guards"]) for one in found]
    assert facts == [("approved", "broken", "2"), ("few", "holds", "2"), ("ended", "broken", "END")]
    assert (found[2]["why"], found[2]["line"]) == ("Customers see half of it otherwise.", 6)
    assert "rules" not in json.loads(call("check", "--format", "json", "broken.runbook.md", cwd=folder).out)


def test_a_picture_has_the_marks_of_a_rule(folder: Path) -> None:
    for form in ("dot", "mermaid"):
        result = call("graph", "broken.runbook.md", "--rule", "approved", "--format", form, "-o", "-", cwd=folder)
        assert (result.code, result.err) == (0, "")
        assert all(words in result.out for words in ("(1) NO", "(2) breaks the rule", "approved", "broken"))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("deploy.runbook.md --rule aproved", "unknown rule 'aproved'; did you mean approved? (see 'rdc check --rules"),
        ("plain.runbook.md --rule approved", "unknown rule 'approved' (see 'rdc check --rules plain.runbook.md')"),
        ("deploy.runbook.md plain.runbook.md --rule few", "--rule draws one document, but you gave 2"),
        ("deploy.runbook.md --rule few --format json", "--rule needs a picture"),
    ],
)
def test_a_picture_of_an_unknown_rule_is_a_usage_error(folder: Path, words: str, problem: str) -> None:
    assert problem in call("graph", *words.split(), cwd=folder).exits(2).err


def test_a_trace_shows_where_a_rule_breaks(folder: Path) -> None:
    result = call("trace", "broken.runbook.md", "--outcomes", "1=no", cwd=folder)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[1] == "! 2 breaks rule approved: 1 YES before Install"
    assert "breaks" not in call("trace", "broken.runbook.md", cwd=folder).out
    ended = call("trace", "deploy.runbook.md", "--outcomes", "2=fail,pass", cwd=folder).out.splitlines()
    assert ended[-2:][0].startswith("! COMPLETE breaks rule ended"), "at the end of the run"
    assert call("graph", "broken.runbook.md", "-o", "x.dot", cwd=folder).code == 1
    assert not (folder / "x.dot").exists(), "a picture without the rule needs proven rules"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "shop", BUILD)
    made.write("docs/deploy.runbook.md", DEPLOY.replace("ended: {", "# {"))
    made.runbook("other")
    return made


def lock(project: Project) -> list[str]:
    return [line for line in project.text("rdc.lock").splitlines() if " rule " in line]


def test_a_rule_that_is_tried_only_warns(project: Project) -> None:
    shared = SHARED.replace("any question YES before", "no").replace("production", "production after 1 YES")
    project.write("rdc.toml", BUILD + shared + "try = true\n")
    result = call("check", "--rules", cwd=project.root)
    assert (result.code, "warning[RD420]: rule `asked`" in result.err) == (0, True), result.err
    assert "asked     broken (tried)         guards 2\n" in result.out
    assert project.build().code == 0
    project.write("rdc.toml", BUILD + shared)
    assert call("check", cwd=project.root).code == project.build().code == 1


WHOLE = (("check",), ("build",), ("build", "--check"))
"""What looks at the whole project."""


def test_a_rule_of_the_project_that_applies_to_no_document_is_an_error(project: Project) -> None:
    project.write("rdc.toml", BUILD + SHARED)
    assert call("check", cwd=project.root).code == project.build().code == 0
    project.write("rdc.toml", BUILD + SHARED.replace("production", "prodution"))
    for words in WHOLE:
        result = call(*words, cwd=project.root)
        assert (result.code, "rule `asked` applies to no document of the project" in result.err) == (1, True), words
        assert "rdc.toml:8:" in result.err
    assert call("check", "docs", cwd=project.root).code == 0, "only for the whole project"


LESS = """
[[rule]]
name = "deployed"
rule = "1 YES or 1 YESS before 2, again after Instal or any tool"
"""
PARTS = (
    "column 10: step `1` has no outcome `YESS`; did you mean `YES`?",
    "column 39: unknown step `Instal`; did you mean `Install`?",
    "column 49: no step is of the kind `any tool`",
)


def test_a_part_of_a_rule_that_matches_in_no_document_is_an_error(project: Project) -> None:
    project.write("rdc.toml", BUILD + LESS)
    for words in WHOLE:
        result = call(*words, cwd=project.root).exits(1)
        found = re.findall(r"rule `deployed` has a part that matches in no document of the project: (.*)", result.err)
        assert tuple(found) == PARTS, words
        assert "rdc.toml:8:" in result.err
    assert call("check", "docs", cwd=project.root).code == 0, "only for the whole project"
    project.write("rdc.toml", BUILD + LESS.replace("1 YES or 1 YESS", "1 YES or Look PASS").replace(" or any tool", ""))
    other = "## 1. Look\n\n```bash\ntrue\n```\n\n- FAIL: GOTO Instal\n\n## Instal\n\n```bash\ntrue\n```\n"
    project.write("docs/other.runbook.md", other)
    assert call("check", cwd=project.root).code == 0
    assert project.build().code == 0, project.build().err
    project.write("rdc.toml", BUILD.replace("docs/*", "docs/deploy*") + LESS)
    built = project.build("--approve", "no rule deployed")
    assert built.code == 0, "the check of the whole project knows the other document"
    assert call("check", cwd=project.root).code == 1


def test_the_parts_are_reported_beside_other_errors_in_rules(project: Project) -> None:
    project.write("rdc.toml", BUILD + LESS)
    text = project.text("docs/deploy.runbook.md")
    for other, code in (("no Install after 1 YES", "RD420"), ("Unknown PASS before 2", "RD423"), ("whatever", "RD422")):
        project.write("docs/deploy.runbook.md", text.replace("rules:\n", f"rules:\n    wrong: {other}\n", 1))
        for words in (("check",), ("build",)):
            result = call(*words, cwd=project.root)
            assert f"error[{code}]: rule `wrong`" in result.err, result.err
            assert all(part in result.err for part in PARTS), words
    project.write("docs/deploy.runbook.md", text)
    project.write("docs/other.runbook.md", DEPLOY[DEPLOY.index("# Deploy") :])
    for sentence in ("1 YES befor 2", "Install at least 1 time", "1 before 2"):
        wrong = SHARED.replace("any question YES before any step labeled production", sentence)
        project.write("rdc.toml", BUILD + LESS + wrong)
        for words in (("check",), ("build",)):
            result = call(*words, cwd=project.root)
            assert ("rule `asked`: " in result.err, "rule `asked` " in result.err) == (True, False), words
            assert all(part in result.err for part in PARTS), words


def test_a_build_of_some_documents_leaves_rules_of_the_others_to_the_check(project: Project) -> None:
    project.write("rdc.toml", BUILD.replace("docs/*", "docs/other") + SHARED)
    assert project.build().code == 0, project.build().err
    assert call("check", cwd=project.root).code == 0
    project.write("rdc.toml", BUILD.replace("docs/*", "docs/other") + SHARED + 'for = "docs/other*"\n')
    assert project.build().code == 1


def test_a_rule_of_the_project_guards_its_documents_where_others_include_them(project: Project) -> None:
    project.write("rdc.toml", BUILD + SHARED + 'for = "docs/deploy*"\n')
    own = "---\nrdc: {rules: {asked: always 1}}\n---\n"
    project.write("docs/main.runbook.md", f"{own}## 1. Go\n\n- deploy.runbook.md\n")
    listed = call("check", "--rules", "docs/main.runbook.md", cwd=project.root).exits(0)
    name = "1/deploy.runbook.md"
    assert f"{name}/asked" in listed.out, "its own rule has the same name, but isn't the same"
    words = ("run", "docs/main.runbook.md")
    assert spawn(*words, cwd=project.root).code == 75
    assert [spawn(*words, "goto", f"{name}/{step}", cwd=project.root).code for step in "12"] == [0, 2]


def test_the_lock_has_the_rules_of_each_document(project: Project) -> None:
    project.write("rdc.toml", BUILD + SHARED)
    assert project.build().code == 0
    assert lock(project) == [
        'docs/deploy.runbook.md rule approved "1 YES before Install" guards 2',
        'docs/deploy.runbook.md rule asked "any question YES before any step labeled production" guards 2',
        'docs/deploy.runbook.md rule few "Install at most 2 times" guards 2',
    ]
    assert spawn("build", "--check", cwd=project.root, CI="1").code == 0
    project.write("rdc.toml", BUILD + SHARED + "try = true\n")
    assert project.build("--approve", "no rule asked").code == 0
    assert [line for line in lock(project) if "asked" in line] == []


def test_a_weaker_rule_needs_an_approval(project: Project) -> None:
    assert project.build().code == 0
    before = project.files()
    text = project.text("docs/deploy.runbook.md").replace("approved: 1 YES", "approved: 1 NO")
    project.write("docs/deploy.runbook.md", text.replace("YES: CONTINUE\n- NO: STOP", "YES: STOP\n- NO: CONTINUE"))
    for words, env in (((), {}), (("--check",), {}), (("--check",), {"CI": "1"})):
        result = spawn("build", *words, cwd=project.root, **env)
        gone = "error[RD546]: gone: rule approved of docs/deploy.runbook.md"
        change = 'it was "1 YES before Install", and is now "1 NO before Install"'
        assert (result.code, gone in result.err, change in result.err) == (1, True, True)
        assert "rdc build --approve 'no rule approved'" in result.err
    assert project.files() == before, "neither the file nor the lock changes"
    assert project.build("--approve", "no rule approved").code == project.build("--check").code == 0


def test_a_document_that_is_gone_or_broken_needs_no_approval(project: Project) -> None:
    assert project.build().code == 0
    text = project.text("docs/deploy.runbook.md")
    project.write("docs/deploy.runbook.md", text.replace("- NO: STOP", "- NO: GOTO 2"))
    result = project.build()
    assert (result.code, "RD420" in result.err, "gone: rule" in result.err) == (1, True, False)
    (project.root / "docs/deploy.runbook.md").unlink()
    assert project.build("--prune").code == 0, project.build().err


@pytest.mark.parametrize("words", ["check", "compile --to python", "build", "test", "run"])
def test_a_broken_rule_is_an_error_in_each_command(project: Project, words: str) -> None:
    project.write("docs/deploy.runbook.md", BROKEN)
    files = [] if words == "build" else ["docs/deploy.runbook.md"]
    assert "error[RD420]" in call(*words.split(), *files, cwd=project.root).exits(2 if words == "run" else 1).err
    assert not (project.root / "docs/deploy.py").exists()
