"""Errors of newcomers: the message is at the right line, and its remedy names what to write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.robustness.newcomers import BASES, PLAYBOOK, ROWS, RUNBOOK, SPECIFICATION, WORKFLOW, Row
from tests.support.cli import call, document


@pytest.mark.parametrize("name", BASES)
def test_the_documents_without_errors_are_fine(name: str, tmp_path: Path) -> None:
    document(tmp_path, "rdc.toml", "")
    document(tmp_path, name, BASES[name])
    assert call("check", "--strict", name, cwd=tmp_path).code == 0


def checked(folder: Path, name: str, text: str) -> list[dict[str, object]]:
    """The diagnostics of a document."""
    (folder / "rdc.toml").touch()
    (folder / name).write_bytes(text.encode())
    found = call("check", "--format", "json", name, cwd=folder)
    assert "Traceback" not in found.err
    diagnostics: list[dict[str, object]] = json.loads(found.out)["diagnostics"]
    assert found.code == any(item["severity"] == "error" for item in diagnostics)
    return diagnostics


@pytest.mark.parametrize("name", ROWS)
def test_the_message_says_where_it_is_and_what_to_write(name: str, tmp_path: Path) -> None:
    row: Row = ROWS[name]
    assert row.old in BASES[row.document]
    diagnostics = checked(tmp_path, row.document, BASES[row.document].replace(row.old, row.new, 1))
    if not row.place:
        assert diagnostics == []
        return
    at_the_place = [item for item in diagnostics if f"{item['line'] or 0} {item['code']}" == row.place]
    assert at_the_place, diagnostics
    assert any(row.remedy in f"{item['message']} {item['help']}" for item in at_the_place)


EDIT = re.compile(r"(?:write|did you mean|replace `[^`]+` (?:by|with)) `([^`]+)`")
EDITED = {
    "outcome misspelled": "- PASS: CONTINUE",
    "outcome ELSE": "- FAIL: GOTO Undo",
    "outcome in bold": "- FAIL: STOP",
    "step in bold": "## 2. Check",
    "step without a space": "## 2. Check",
    "input in a command in braces": '"$VERSION"',
    "step with a dash": "## STEP 2: Write",
    "step without a number": "## STEP 2: Write",
    "placeholder doubled": "{topic}",
    "list item without a space": "- id: review",
}
"""The edits that messages tell, of which the document is fine again."""


@pytest.mark.parametrize("name", EDITED)
def test_the_edit_that_a_message_tells_is_right(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    diagnostics = checked(tmp_path, row.document, BASES[row.document].replace(row.old, row.new, 1))
    message = EDIT.findall(" ".join(f"{item['message']} {item['help']}" for item in diagnostics))
    assert EDITED[name] in message
    written = {"input in a command in braces": 'VERSION="$VERSION"', "placeholder doubled": "about {topic}"}
    edited = written.get(name, EDITED[name])
    bullet = "  " if name == "list item without a space" else ""
    text = BASES[row.document].replace(row.old, bullet + edited, 1)
    assert all(item["severity"] != "error" for item in checked(tmp_path, row.document, text))


NAMES = {
    "deploy.txt": RUNBOOK,
    "deploy.runbook.markdown": RUNBOOK,
    "article.md": PLAYBOOK,
    "review.yml": WORKFLOW,
    "notes.yaml": SPECIFICATION,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_document_with_another_name_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    assert all(item["severity"] != "error" for item in checked(tmp_path, name, NAMES[name]))


WRONG = {
    "notes.runbook.md": (SPECIFICATION, ".stepspec.yaml"),
    "deploy.playbook.md": (RUNBOOK, ".runbook.md"),
    "article.runbook.md": (PLAYBOOK, ".playbook.md"),
    "review.stepspec.yaml": (WORKFLOW, ".workflow.yaml"),
    "notes.workflow.yaml": (SPECIFICATION, ".stepspec.yaml"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_name_that_says_another_format_is_told_first(name: str, tmp_path: Path) -> None:
    text, ending = WRONG[name]
    first = checked(tmp_path, name, text)[0]
    assert (first["code"], ending in str(first["help"])) == ("RD006", True)
