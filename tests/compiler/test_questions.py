"""Steps that become questions although a command was probably meant (RD050, RD118), and headers with late numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.diagnostic import Severity
from compiler.driver import Compilation
from tests.compiler.documents import compiled, finding

BUILD = "## 1. Build\n\n```bash\nmake\n```\n\n"


def found(compilation: Compilation) -> list[str]:
    """All findings, those of empty steps too."""
    return [finding(item) for item in compilation.diagnostics]


def block(tag: str, after: str = "") -> str:
    return f"## 1. Build\n\n```{tag}\nx\n```\n{after}"


@pytest.mark.parametrize("tag", ["python", "Python", "py", "console", "zsh", "powershell", "js", "shell-session"])
def test_a_language_that_people_expect_to_be_run_is_reported(tmp_path: Path, tag: str) -> None:
    compilation = compiled(tmp_path, block(tag, "\n- FAIL: STOP\n"))
    assert found(compilation) == ["RD050 3:1"]
    (warning,) = compilation.diagnostics
    assert warning.severity is Severity.WARNING
    assert f"write `{tag} prompt`" in warning.help
    assert "bash" in warning.help


@pytest.mark.parametrize(
    "text",
    [
        block("python prompt"),
        block("console", "\n- YES: CONTINUE\n- NO: STOP\n"),
        block("json"),
        block("sql"),
        block("text"),
        block(""),
        block("bash"),
        "# T\n\n```python\nx\n```\n\n" + BUILD,
    ],
)
def test_what_is_only_shown_on_purpose_is_not_reported(tmp_path: Path, text: str) -> None:
    assert found(compiled(tmp_path, text)) == []


def test_how_to_run_the_language_is_shown(tmp_path: Path) -> None:
    (warning,) = compiled(tmp_path, block("python")).diagnostics
    assert "`python3 - <<'END'`" in warning.help


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## 1. Build\n", ["RD118 1:4"]),
        ("## 1. Build\n\n- PASS: CONTINUE\n- FAIL: STOP\n\n## 2. Test\n", ["RD118 1:4", "RD118 6:4"]),
        ("## 1. A\n\n### 1.1 B\n\n### 1.2 C\n\nText.\n", ["RD118 3:5"]),
        ("## 1. A\n\n<!-- nothing -->\n\n---\n", ["RD118 1:4"]),
        ("---\nrdc: {prose: [Notes]}\n---\n## 1. A\n\n### Notes\n\nText.\n", ["RD118 4:4"]),
    ],
    ids=["alone", "transitions", "substep", "comment", "prose-only"],
)
def test_a_step_without_text_and_body_is_reported(tmp_path: Path, text: str, expected: list[str]) -> None:
    compilation = compiled(tmp_path, text)
    assert found(compilation) == expected
    assert {item.severity for item in compilation.diagnostics} == {Severity.WARNING}


@pytest.mark.parametrize(
    "text",
    [
        "## 1. Does it look right?\n",
        "## 1. Looks right\n\n- NO: STOP\n",
        "## 1. Looks right\n\n- FAIL: STOP\n- YES: COMPLETE\n",
        "## 1. A\n\n- FAIL: STOP\n\n### 1.1 B\n\nText.\n",
        "## 1. A\n\n- remember the milk\n",
        "## 1. A\n\n> quoted\n",
        "## 1. A\n\n```text\n```\n",
    ],
    ids=["question-mark", "no", "yes", "substeps", "item", "quote", "block"],
)
def test_a_step_that_asks_or_has_content_is_fine(tmp_path: Path, text: str) -> None:
    assert found(compiled(tmp_path, text)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## 1. A\n\n#### Deep\n\n", ["RD030 3:6"]),
        ("## 1. A\n\n- PASS: STOP\n\n## 2. B\n\nText.\n\n- FAIL: STOP\n\nMore.\n", ["RD118 1:4", "RD112 11:1"]),
    ],
)
def test_a_step_whose_content_is_wrong_is_not_called_empty(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert found(compiled(tmp_path, text)) == expected


HEADERS = [
    ("## Build the shop\n\nText.\n", "RD105", "`## 1. Build the shop`"),
    ("## Step 1: Build\n\nText.\n", "RD105", "`## 1. Build`"),
    ("## Intro\n\nText.\n\n## Build\n\n```sh\nx\n```\n", "RD105", "`## 1. Build`"),
    ("## Build\n\nText.\n\n## Test it all\n\nText.\n", "RD401", "`## 2. Test it all`"),
    (BUILD + "## Step 2 - Test\n\nText.\n", "RD401", "`## 2. Test`"),
    (BUILD + "## Phase 2\n\nText.\n", "RD401", "`## 2. Title`"),
    ("## Step 1: A\n\nText.\n\n## Step 2: B\n\nText.\n", "RD108", "`## 2. B`"),
    (BUILD + "## Step 2: Test\n\nText.\n\n## 3. Go\n\nText.\n", "RD102", "`## 2. Test`"),
    ("## 1. A\n\n### Step 1.1: Get it\n\nText.\n", "RD032", "`### 1.1 Get it`"),
]


@pytest.mark.parametrize(("text", "code", "header"), HEADERS)
def test_the_header_that_was_meant_is_shown(tmp_path: Path, text: str, code: str, header: str) -> None:
    (advice,) = (item.help for item in compiled(tmp_path, text).diagnostics if item.code == code)
    assert header in advice


@pytest.mark.parametrize("title", ["Release 2 candidates", "Rollback 1.4.2", "Rollback", "Step two"])
def test_a_number_in_a_title_is_not_taken_for_that_of_a_step(tmp_path: Path, title: str) -> None:
    (advice,) = (item.help for item in compiled(tmp_path, f"{BUILD}## {title}\n\nText.\n").diagnostics)
    assert "number it" not in advice
