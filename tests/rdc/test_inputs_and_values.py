"""Inputs, values and settings of runbooks in `rdc test`, `rdc fmt`, `rdc diff` and `rdc graph` (E1 to E3, S1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import call

RELEASE = """\
---
scenarios:
  prompted:
    inputs: {version: 1.10, region: us}
    commands:
      - rd run --prompted --input region=eu release.runbook.md
      - rd fail --value id=7
      - rd pass --value id='a b' --value note=$HOME;x
      - rd yes
    result: COMPLETE
  real:
    inputs: {version: 1.20}
    commands: [rd run release.runbook.md, rd yes]
    result: COMPLETE
rdc:
  inputs:
    version: {description: The version, pattern: '[0-9.]+'}
    region: {type: choice, options: [eu, us], default: us}
  outputs: [id, note]
---
## 1. Ship {{version}} to {{region}}

```sh
test "$version-$region" = 1.20-us && echo "id=9" >> "$RDC_OUTPUT" && echo "note=" >> "$RDC_OUTPUT"
```

- FAIL: RETRY 1

## 2. Is {{id}} right?

- YES: COMPLETE "{{version}} {{region}} {{id}} {{note}}"
- NO: STOP
"""


def tried(folder: Path, text: str, *words: str) -> list[str]:
    (folder / "rdc.toml").touch()
    (folder / "release.runbook.md").write_text(text, encoding="utf-8")
    return call("test", "release.runbook.md", "-q", *words, cwd=folder).out.splitlines()


@pytest.mark.parametrize("target", ["python", "make"])
def test_scenarios_give_inputs_and_values(target: str, tmp_path: Path) -> None:
    first, second, third, last = tried(tmp_path, RELEASE, "--on", target)
    assert first.split()[3:] == ["semantics", "COMPLETE", "1.10", "eu", "a", "b", "$HOME;x"]
    assert second.split()[3:] == [target, "COMPLETE", "1.10", "eu", "a", "b", "$HOME;x"]
    assert third.split() == ["PASSED", "release.runbook.md", "real", target, "COMPLETE", "1.20", "us", "9"]
    assert last == "3 passed"


@pytest.mark.parametrize("target", ["python", "make"])
def test_no_secret_is_needed_where_nothing_runs(target: str, tmp_path: Path) -> None:
    text = RELEASE.replace("rdc:\n", "rdc:\n  secrets: [TOKEN]\n")
    first, second, third, problem, _ = tried(tmp_path, text, "--on", target)
    assert [line.split()[0] for line in (first, second, third)] == ["PASSED", "PASSED", "FAILED"]
    assert problem.startswith("         the target failed")  # commands run there, and they need it


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("version: 1.10", "versoin: 1.10", "there is no input `versoin`; the inputs are version, region"),
        ("version: 1.10", "version: x", "the value of input `version` is not valid: it does not match [0-9.]+"),
        ("version: 1.10, ", "", "input `version` has no default, and the scenario gives no value"),
        ("region=eu", "region=asia", "the value of input `region` is not valid: it must be one of eu, us"),
        ("--input region=eu", "--input region", "`--input` needs NAME=VALUE"),
        ("--value id=7", "--value ix=7", "there is no output `ix`"),
        ("fail --value id=7", "goto 1 --value id=7", "`rd goto 1 --value id=7` must be"),
        ("fail --value id=7", "fail --value id", "`--value` needs NAME=VALUE"),
    ],
)
def test_what_cannot_be_tested_is_told_at_its_line(old: str, new: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").touch()
    text = RELEASE.replace(old, new, 1)
    (tmp_path / "release.runbook.md").write_text(text, encoding="utf-8")
    result = call("check", "release.runbook.md", cwd=tmp_path)
    assert f"warning[RD014]: scenario `prompted` cannot be tested: {problem}" in result.err + result.out
    assert tried(tmp_path, text)[0].startswith("FAILED")


def test_a_question_gives_no_value(tmp_path: Path) -> None:
    lines = tried(tmp_path, RELEASE.replace("rd yes\n    result", "rd yes --value id=3\n    result", 1))
    assert "step 2 has no output `id`" in "".join(lines)


STEPS = """\
---
rdc:
  inputs: {version: {default: 1.10}}
  steps: {"3": {timeout: 9s}, 4.2: {env: {A: 1.10}}, '*': {retry-delay: 1s}}
---
# T

## 1. Ship {{version}}

Done?

## 3. A
- PASS: CONTINUE

```sh
echo "$version"
```

## 4. B

### 4.1 C

Done?

### 4.2 D

```sh
echo "$A"
```
"""


def test_formatting_renumbers_steps_that_settings_name(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(STEPS, encoding="utf-8")
    result = call("fmt", "a.runbook.md", cwd=tmp_path)
    assert result.code == 0, result.err
    text = (tmp_path / "a.runbook.md").read_text(encoding="utf-8")
    assert "  inputs: {version: {default: 1.10}}\n" in text
    assert """  steps: {"2": {timeout: 9s}, 3.2: {env: {A: 1.10}}, '*': {retry-delay: 1s}}\n""" in text


def test_a_step_that_only_renumbering_would_name_stands_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(STEPS.replace('"3":', '"2":'), encoding="utf-8")
    result = call("fmt", "a.runbook.md", cwd=tmp_path)
    assert "there is no step `2`" in result.err


def test_what_runbooks_declare_is_compared(tmp_path: Path) -> None:
    new = STEPS.replace("default: 1.10", "default: 1.11").replace("9s", "10s").replace("A: 1.10", "A: 2")
    new = new.replace("  steps", "  secrets: [TOKEN]\n  outputs: [id]\n  steps")
    for name, text in (("old", STEPS), ("new", new)):
        plain = text.replace("## 3", "## 2").replace("## 4", "## 3").replace("4.1", "3.1").replace("4.2", "3.2")
        plain = plain.replace('"3"', '"2"').replace("- PASS: CONTINUE\n", "")
        (tmp_path / f"{name}.runbook.md").write_text(plain, encoding="utf-8")
    lines = call("diff", "old.runbook.md", "new.runbook.md", cwd=tmp_path).out.splitlines()
    assert lines[2:] == [
        "- input version: string, default 1.10",
        "+ input version: string, default 1.11",
        "+ needs the secrets TOKEN",
        "+ value id",
        "~ 2 A: settings, texts",
        "    -timeout: 9",
        "    +timeout: 10",
        "     delay: 0",
        "~ 3.2 D: environment, texts",
        "    -A: 1.10",
        "    +A: 2",
    ]


def test_pictures_show_who_reads_and_writes(tmp_path: Path) -> None:
    (tmp_path / "release.runbook.md").write_text(RELEASE, encoding="utf-8")
    shown = call("graph", "release.runbook.md", "--format", "mermaid", "-o", "-", "-q", cwd=tmp_path).out
    assert "reads version, region<br/>writes id, note" in shown
    assert "2 Is {{id}} right?<br/>reads id" in shown
