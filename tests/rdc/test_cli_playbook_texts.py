"""What an agent gets from a playbook: the lines around directives, and branches that name an input alone."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.cli import call

pytestmark = pytest.mark.process


def definition(text: str, folder: Path) -> Any:
    """The document as other tools read it."""
    (folder / "a.playbook.md").write_text(text, encoding="utf-8")
    return json.loads(call("check", "--format", "json", "a.playbook.md", cwd=folder).out)["playbook"]["definition"]


BODIES = {
    "one directive": ("Above.\n\n@output(a)\n\nBelow.", "Above.\n\nBelow."),
    "two directives": ("Above.\n\n@output(a)\n@prompt(library:x)\n\nBelow.", "Above.\n\nBelow."),
    "two with a space line": ("Above.\n\n@output(a)\n\n@prompt(library:x)\n\nBelow.", "Above.\n\nBelow."),
    "more blank lines": ("Above.\n\n\n@output(a)\n\n\nBelow.", "Above.\n\nBelow."),
    "spaces in blank lines": ("Above.\n  \n@output(a)\n\t\nBelow.", "Above.\n\nBelow."),
    "a blank line on one side": ("Above.\n@output(a)\n\nBelow.", "Above.\n\nBelow."),
    "no blank line": ("Above.\n@output(a)\nBelow.", "Above.\nBelow."),
    "blank lines of the author": ("Above.\n\n\nMiddle.\n\n@output(a)\n\nBelow.", "Above.\n\n\nMiddle.\n\nBelow."),
    "at the ends": ("@prompt(library:x)\n\nText.\n\n@output(a)", "Text."),
    "around branches": ('Above.\n\n```if a == "b"```\nInside.\n```endif```\n\nBelow.', "Above.\n\nBelow."),
}


@pytest.mark.parametrize("case", BODIES)
def test_blank_lines_around_a_removed_directive_become_one(case: str, tmp_path: Path) -> None:
    body, content = BODIES[case]
    text = f"# A\n\n## STEP 1: B\n\n{body}\n"
    assert definition(text, tmp_path)["steps"][0]["content"] == content
    assert call("fmt", "a.playbook.md", cwd=tmp_path).code in (0, 1)
    message = call("check", "--format", "json", "a.playbook.md", cwd=tmp_path).out
    assert json.loads(message)["playbook"]["definition"]["steps"][0]["content"] == content


FLAGGED = """# A

## INPUTS

- `short` (boolean: false): Whether it is short
- `loud` (bool): Whether it is loud

## STEP 1: Write

```if short```
One word.
```elif loud ```
IN CAPITALS.
```else```
As you like.
```endif```
"""
PARROT = "import sys; print(sys.stdin.read())"


@pytest.mark.parametrize(
    ("values", "output"),
    [
        (("short=true", "loud=true"), "One word."),
        (("short=false", "loud=true"), "IN CAPITALS."),
        (("loud=false",), "As you like."),
    ],
)
@pytest.mark.parametrize("later", [False, True])
def test_a_branch_on_a_boolean_input_runs_where_it_is_true(
    values: tuple[str, ...], output: str, later: bool, tmp_path: Path
) -> None:
    head, inputs, steps = FLAGGED.partition("## INPUTS")[0], *FLAGGED.partition("## INPUTS")[2].split("## STEP", 1)
    text = f"{head}## STEP{steps}\n## INPUTS{inputs}" if later else FLAGGED
    (tmp_path / "a.playbook.md").write_text(text, encoding="utf-8")
    made = call("compile", "a.playbook.md", "--to", "python", "-o", "a.py", cwd=tmp_path)
    assert made.code == 0, made.err
    assert made.err.count("note[RD731]") == 2
    agent = f"{shlex.quote(sys.executable)} -c {shlex.quote(PARROT)}"
    given = [word for value in values for word in ("--input", value)]
    done = warm.run([sys.executable, "a.py", "run", "--agent", agent, *given], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    prompts = "".join(path.read_text() for path in tmp_path.glob(".rdc/**/prompts/*"))
    texts = ("One word.", "IN CAPITALS.", "As you like.")
    assert [one for one in texts if one in prompts] == [output]


def test_the_note_shows_what_it_means_strict_accepts_it_and_fmt_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "a.playbook.md"
    path.write_text(FLAGGED, encoding="utf-8")
    result = call("check", "--strict", "a.playbook.md", cwd=tmp_path)
    assert (result.code, 'short == "true"' in result.err + result.out) == (0, True)
    call("fmt", "a.playbook.md", cwd=tmp_path)
    formatted = path.read_text()
    assert "```if short```" in formatted
    assert "```elif loud```" in formatted
    assert call("fmt", "--check", "a.playbook.md", cwd=tmp_path).code == 0


@pytest.mark.parametrize("name", ["tone", "unknown", "result"])
def test_a_name_that_is_no_boolean_input_is_no_condition(name: str, tmp_path: Path) -> None:
    text = FLAGGED.replace("(bool)", "(string: x)").replace("loud", "tone").replace("if short", f"if {name}")
    (tmp_path / "a.playbook.md").write_text(text.replace("## STEP", "@output(result)\n\n## STEP"), encoding="utf-8")
    result = call("check", "a.playbook.md", cwd=tmp_path)
    assert result.code == 1
    assert f'write ```if {name} == "text"```' in result.err


def test_conditions_see_the_comparison_in_the_report(tmp_path: Path) -> None:
    branches = definition(FLAGGED, tmp_path)["steps"][0]["branches"]
    output = [(one["condition"] or {}).get("value") for one in branches]
    assert output == ["true", "true", None]
