"""Steps that become questions although a command was probably meant (RD050, RD118), and headers with late numbers."""

# ruff: noqa: E501 (a case of a document is one line)

from pathlib import Path

import pytest

from compiler.diagnostics.model import Severity
from compiler.driver import Compilation, Settings, open_file
from compiler.text.source import Source
from rdc.rewrite.fixes import fix_opened
from tests.support.documents import compiled, finding

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
    assert ("`python3 - <<'END'`" if tag == "python" else "bash") in warning.help


RUN = "```bash\nx\n```\n"
FINDINGS: list[tuple[str, list[str]]] = [
    # shown on purpose
    *((block(tag), []) for tag in ("python prompt", "json", "sql", "text", "", "bash")),
    (block("console", "\n- YES: CONTINUE\n- NO: STOP\n"), []),
    ("# T\n\n```python\nx\n```\n\n" + BUILD, []),
    # without text and body
    ("## 1. Build\n", ["RD118 1:4"]),
    ("## 1. Build\n\n- PASS: CONTINUE\n- FAIL: STOP\n\n## 2. Test\n", ["RD118 1:4", "RD118 6:4"]),
    ("## 1. A\n\n### 1.1 B\n\n### 1.2 C\n\nText.\n", ["RD118 3:5"]),
    ("## 1. A\n\n<!-- nothing -->\n\n---\n", ["RD118 1:4"]),
    ("---\nrdc: {prose: [Notes]}\n---\n## 1. A\n\n### Notes\n\nText.\n", ["RD118 4:4"]),
    # a question, or content
    ("## 1. Does it look right?\n", []),
    ("## 1. Looks right\n\n- NO: STOP\n", []),
    ("## 1. Looks right\n\n- FAIL: STOP\n- YES: COMPLETE\n", []),
    ("## 1. A\n\n- FAIL: STOP\n\n### 1.1 B\n\nText.\n", []),
    ("## 1. A\n\n- remember the milk\n", []),
    ("## 1. A\n\n> quoted\n", []),
    ("## 1. A\n\n```text\n```\n", []),
    # content that is wrong
    ("## 1. A\n\n#### Deep\n\n", ["RD030 3:6"]),
    ("## 1. A\n\n- PASS: STOP\n\n## 2. B\n\nText.\n\n- FAIL: STOP\n\nMore.\n", ["RD118 1:4", "RD112 11:1"]),
    # a question beside a command
    (f"## 1. A\n\n{RUN}\n- YES: COMPLETE\n- NO: STOP\n", ["RD121 7:3"]),
    (f"## 1. A\n\n{RUN}\n- PASS: COMPLETE\n- NO: STOP\n", ["RD121 8:3"]),
    (f"## 1. A\n\n### 1.1 B\n\n{RUN}\n- YES: COMPLETE\n", ["RD121 9:3"]),
    (f"## 1. A\n\nRun it. Did it\nwork?\n\n{RUN}", ["RD121 4:1"]),
    (f"## 1. A\n\nDrop the table? [y/N]\n\n{RUN}", ["RD121 3:1"]),
    (f"## 1. A\n\nLook. **Go on with it? (yes/no)**\n\n{RUN}", ["RD121 3:1"]),
    (f"## 1. A\n\n- one\n- **Did v1.2 work?**\n\n{RUN}", ["RD121 4:1"]),
    (f"## 1. A\n\nFirst:\n\n- [ ] one\n- [x] two\n\n{RUN}\n- FAIL: STOP\n", ["RD121 5:1"]),
    (f"## 1. A\n\n1. [ ] one\n\n{RUN}", ["RD121 3:1"]),
    (f"## {{N}}. A\n\n{RUN}\n- YES: GOTO NEXT\n- NO: COMPLETE\n", ["RD121 7:3"]),
    # what is none
    (f"## 1. Did it work?\n\n{RUN}", []),
    (f"## 1. [ ] A\n\n{RUN}", []),
    (f"## 1. A\n\nDid it work? Look at the page.\n\n{RUN}", []),
    (f"## 1. A\n\nDid it work?\n\n{RUN}\n- PASS: COMPLETE\n", []),
    (f"## 1. A\n\n> Did it work?\n\n{RUN}", []),
    (f"## 1. A\n\nSee https://example.org/a?\n\n{RUN}", []),
    (f"## 1. A\n\nSee [this](x?y) and [x] that.\n\n{RUN}", []),
    (f"## 1. A\n\nWhy?\n\n{RUN}", []),
    (f"## 1. A\n\nDid `x?`\n\n{RUN}", []),
    (f"## 1. A\n\n- [a](b)\n- [] c\n\n{RUN}", []),
    ("## 1. A\n\nDid it work?\n\n```text\nx\n```\n\n- YES: COMPLETE\n", []),
    ("## 1. A\n\n- [ ] one\n\n```bash prompt\nx\n```\n", []),
    ("## 1. A\n\nDid it work?\n\n- YES: COMPLETE\n- NO: STOP\n", []),
]


@pytest.mark.parametrize(("text", "expected"), FINDINGS)
def test_findings(tmp_path: Path, text: str, expected: list[str]) -> None:
    compilation = compiled(tmp_path, text)
    assert found(compilation) == expected
    assert all(item.severity is Severity.WARNING for item in compilation.diagnostics if item.code == "RD118")


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
    # a number in a title is not that of a step
    *((f"{BUILD}## {title}\n\nText.\n", "RD401", "") for title in ("Release 2 candidates", "Rollback 1.4.2")),
    *((f"{BUILD}## {title}\n\nText.\n", "RD401", "") for title in ("Rollback", "Step two")),
]


@pytest.mark.parametrize(("text", "code", "header"), HEADERS)
def test_the_header_that_was_meant_is_shown(tmp_path: Path, text: str, code: str, header: str) -> None:
    (advice,) = (item.help for item in compiled(tmp_path, text).diagnostics if item.code == code)
    assert header in advice if header else "number it" not in advice


def test_a_checklist_of_many_titles_gets_one_warning(tmp_path: Path) -> None:
    text = "".join(f"## {at}. Call person {at}\n\n" for at in range(1, 21))
    (warning,) = compiled(tmp_path, text).diagnostics
    assert (finding(warning), warning.message.split()[:2]) == ("RD118 1:4", ["20", "steps"])
    assert "the others are at lines 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 8 more" in warning.help


END = "## {}. End\n\nText.\n"
HEAD = "---\nrdc: {transitions: after-header}\n---\n"
SPLIT = {
    "answers": (
        f"## 1. Look\n\n{RUN}\n- YES: GOTO 2\n- NO: STOP\n\n" + END.format(2),
        f"## 1. Look\n\n{RUN}\n## 2. Look: is the result right?\n\n- YES: GOTO 3\n- NO: STOP\n\n" + END.format(3),
    ),
    "failure-stays": (
        f"## 1. Is it up?\n\n{RUN}\n- FAIL: RETRY 2 STOP\n- YES: COMPLETE\n\n" + END.format(2),
        f"## 1. Is it up?\n\n{RUN}\n- FAIL: RETRY 2 STOP\n\n## 2. Is it up?\n\n- YES: COMPLETE\n\n" + END.format(3),
    ),
    "sentence": (
        f"## 1. Look\n\nRun it. Is it\n*right*?\n\n{RUN}",
        f"## 1. Look\n\nRun it.\n\n{RUN}\n## 2. Is it *right*?\n\n- YES: CONTINUE\n- NO: STOP\n",
    ),
    "list": (
        f"## 1. Go\n\n- [ ] one\n\n{RUN}\n- FAIL: RETRY 2 GOTO 2\n\n## 2. End\n\nText.\n\n- PASS: GOTO 1\n",
        (f"## 1. Go\n\n- [ ] one\n\n## 2. Run: Go\n\n{RUN}\n- FAIL: RETRY 2 GOTO 3\n\n"
        "## 3. End\n\nText.\n\n- PASS: GOTO 1\n"),
    ),
    "substeps": (
        f"## 1. A\n\n### 1.1 B\n\n- [ ] one\n\n{RUN}\n### 1.2 C\n\nText.\n\n- FAIL: GOTO 1.1\n\n## 2. D\n\nText.\n\n- FAIL: GOTO 1.2\n",
        f"## 1. A\n\n### 1.1 B\n\n- [ ] one\n\n### 1.2 Run: B\n\n{RUN}\n### 1.3 C\n\nText.\n\n- FAIL: GOTO 1.1\n\n## 2. D\n\nText.\n\n- FAIL: GOTO 1.3\n",
    ),
    "substeps-of-later-steps": (
        f"## 1. A\n\n{RUN}\n- YES: CONTINUE\n\n## 2. B\n\n### 2.1 C\n\nText.\n\n### 2.Two\n\nText.\n\n- FAIL: GOTO 2.1\n",
        (f"## 1. A\n\n{RUN}\n## 2. A: is the result right?\n\n- YES: CONTINUE\n\n"
        "## 3. B\n\n### 3.1 C\n\nText.\n\n### 3.Two\n\nText.\n\n- FAIL: GOTO 3.1\n"),
    ),
    "instances": (
        f"## 1. A\n\n{RUN}\n- YES: CONTINUE\n\n## 2. B\n\n### 2.{{n}} C\n\nText.\n\n- PASS: GOTO NEXT 2.{{n}}\n",
        (f"## 1. A\n\n{RUN}\n## 2. A: is the result right?\n\n- YES: CONTINUE\n\n"
        "## 3. B\n\n### 3.{n} C\n\nText.\n\n- PASS: GOTO NEXT 3.{n}\n"),
    ),
    "named": (
        f"## 1. A\n\nText.\n\n- PASS: GOTO Undo\n\n## Undo it all\n\n{RUN}\n- NO: STOP\n",
        (f"## 1. A\n\nText.\n\n- PASS: GOTO Undo\n\n## Undo it all\n\n{RUN}\n- PASS: GOTO Undo_question\n\n"
        "## Undo_question: Undo it all: is the result right?\n\n- NO: STOP\n"),
    ),
    "named-list": (
        f"## 1. A\n\nText.\n\n- PASS: GOTO Undo\n\n## Undo\n\n- [ ] one\n\n{RUN}\n- FAIL: GOTO 1\n",
        ("## 1. A\n\nText.\n\n- PASS: GOTO Undo\n\n## Undo\n\n- [ ] one\n\n- PASS: GOTO Undo_command\n\n"
        f"## Undo_command: Run the command\n\n{RUN}\n- FAIL: GOTO 1\n"),
    ),
    "named-substep": (
        f"## 1. A\n\n### 1.Two\n\n{RUN}\n- YES: COMPLETE\n\n### 1.2 C\n\nText.\n".replace("1.2", "1.1"),
        f"## 1. A\n\n### 1.Two\n\n{RUN}\n### 1.Two_question: Two: is the result right?\n\n- YES: COMPLETE\n\n### 1.1 C\n\nText.\n",
    ),
    "settings": (
        '---\nrdc:\n  steps:\n    "1": {timeout: 5m}\nscenarios:\n  s:\n    commands:\n      - rd run main.runbook.md\n'
        f"      - rd goto 2\n    result: STOP\n---\n## 1. Go\n\n- [ ] one\n\n{RUN}\n" + END.format(2),
        '---\nrdc:\n  steps:\n    "2": {timeout: 5m}\nscenarios:\n  s:\n    commands:\n      - rd run main.runbook.md\n'
        f"      - rd goto 3\n    result: STOP\n---\n## 1. Go\n\n- [ ] one\n\n## 2. Run: Go\n\n{RUN}\n" + END.format(3),
    ),
    "rules": (
        "---\nrdc:\n  rules: {a: 1 PASS before 2, b: no 1 after 2}\n---\n"
        f"## 1. Go\n\n- [ ] one\n\n{RUN}\n" + END.format(2),
        "---\nrdc:\n  rules: {a: 2 PASS before 3, b: no 2 after 3}\n---\n"
        f"## 1. Go\n\n- [ ] one\n\n## 2. Run: Go\n\n{RUN}\n" + END.format(3),
    ),
    "after-header": (
        HEAD + f"## 1. Go\n\n- FAIL: STOP a\n- YES: COMPLETE\n\nLook.\n\n{RUN}\n" + END.format(2),
        HEAD + f"## 1. Go\n\n- FAIL: STOP a\n\nLook.\n\n{RUN}\n## 2. Go: is the result right?\n\n- YES: COMPLETE\n\n" + END.format(3),
    ),
    "after-header-list": (
        HEAD + f"## 1. Go\n\n- FAIL: STOP a\n\n- [ ] one\n\n{RUN}\n" + END.format(2),
        HEAD + f"## 1. Go\n\n- [ ] one\n\n## 2. Run: Go\n\n- FAIL: STOP a\n\n{RUN}\n" + END.format(3),
    ),
}  # fmt: skip


def fixed(folder: Path, text: str) -> str:
    """The document after all fixes of `rdc check --fix --unsafe-fixes`, whose findings have no errors."""
    compiled(folder, text)
    now = fix_opened(open_file(str(folder / "main.runbook.md")), Settings(), unsafe=True)
    assert now.compilation.program
    assert isinstance(now.opened.source, Source)
    return now.opened.source.text


@pytest.mark.parametrize(("text", "expected"), SPLIT.values(), ids=SPLIT)
def test_the_fix_gives_the_question_its_own_step(tmp_path: Path, text: str, expected: str) -> None:
    assert fixed(tmp_path, text) == expected
    assert "RD121" not in str(found(compiled(tmp_path, expected)))


def test_all_questions_are_split_at_once_but_what_would_make_an_error(tmp_path: Path) -> None:
    text = "".join(f"## {at}. Look\n\n{RUN}\n- YES: CONTINUE\n\n" for at in range(1, 7))
    assert fixed(tmp_path, text).count("is the result right?") == 6
    text = f"## 1. A\n\nPASS: CONTINUE\nNow: did it work?\n\n{RUN}"  # the fix of its RD043 would make an error
    assert [item.split()[0] for item in found(compiled(tmp_path, text))] == ["RD043", "RD121"]
    assert "## 2. Did it work?" in fixed(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        f"## {{N}}. A\n\n{RUN}\n- YES: GOTO NEXT\n- NO: COMPLETE\n",
        (
            f"---\nrdc: {{steps: {{Undo: {{env: {{A: x}}}}}}}}\n---\n## 1. A\n\nText.\n\n- PASS: GOTO Undo\n\n"
            f"## Undo\n\n- [ ] one\n\n{RUN}"
        ),
        f"## 1. A\n\n### 1.{{n}} B\n\n{RUN}\n- YES: GOTO NEXT\n",
        f"## 1. A\n\n{RUN}\n- YES: COMPLETE\n- NO: RETRY 2 STOP\n",
        f"## 1. A\n\n{RUN}\n<!-- rdc: ignore RD404 -->\n- YES: COMPLETE\n",
    ],
    ids=["dynamic", "settings", "dynamic-substep", "retry", "comment"],
)
def test_a_split_that_is_not_clear_has_no_fix(tmp_path: Path, text: str) -> None:
    (warning,) = (item for item in compiled(tmp_path, text).diagnostics if item.code == "RD121")
    assert warning.fix is None


def test_a_question_below_a_command_is_not_sent_to_the_formatter(tmp_path: Path) -> None:
    (error,) = compiled(tmp_path, f"## 1. A\n\n{RUN}\nDid it work?\n").diagnostics
    assert (error.code, "its own header" in error.help, "rdc fmt" in error.help) == ("RD112", True, False)
    (error,) = compiled(tmp_path, f"## 1. A\n\n{RUN}\nIt works.\n").diagnostics
    assert (error.code, "rdc fmt" in error.help) == ("RD112", True)
