"""Shell blocks inside a text, which nothing runs (RD051, RD052)."""

import time
from pathlib import Path
from textwrap import indent

import pytest

from compiler.frontends.rundown.parse.document import parse
from compiler.text.source import Source
from tests.support.documents import compiled, findings

BLOCK = "```bash\nls\n```\n"
BODY = "```sh\ntrue\n```\n"


def step(text: str) -> str:
    """A step with a text from line 3 on."""
    return f"## 1. Look\n\n{text}\n"


def inside(first: str, width: int, block: str = BLOCK) -> str:
    """A line, and a block below it that is indented."""
    return f"{first}\n\n{indent(block, ' ' * width)}"


TEXTS: dict[str, tuple[str, str]] = {
    "bullet": (inside("- Look:", 2), "5:3"),
    "number": (inside("1. Look:", 3), "5:4"),
    "same-line": (f"- {indent(BLOCK, '  ').strip()}\n", "3:1"),
    "too-far-in-a-list": (inside("- Look:", 6), "5:7"),
    "second-item": (f"- One\n{inside('- Two', 2)}", "6:3"),
    "nested": (inside("- One\n  1. Two", 5), "6:6"),
    "quote": ("> ```bash\n> ls\n> ```\n", "3:1"),
    "alert": ("> [!WARNING]\n> Look:\n>\n> ```bash\n> ls\n> ```\n", "6:1"),
    "quote-in-a-list": ("- Look:\n  > ```bash\n  > ls\n  > ```\n", "4:3"),
    "details": (f"<details>\n<summary>x</summary>\n{BLOCK}</details>\n", "5:1"),
    "div": (f'<div class="x">\n{BLOCK}</div>\n', "4:1"),
    "admonition": (inside("!!! note", 4), "3:1"),
    "admonition-without-empty-line": (f'!!! note "Look"\n{indent(BLOCK, "    ")}', "4:5"),
    "collapsed": (inside('???+ tip "Look"', 4, f"First this.\n\n{BLOCK}"), "3:1"),
    "tab": (inside('=== "Linux"', 4), "3:1"),
    "indented-below-a-line": (f"Look:\n{indent(BLOCK, '    ')}", "4:5"),
    "tildes": (inside("- Look:", 2, "~~~sh\nls\n~~~\n"), "5:3"),
    "long-fence": (inside("- Look:", 2, "`````shell\nls\n`````\n"), "5:3"),
    "space-before-the-tag": (inside("- Look:", 2, "``` bash\nls\n```\n"), "5:3"),
    "uppercase": (inside("- Look:", 2, "```Bash\nls\n```\n"), "5:3"),
    "braces": (inside("- Look:", 2, "```{.bash}\nls\n```\n"), "5:3"),
    "title": (inside("- Look:", 2, '```bash title="x"\nls\n```\n'), "5:3"),
    "below-another-block": (inside("- Look:", 2, f"```text\n{'x'}\n```\n\n{BLOCK}"), "9:3"),
    "below-a-comment": (inside("- Look:", 2, f"<!--\nold\n-->\n\n{BLOCK}"), "9:3"),
}


@pytest.mark.parametrize(("text", "place"), TEXTS.values(), ids=TEXTS)
def test_a_block_in_a_text_is_reported(tmp_path: Path, text: str, place: str) -> None:
    assert findings(compiled(tmp_path, step(text))) == [f"RD051 {place}"]
    beside = compiled(tmp_path, step(f"{text}\n{BODY}"))
    assert findings(beside) == [f"RD052 {place}"], "beside a body it is an error"


NOT_MEANT = {
    "prompt": inside("- Look:", 2, "```bash prompt\nls\n```\n"),
    "joined-prompt": inside("- Look:", 2, "```bash:prompt\nls\n```\n"),
    "no-tag": inside("- Look:", 2, "```\nls\n```\n"),
    "another-tag": inside("- Look:", 2, "```yaml\nbash: ls\n```\n"),
    "session": inside("- Look:", 2, "```bash-session\n$ ls\n```\n"),
    "shown-markdown": inside("- Look:", 2, f"````markdown\n{BLOCK}````\n"),
    "shown-in-tildes": inside("- Look:", 2, f"~~~\n{BLOCK}~~~\n"),
    "indented-code": f"Write:\n\n{indent(BLOCK, '    ')}",
    "comment": f"<!--\n{BLOCK}-->\n",
    "comment-in-a-list": inside("- Look:", 2, f"<!--\n{BLOCK}-->\n"),
    "inline": "- Run ```bash ls``` now.\n",
    "inline-at-the-start": "```bash ls``` lists the files.\n",
    "details-with-empty-line": f"<details>\n<summary>x</summary>\n\n{BLOCK}",
    "indented-by-three": "   ```bash\n   ls\n   ```\n",
    "unlike-a-tab": f'Some === "x"\n\n{indent(BLOCK, "    ")}',
}


LOOK = inside("1. Look:", 3)
FINDINGS: list[tuple[str, list[str]]] = [
    *((step(text), []) for text in NOT_MEANT.values()),
    # every body counts, and a substep has its own
    (step(f"{LOOK}\n```yaml\na: b\n```\n"), ["RD052 5:4"]),
    (step(f"{LOOK}\n### 1.1 Build\n\nx\n"), ["RD052 5:4"]),
    (step(f"{LOOK}\n- a.runbook.md\n"), ["RD052 5:4"]),
    (step(f"{LOOK}\n- PASS: COMPLETE\n"), ["RD051 5:4"]),
    (step(f"{LOOK}\n## 2. Build\n\n```sh\ntrue\n```\n"), ["RD051 5:4"]),
    (step(f"{LOOK}\nText.\n"), ["RD051 5:4"]),
    (f"## 1. A\n\n### 1.1 B\n\n{LOOK}\n### 1.2 C\n\n{LOOK}\n{BODY}\n### 1.3 D\n\n{BODY}", ["RD051 7:4", "RD052 15:4"]),
    (
        step(f"{inside('1. One', 3)}{inside('2. Two', 3)}> ```sh\n> x\n> ```\n"),
        ["RD051 5:4", "RD051 10:4", "RD051 13:1"],
    ),
    (f"---\nrdc: {{prose: [Notes]}}\n---\n{step(BODY)}\n## Notes\n\n{inside('- Look:', 2)}", []),
    # above the first step
    (f"# T\n\n{BLOCK}\n{step(BODY)}", ["RD051 3:1"]),
    (f"# T\n\n{inside('- Look:', 2)}\n{step(BODY)}", ["RD051 5:3"]),
    (f"# T\n\n```bash\nrdc run x.runbook.md\n\n$ rd pass\n# yes\n```\n\n{step(BODY)}", []),
    (f"# T\n\n```bash\nrdc run x.runbook.md\nls\n```\n\n{step(BODY)}", ["RD051 3:1"]),
    (f"# T\n\n```bash prompt\nls\n```\n\n{step(BODY)}", []),
    (f"# T\n\n```text\nls\n```\n\n{step(BODY)}", []),
    # below a comment that ignores it
    (step(inside("- Look:\n\n  <!-- rdc: ignore RD051 -->", 2)), []),
    (step("> Look:\n>\n> <!-- rdc: ignore RD051 -->\n> ```bash\n> ls\n> ```\n"), []),
    (step(f"<details>\n<!-- rdc: ignore block-not-run -->\n{BLOCK}</details>\n"), []),
    (step(f"<!-- rdc: ignore RD051 -->\n{inside('!!! note', 4)}"), []),
]


@pytest.mark.parametrize(("text", "expected"), FINDINGS)
def test_findings(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert findings(compiled(tmp_path, text, link="a.runbook.md" not in text)) == expected


@pytest.mark.parametrize(
    "text", ["- ```sh\n" * 20_000, "> " * 50_000 + "```sh\n", "~" * 100_000 + "\n", "1. " * 30_000]
)
def test_hostile_texts_take_little_time(text: str) -> None:
    begin = time.perf_counter()
    parse(Source.from_text("a.runbook.md", step(text)))
    assert time.perf_counter() - begin < 5
