"""`rdc explain`, `rdc targets`, `rdc completion`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from backends.registry import names
from compiler.diagnostics.model import CODES
from tests.support.cli import ROOT, call, environment, spawn


@pytest.mark.parametrize("word", ["RD201", "rd201", "unknown-target", "Unknown-Target"])
def test_explain_shows_the_page(word: str, tmp_path: Path) -> None:
    page = (ROOT / "compiler/diagnostics/explanations/RD201.md").read_text(encoding="utf-8")
    result = call("explain", word, cwd=tmp_path)
    assert (result.code, result.out, result.err) == (0, page, "")


def test_headings_are_bold_but_not_in_code(tmp_path: Path) -> None:
    result = spawn("explain", "RD201", cwd=tmp_path, FORCE_COLOR="1")
    assert result.out.startswith("\x1b[1m#")
    blocks = result.out.split("~~~~")[1::2]
    assert any("## " in block for block in blocks)
    assert not any("\x1b" in block for block in blocks)


def test_the_list_has_every_code(tmp_path: Path) -> None:
    lines = call("explain", "--list", cwd=tmp_path).out.splitlines()
    assert [line.split()[:3] for line in lines] == [[code, known.severity, known.name] for code, known in CODES.items()]


def test_targets(tmp_path: Path) -> None:
    table = call("targets", cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in table[::2]] == list(names())
    assert all("supports: " in line for line in table[1::2])
    listed = json.loads(call("targets", "--format", "json", cwd=tmp_path).out)
    python = next(target for target in listed["targets"] if target["name"] == "python")
    assert (python["suffix"], python["executable"]) == (".py", True)


def completions(tmp_path: Path, *words: str) -> list[str]:
    """What bash is offered: a line for each, its kind and its text."""
    variables = {
        "_RDC_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    return spawn(cwd=tmp_path, **variables).out.split()


def test_what_is_completed(tmp_path: Path) -> None:
    assert "plain,compile" in completions(tmp_path, "rdc", "comp")
    assert "plain,--transitions" in completions(tmp_path, "rdc", "check", "--tr")
    assert "plain,python" in completions(tmp_path, "rdc", "compile", "--to", "py")
    assert "plain,github" in completions(tmp_path, "rdc", "targets", "gi")
    assert "plain,fmt" in completions(tmp_path, "rdc", "fm")
    assert completions(tmp_path, "rdc", "explain", "rd20") == [f"plain,RD20{digit}" for digit in range(1, 8)]
    assert completions(tmp_path, "rdc", "check", "dep") == ["file,dep"]
    assert "plain,sarif" in completions(tmp_path, "rdc", "check", "--format", "s")


def test_the_script_completes_in_bash(tmp_path: Path) -> None:
    command = tmp_path / "rdc"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rdc "$@"\n')
    command.chmod(0o755)
    session = """
PATH=.:$PATH
eval "$(rdc completion bash)"
COMP_WORDS=(rdc compile --to py) COMP_CWORD=3
_rdc_completion rdc
echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(
        ["bash", "-c", session], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("python\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str, tmp_path: Path) -> None:
    result = call("completion", shell, cwd=tmp_path)
    assert result.code == 0
    assert f"{shell}_complete" in result.out


WRONG = {"COMP_WORDS": "rdc '", "COMP_CWORD": "one"}  # which for fish is what is being typed


@pytest.mark.parametrize(
    ("instruction", "given"),
    [
        *(
            (f"{shell}_complete", given)
            for shell in ("bash", "zsh", "fish")
            for given in ({}, {"COMP_WORDS": "rdc ch"})
        ),
        *((instruction, WRONG) for instruction in ("bash_complete", "zsh_complete", "bash_nothing", "nonsense")),
    ],
)
def test_a_completion_that_is_called_wrongly_says_nothing(
    tmp_path: Path, instruction: str, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"_RDC_COMPLETE": instruction, **given}.items():
        monkeypatch.setenv(name, value)
    result = call(cwd=tmp_path)
    assert (result.code, result.out, result.err) == (1, "", "")
