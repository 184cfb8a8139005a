"""Inputs that no step gets as meant: in commands, in two pairs of braces, of misspelled types, or unused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import call

HEAD = "---\nrdc: {inputs: {VERSION: {description: V}}}\n---\n# A\n\n"
BOOK = "# A\n\n## INPUTS\n\n{}\n\n## STEP 1: Do\n\n{}\n"


def checked(folder: Path, name: str, text: str) -> tuple[int, str]:
    """Check a document; returns the exit code, and what is said."""
    (folder / name).write_text(text, encoding="utf-8")
    said = call("check", name, cwd=folder)
    return said.code, said.err


@pytest.mark.parametrize(
    ("command", "code", "remedy"),
    [
        ("deploy {{VERSION}}", 1, 'write `"$VERSION"`'),
        ('deploy "{{ VERSION }}"', 1, 'write `"$VERSION"`'),
        ("docker inspect -f '{{VERSION}}'", 0, 'write `"$VERSION"` outside the single quotes'),
    ],
)
def test_a_reference_in_a_command_is_told(command: str, code: int, remedy: str, tmp_path: Path) -> None:
    found, said = checked(tmp_path, "a.runbook.md", f"{HEAD}## 1. Do\n\n```bash\n{command}\n```\n")
    assert (found, "a.runbook.md:9:" in said, remedy in said) == (code, True, True), said


@pytest.mark.parametrize(
    "command", ["deploy $VERSION", "docker ps --format '{{.ID}}'", "echo {{OTHER}}", "echo ${VERSION}"]
)
def test_other_commands_are_left_alone(command: str, tmp_path: Path) -> None:
    code, said = checked(tmp_path, "a.runbook.md", f"{HEAD}## 1. Do\n\n```bash\n{command}\n```\n")
    assert (code, "RD13" in said) == (0, False), said


def test_a_runbook_without_commands_says_which_input_no_step_shows(tmp_path: Path) -> None:
    _, said = checked(tmp_path, "a.runbook.md", f"{HEAD}## 1. Do it?\n\nWell?\n")
    assert "no step shows the input `VERSION`" in said
    _, said = checked(tmp_path, "a.runbook.md", f"{HEAD}## 1. Do it?\n\nIs {{{{VERSION}}}} well?\n")
    assert "RD410" not in said
    _, said = checked(tmp_path, "a.runbook.md", f"{HEAD}## 1. Do it\n\n```bash\n./deploy\n```\n")
    assert "RD410" not in said, "the script may read it"


@pytest.mark.parametrize(
    ("inputs", "text", "unread"),
    [
        ("- `tone` (string): T", "Write.", True),
        ("- `tone` (string): T", "Write {{tone}}.", False),
        ("- `tone` (string): T", '```if tone == "a"```\nOne.\n```else```\nTwo.\n```endif```', False),
        ("- `tone` (string): T", "@prompt({{tone}})", False),
        ("- `tone` (string): T", '@tool(c, t, {"a": "{{tone}}"})', False),
        ("- `tone` (string): T", '@elicit(confirm, "Is {{tone}} well?")', False),
        ("- `tone` (string: a): T", "Write {{ton}}.", True),
    ],
)
def test_a_playbook_says_which_input_no_step_shows(inputs: str, text: str, unread: bool, tmp_path: Path) -> None:
    _, said = checked(tmp_path, "a.playbook.md", BOOK.format(inputs, text))
    assert ("no step shows the input `tone`" in said) is unread, said


@pytest.mark.parametrize(
    ("written", "meant"),
    [("enumm: a, b", "enum"), ("strng", "string"), ("bolean: true", "boolean"), ("Numbr", "number"), ("texts", "text")],
)
def test_a_misspelled_type_is_an_error(written: str, meant: str, tmp_path: Path) -> None:
    code, said = checked(tmp_path, "a.playbook.md", BOOK.format(f"- `a` ({written}): A", "Write {{a}}."))
    assert (code, f"write `{meant}`" in said) == (1, True), said


@pytest.mark.parametrize("written", ["url", "date", "integer", "email", "path", "json", "markdown", "file", "list"])
def test_any_other_word_is_a_string(written: str, tmp_path: Path) -> None:
    code, said = checked(tmp_path, "a.playbook.md", BOOK.format(f"- `a` ({written}): A", "Write {{a}}."))
    assert (code, "RD732" in said, "RD733" in said) == (0, False, True), said
    code, said = checked(tmp_path, "a.playbook.md", BOOK.format("- `a` (string): A", "Write {{a}}."))
    assert (code, "RD733" in said) == (0, False), said


SPEC = """workflow: {{module: a, workflow: b}}
step_specs:
  - id: one
    description: {}
    outputs: ["{}/a.md"]
"""


@pytest.mark.parametrize(
    ("description", "folder", "code"),
    [
        ("x", "{{output_folder}}", 1), ("x", "{output_folder}", 0), ("'in {{output_folder}}'", "{output_folder}", 1),
        ("'a {{mustache}}'", "{output_folder}", 0), ("'{name} and {{name}}'", "{output_folder}", 1),
    ],
)  # fmt: skip
def test_doubled_braces_in_a_specification(description: str, folder: str, code: int, tmp_path: Path) -> None:
    found, said = checked(tmp_path, "a.stepspec.yaml", SPEC.format(description, folder))
    assert (found, "RD874" in said) == (code, bool(code)), said
