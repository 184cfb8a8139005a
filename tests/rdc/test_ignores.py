"""`rdc: ignore` in documents, and `[check] ignore` in the configuration: what is silenced, and what is useless."""

import json
from pathlib import Path

import pytest

from compiler.driver import Settings, compile_file
from tests.support.cli import call, document

TOLERATED = "# T\n\n## 1. A\n\n### 1.1 B\n\nDo it.\n\n- PASS: CONTINUE\n{}- FAIL: CONTINUE\n"
PLAYBOOK = "# P\n\n## STEP 1: Do\n\nText {{{{a}}}}.\n{}More {{{{b}}}}.\n"
WORKFLOW = "name: w\nsteps:\n  - name: plan\n    prompt: |\n      Do\n{}    foo: 1\n    end: true\n"
SPEC = "step_specs:\n  - id: draft\n{}    evidence: L1/L2\n"

CASES = [
    ("a.runbook.md", TOLERATED, "<!-- rdc: ignore RD405 -->\n", "RD405"),
    ("a.runbook.md", TOLERATED, "<!-- rdc: ignore tolerated-failure -->\n\n", "RD405"),
    ("a.runbook.md", TOLERATED, "<!-- rdc: ignore RD405 -->\n<!-- a comment -->\n", None),
    ("a.playbook.md", PLAYBOOK, "<!--rdc: ignore RD721-->\n", "RD721"),
    ("a.workflow.yaml", WORKFLOW, "    # rdc: ignore RD803\n", "RD803"),
    ("a.workflow.yaml", WORKFLOW, "      # rdc: ignore RD803\n", None),  # a line of the prompt
    ("a.stepspec.yaml", SPEC, "    # rdc: ignore several-levels\n", "RD863"),
]


def codes(path: Path) -> list[str]:
    return [item.code for item in compile_file(str(path)).diagnostics]


@pytest.mark.parametrize(("name", "whole", "comment", "silenced"), CASES)
def test_a_comment_before_a_line(tmp_path: Path, name: str, whole: str, comment: str, silenced: str | None) -> None:
    """It silences a finding of the line, changes nothing in the program, and stays where it is."""
    without = compile_file(str(document(tmp_path, name, whole.format(""))))
    path = document(tmp_path, name, whole.format(comment))
    found = compile_file(str(path))
    before, after = ([item.code for item in each.diagnostics] for each in (without, found))
    if silenced is None:
        assert [code for code in after if code != "RD007"] == before
        return
    before.remove(silenced)
    assert after == before
    assert without.program
    assert found.program
    one, other = (
        [(node.id, node.task, node.title) for node in made.nodes] for made in (without.program, found.program)
    )
    assert one == other
    assert call("fmt", "-q", name, cwd=tmp_path).code == 0
    assert "rdc: ignore" in path.read_text()
    assert codes(path) == after


def test_a_comment_within_a_prompt_is_no_part_of_it(tmp_path: Path) -> None:
    text = "# T\n\n## 1. A\n\none\n{}two\n\n- PASS: COMPLETE\n"
    texts = (text.format(comment) for comment in ("", "<!-- rdc: ignore RD522 -->\n"))
    paths = [document(tmp_path, f"{number}/a.runbook.md", one) for number, one in enumerate(texts)]
    tasks = [[node.task for node in program.nodes] for path in paths if (program := compile_file(str(path)).program)]
    assert tasks[0] == tasks[1]
    block = "# T\n\n## 1. A\n\nShow it.\n\n```md\n<!-- rdc: ignore RD999 -->\n```\n"
    assert codes(document(tmp_path, "b.runbook.md", block)) == [], "a code block has no comments"


def test_findings_of_a_target_can_be_ignored(tmp_path: Path) -> None:
    text = "# P\n\n{}## STEP 1: Do\n\nText.\n"
    document(tmp_path, "a.playbook.md", text.format(""))
    assert "RD539" in call("compile", "a.playbook.md", "--to", "make", cwd=tmp_path).err
    document(tmp_path, "a.playbook.md", text.format("<!-- rdc: ignore RD539 -->\n"))
    assert "RD539" not in call("compile", "a.playbook.md", "--to", "make", cwd=tmp_path).err
    assert "RD007" not in call("check", "a.playbook.md", cwd=tmp_path).err  # no target is asked


@pytest.mark.parametrize(
    "comment", ["<!-- rdc: ignore RD538 -->\n", "---\n# rdc: ignore space-in-path\nname: p\n---\n"]
)
def test_a_comment_above_everything_is_about_the_file(tmp_path: Path, comment: str) -> None:
    text = "# T\n\n## 1. A\n\n```bash\nls\n```\n"
    document(tmp_path, "a b/a.runbook.md", text)
    assert "RD538" in call("compile", "a b/a.runbook.md", "--to", "make", cwd=tmp_path).err
    document(tmp_path, "a b/a.runbook.md", f"{comment}{text}")
    assert "RD538" not in call("compile", "a b/a.runbook.md", "--to", "make", cwd=tmp_path).err
    document(tmp_path, "a b/a.runbook.md", f"{text}{comment}")
    assert "RD538" in call("compile", "a b/a.runbook.md", "--to", "make", cwd=tmp_path).err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "this comment has no diagnostic code"),
        ("RD9", "there is no diagnostic `RD9`"),
        ("tolerated-failur", "there is no diagnostic `tolerated-failur`; did you mean `tolerated-failure`?"),
        ("RD404", "this comment has no effect: line 11 has no RD404"),
    ],
)
def test_a_useless_comment_is_reported(tmp_path: Path, words: str, message: str) -> None:
    path = document(tmp_path, "a.runbook.md", TOLERATED.format(f"<!-- rdc: ignore {words} -->\n"))
    result = call("check", "--strict", "a.runbook.md", cwd=tmp_path).exits(1)
    assert f"a.runbook.md:10:1: warning[RD007]: {message}\n" in result.err
    assert call("check", "--fix", "--strict", "a.runbook.md", cwd=tmp_path).code == 0
    assert path.read_text() == TOLERATED.format("")


def test_what_is_of_use_stays_in_the_comment_and_an_error_is_never_silenced(tmp_path: Path) -> None:
    path = document(tmp_path, "a.runbook.md", TOLERATED.format("<!-- rdc: ignore RD404, RD405 RD9 -->\n"))
    result = call("check", "--fix", "a.runbook.md", cwd=tmp_path)
    assert (result.code, path.read_text()) == (0, TOLERATED.format("<!-- rdc: ignore RD405 -->\n"))
    including = document(tmp_path, "b.runbook.md", "# T\n\n## 1. A\n\n- a.runbook.md\n")
    assert codes(including) == [], "the comments of an included document count"
    text = "# T\n\n## 1. A\n\nx\n\n<!-- rdc: ignore RD201 -->\n- PASS: GOTO 9\n"
    result = call("check", document(tmp_path, "a.runbook.md", text).name, cwd=tmp_path)
    assert (result.code, "error[RD201]" in result.err) == (1, True)
    assert "warning[RD007]: RD201 is an error, and errors cannot be ignored" in result.err


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("rdc.toml", '[check]\nignore = ["RD405"]\n'),
        ("rdc.toml", 'check.ignore = ["tolerated-failure"]\n'),
        ("pyproject.toml", '[tool.rdc.check]\nignore = ["RD405"]\n'),
    ],
)
def test_a_project_ignores_a_code(tmp_path: Path, file: str, text: str) -> None:
    document(tmp_path, "a.runbook.md", TOLERATED.format(""))
    assert "RD405" in call("check", "a.runbook.md", cwd=tmp_path).err
    document(tmp_path, file, text)
    assert call("check", "a.runbook.md", cwd=tmp_path).err == "no problems in 1 file\n"
    assert call("compile", "a.runbook.md", "--to", "json", "--strict", cwd=tmp_path).code == 0
    assert json.loads(call("check", "--format", "json", "a.runbook.md", cwd=tmp_path).out)["diagnostics"] == []


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('[check]\nignore = ["RD201"]\n', 2, "RD201 is an error, and errors cannot be ignored"),
        ('[check]\nignore = ["RD9"]\n', 2, "there is no diagnostic `RD9`"),
        ('[check]\nignore = "RD405"\n', 2, "`ignore` must be a list of codes"),
        ("[check]\nignor = []\n", 2, "there is no key `ignor` in `check`; did you mean `ignore`?"),
        ("check = 1\n", 1, "`check` must be a table"),
    ],
)
def test_a_wrong_configuration_is_an_error_with_its_place(tmp_path: Path, text: str, place: int, message: str) -> None:
    document(tmp_path, "rdc.toml", text)
    document(tmp_path, "a.runbook.md", TOLERATED.format(""))
    result = call("check", "a.runbook.md", cwd=tmp_path).exits(1)
    assert f"rdc.toml:{place}:1: error[RD501]: the configuration is not valid: {message}\n" in result.err


def test_no_comment_is_useless_in_documents_with_errors_or_on_their_own(tmp_path: Path) -> None:
    text = TOLERATED.format("<!-- rdc: ignore RD401 -->\n") + "\n## 2. B\n\nx\n\n- PASS: GOTO 9\n"
    assert "RD007" not in codes(document(tmp_path, "b.runbook.md", text))
    path = document(tmp_path, "a.runbook.md", TOLERATED.format("<!-- rdc: ignore RD404 -->\n"))
    found = compile_file(str(path), Settings(link=False)).diagnostics
    assert [item.code for item in found] == ["RD405"]
