"""Mistyped words get a suggestion, in `rdc run` and in compiled programs, and nothing runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import call, spawn

RUNBOOK = """\
---
rdc:
  inputs: {TARGET: {}}
---

## 1. Ship {{TARGET}}?

- NO: GOTO Roll

## Roll

```sh
touch ran
```
"""
WORKFLOW = "name: w\nsteps:\n  - {name: plan, agent: planner, prompt: Plan it., end: true}\n"
ASKED = ("--input", "TARGET=a")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("anwser", "1", "yes"), "unknown subcommand anwser; did you mean answer? (see: "),
        (("run", "--dryrun"), "unknown argument --dryrun; did you mean --dry-run? (see: "),
        (("run", "--input", "TARGT=a"), "there is no input TARGT; did you mean TARGET?"),
        (("run", "TARGET=a b"), "unknown argument TARGET=a b; to set an input, write --input 'TARGET=a b' (see: "),
        (("TARGET=a",), "unknown subcommand TARGET=a; to set an input, write --input TARGET=a (see: "),
        (("zzz",), "unknown subcommand zzz; choose from run, resume, "),
        (("run", "a=b;c"), "unknown argument a=b;c; to set an input, write --input 'a=b;c' (see: "),
        (("run", "$(x)=b"), "unknown argument $(x)=b (see: "),
        (("run", "--\x1b[31mred"), "unknown argument --?[31mred (see: "),
    ],
)
def test_a_mistyped_word(words: tuple[str, ...], hint: str, tmp_path: Path) -> None:
    (tmp_path / "ship.runbook.md").write_text(RUNBOOK, encoding="utf-8")
    assert call("compile", "ship.runbook.md", "--to", "python", "-o", "ship.py", cwd=tmp_path).code == 0
    program = subprocess.run(
        [sys.executable, "ship.py", *words],
        check=False,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    ran = spawn("run", "ship.runbook.md", *words, cwd=tmp_path)
    assert (program.returncode, ran.code) == (2, 2)
    assert hint in program.stderr
    assert hint in ran.err
    assert not (tmp_path / ".rdc/ship/journal").exists()


def test_a_mistyped_step(tmp_path: Path) -> None:
    (tmp_path / "ship.runbook.md").write_text(RUNBOOK, encoding="utf-8")
    assert spawn("run", "ship.runbook.md", *ASKED, cwd=tmp_path).code == 75
    for words in (("goto", "Rol"), ("step", "Rol")):
        result = spawn("run", "ship.runbook.md", *words, cwd=tmp_path)
        assert (result.code, "there is no step 'Rol'; did you mean Roll?" in result.err) == (2, True), result.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--agent-for", "plannr=cat"), "--agent-for plannr: the document has no such agent; did you mean planner?"),
        (("--agent-for", "zzz=cat"), "--agent-for zzz: the document has no such agent; the agents are inline, planner"),
        (("--agent", "claud-code"), "unknown agent or command claud-code; did you mean claude-code?"),
        (("--agent-for", "planner=geminni"), "unknown agent or command geminni; did you mean gemini?"),
    ],
)
def test_a_mistyped_agent(words: tuple[str, ...], hint: str, tmp_path: Path) -> None:
    (tmp_path / "w.workflow.yaml").write_text(WORKFLOW, encoding="utf-8")
    result = spawn("run", "w.workflow.yaml", *words, cwd=tmp_path)
    assert (result.code, hint in result.err) == (2, True), result.err
    assert not (tmp_path / ".rdc/w/journal").exists()


def test_a_command_like_a_recipe_is_a_command(tmp_path: Path) -> None:
    (tmp_path / "w.workflow.yaml").write_text(WORKFLOW, encoding="utf-8")
    own = tmp_path / "bin" / "claud-code"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\ncat > /dev/null; echo done\n", encoding="utf-8")
    own.chmod(0o755)
    words = ("run", "w.workflow.yaml", "--agent", "claud-code")
    ran = subprocess.run(
        [sys.executable, "-m", "rdc", *words],
        check=False,
        cwd=tmp_path,
        env={"PATH": f"{own.parent}:/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr


def test_a_mistyped_recipe_of_a_workflow(tmp_path: Path) -> None:
    (tmp_path / "w.workflow.yaml").write_text(WORKFLOW, encoding="utf-8")
    words = ("compile", "w.workflow.yaml", "--to", "github", "-O")
    result = call(*words, "agent=claud-code", "-o", "-", cwd=tmp_path)
    assert (result.code, "unknown recipe `claud-code`; did you mean claude-code?" in result.err) == (2, True)
    assert "recipe" not in call(*words, "agent=./claud-code", "-o", "-", cwd=tmp_path).err
