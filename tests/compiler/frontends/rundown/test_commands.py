"""The limit of a command: the same for every target, and what is within it really runs (M2)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from backends.registry import BACKENDS
from compiler.analyses.warnings import LONGEST
from rdc.cli import main
from tests.support.documents import compiled, findings

pytestmark = pytest.mark.process

END = "\ntouch ran"


def command(size: int, head: str = "", end: str = END) -> str:
    """A command of so many bytes, most of which are a comment."""
    head = f"{head}# "
    return head + "x" * (size - len(head.encode()) - len(end.encode())) + end


def document(text: str, tag: str = "bash", header: str = "## 1. Load") -> str:
    return f"{header}\n\n```{tag}\n{text}\n```\n"


INSTANCE = "## {N}. Load"
"""The header of a step whose command has placeholders, each of which counts for 20 bytes."""


@pytest.mark.parametrize(
    ("tag", "head", "more", "header"),
    [
        *((tag, "", 0, "## 1. Load") for tag in ("bash", "sh", "shell")),
        ("bash", "echo {N} {N} ", 2 * (20 - 3), INSTANCE),
        ("bash", "echo ${N} {n} ", 0, INSTANCE),
    ],
)
def test_the_longest_commands(tmp_path: Path, tag: str, head: str, more: int, header: str) -> None:
    end = "\n- PASS: COMPLETE\n" if header == INSTANCE else ""
    fine = compiled(tmp_path, document(command(LONGEST - more, head), tag, header) + end)
    assert findings(fine) == []
    assert fine.program
    assert more or len(str(getattr(fine.program.nodes[0].task, "command", ""))) == LONGEST
    wrong = compiled(tmp_path, document(command(LONGEST - more + 1, head), tag, header) + end)
    assert (findings(wrong), wrong.program) == (["RD407 1:4"], None)
    limit = "can reach 130,049 bytes when it runs; the limit is 130,048"
    assert wrong.diagnostics[0].message == f"the command of step {'{N}' if end else 1} {limit}"


def test_bytes_count_and_not_characters_and_not_what_is_only_shown(tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, document(": " + "ü" * (LONGEST // 2)))) == ["RD407 1:4"]
    text = command(LONGEST + 1)
    assert findings(compiled(tmp_path, document(text, "text") + document(text, "sh prompt", "## 2. Look"))) == []


def test_a_runbook_that_is_included_twice_is_told_once_in_its_own_file(tmp_path: Path) -> None:
    files = {"load.runbook.md": document(command(LONGEST + 1))}
    found = compiled(tmp_path, "## 1. Load\n\n- load.runbook.md\n- load.runbook.md\n", files).diagnostics
    assert [(item.code, Path(item.path).name) for item in found] == [("RD407", "load.runbook.md")]


@pytest.mark.parametrize("target", BACKENDS)
def test_every_target_refuses_the_same(tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = tmp_path / "load.runbook.md", tmp_path / "deploy" / "output"  # a skill has its folder's name
    output.parent.mkdir()
    for size, code in ((LONGEST, 0), (LONGEST + 1, 1)):
        path.write_text(document(command(size)), encoding="utf-8")
        assert main(["compile", str(path), "--to", target, "-o", str(output)]) == code
        assert ("error[RD407]" in capsys.readouterr().err) == bool(code)


@pytest.mark.parametrize("target", ["python", "make"])
def test_the_longest_command_runs(tmp_path: Path, target: str) -> None:
    path, output = tmp_path / "load.runbook.md", tmp_path / "output"
    path.write_text(document(command(LONGEST)), encoding="utf-8")
    assert main(["compile", str(path), "--to", target, "-o", str(output), "-q"]) == 0
    words = [sys.executable, str(output), "run"] if target == "python" else [shutil.which("make") or "", "-f", "output"]
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ran").exists()
