"""Code blocks that swallow lines of the runbook because their closing fence is missing (RD049)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from compiler.diagnostics.model import Severity
from compiler.frontends.rundown.parse.blocks import read_blocks
from compiler.text.source import Source
from tests.conftest import ROOT
from tests.support.documents import compiled, findings

EXAMPLES = sorted((ROOT / "examples").rglob("*.runbook.md"))

BUILD = "## 1. Build\n\n"
MAKE = BUILD + "```bash\nmake\n"
TEST = "```bash\nmake test\n```\n"

SWALLOWED: dict[str, tuple[str, int]] = {
    "the-next-step": (MAKE + "\n## 2. Test\n\n" + TEST, 6),
    "a-named-step-and-its-block": (MAKE + "\n## Cleanup\n\n" + TEST, 8),
    "a-step-that-a-goto-names": (BUILD + "- FAIL: GOTO Rollback\n\n## 2. A\n```sh\nx\n## Rollback\n```\n", 8),
    "the-next-substep": ("## 1. A\n\n### 1.1 B\n```sh\nx\n### 1.2 C\ny\n```\n", 6),
    "the-first-substep": ("## 1. A\n```sh\nx\n### 1.1 C\ny\n```\n", 4),
    "a-dynamic-step": (BUILD + "```sh\nx\n## {N}. Item\n```\n", 5),
    "the-number-after-a-named-step": ("## 1. A\n- FAIL: GOTO Fix\n## Fix\n```sh\nx\n## 2: C\ny\n```\n", 6),
    "the-first-step": ("# Title\n\n```text\nx\n\n## 1. A\n```\n\n## Cleanup\n", 6),
    "a-closing-fence-with-a-text": (MAKE + "``` end\n\n" + TEST, 5),
    "tildes": (BUILD + "~~~bash\nmake\n\n~~~sh\nx\n~~~\n", 6),
    "a-long-fence-inside-one": (BUILD + "````md\nx\n\n````bash\nx\n````\n", 6),
    "an-example-that-closes-too-early": (BUILD + "```markdown\n```bash\nls\n```\n", 4),
    "an-indented-header": (BUILD + "```bash\nmake\n   ## 2. Test\n```\n", 5),
}

FINE: dict[str, str] = {
    "comments": BUILD + "```bash\n## Cleanup\n## Build the shop\n### Notes\nmake\n```\n",
    "numbered-comments-of-a-script": BUILD + "```bash\n## 1. Fetch\nx\n## 2. Build\n```\n\n## 2. Test\n\nTest.\n",
    "numbered-comments-that-go-further": BUILD + "```bash\n## 3. Fetch\nx\n## 7. Build\n```\n",
    "substeps-of-another-step": BUILD + "```bash\n### 2.1 Fetch\nx\n```\n",
    "a-step-that-exists": BUILD + "```bash\n## Cleanup\n```\n\n- FAIL: GOTO Cleanup\n\n## Cleanup\n\nClean.\n",
    "an-example-in-a-longer-fence": BUILD + "````markdown\n## 2. Test\n\n```bash\nls\n```\n````\n",
    "an-example-in-tildes": BUILD + "~~~~text\n## 2. Test\n\n```bash\nls\n```\n~~~~\n",
    "an-example-in-other-marks": BUILD + "~~~text\n```bash\nls\n```\n~~~\n",
    "a-markdown-example": BUILD + "```markdown\n## 2. Test\n```\n",
    "a-markdown-example-with-prompt": BUILD + "```MD prompt\n## 2. Test\n```\n",
    "a-heading-of-level-1": BUILD + "```bash\n# 2. Test\nmake\n```\n",
    "a-heading-of-level-4": BUILD + "```bash\n#### 2. Test\nmake\n```\n",
    "marks-without-a-space": BUILD + "```bash\n##2. Test\nmake\n```\n",
    "an-indented-code-line": BUILD + "```bash\n    ## 2. Test\n```\n",
    "backticks-in-a-command": BUILD + "```bash\necho '```bash'\n```\n",
    "backticks-in-the-info": BUILD + "```bash\n```x`y` z\n```\n",
    "a-heredoc": BUILD + "```bash\ncat > x.md <<END\n## Notes\n    ```\nEND\n```\n",
}


@pytest.mark.parametrize(("text", "line"), SWALLOWED.values(), ids=SWALLOWED)
def test_a_block_that_swallows_lines_is_reported_where_it_opens(tmp_path: Path, text: str, line: int) -> None:
    found = [item for item in compiled(tmp_path, text).diagnostics if item.code == "RD049"]
    opened = next(number for number, content in enumerate(text.splitlines(), 1) if content.startswith(("```", "~~~")))
    assert [(item.span and item.span.line, item.severity) for item in found] == [(opened, Severity.WARNING)]
    assert f"line {line}," in found[0].message
    assert [related.span.line for related in found[0].related] == [line]


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_other_lines_that_look_like_headers_or_fences_are_left_alone(tmp_path: Path, text: str) -> None:
    assert "RD049" not in {item.code for item in compiled(tmp_path, text).diagnostics}


def test_the_help_says_where_to_close_and_how_to_keep_the_line(tmp_path: Path) -> None:
    (found,) = compiled(tmp_path, BUILD + "~~~~text\nx\n~~~~~sh\n~~~~~\n").diagnostics
    assert found.help.endswith(
        "~~~~ on a separate line; if the line belongs to the block, open and close the block with ~~~~~~"
    )
    stored = BUILD + "~~~~~~text\nx\n~~~~~sh\n~~~~~\n~~~~~~\n"
    assert findings(compiled(tmp_path, stored)) == []


def test_a_block_without_an_end_is_the_error_that_it_was(tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, MAKE + "\n## 2. Test\n")) == ["RD045 3:1"]


@pytest.mark.parametrize("fence", ["```\xa0", "\u200b```", "```\f"])
def test_an_invisible_character_beside_the_closing_fence_is_pointed_at(tmp_path: Path, fence: str) -> None:
    (found,) = compiled(tmp_path, f"{MAKE}{fence}\n").diagnostics
    assert (found.code, found.help) == ("RD045", "remove the invisible character from the closing fence in line 5")
    assert findings(compiled(tmp_path, f"{MAKE}```\n")) == []


def test_a_swallowed_step_in_the_middle_is_explained_beside_the_gap(tmp_path: Path) -> None:
    text = MAKE + "\n## 2. Test\n\n" + TEST + "\n## 3. Install\n\nInstall.\n"
    assert findings(compiled(tmp_path, text)) == ["RD049 3:1", "RD102 12:4"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name.removesuffix(".runbook.md"))
def test_a_missing_fence_in_an_example_is_reported(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    ends = [block.end_line for block in read_blocks(Source.from_text(path.name, text), 1) if block.type == "CODE"]
    for end in ends:
        found = compiled(tmp_path, "".join(lines[: end - 1] + lines[end:]), link=False).diagnostics
        assert {"RD045", "RD049"} & {item.code for item in found}, f"without the fence in line {end}"


def test_many_suspicious_lines_take_little_time(tmp_path: Path) -> None:
    lines = "".join(f"## Comment {number}\n### 9.{number} x\n``` `\n" for number in range(60_000))
    begun = time.perf_counter()
    assert findings(compiled(tmp_path, f"{BUILD}```bash prompt\n{lines}```\n")) == []
    assert time.perf_counter() - begun < 10
