"""`rdc runtime`: the texts that a security team approves once per release."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from runtime_shim.editions import CALLERS, EDITIONS
from tests.support.cli import GOOD, Result, call, document


def program(folder: Path) -> Path:
    document(folder, "deploy.runbook.md", GOOD)
    assert call("compile", "deploy.runbook.md", "--to", "python", cwd=folder).code == 0
    return folder / "deploy.py"


def test_prints_the_bytes_of_programs(tmp_path: Path) -> None:
    printed = call("runtime", "commands", cwd=tmp_path)
    assert printed.code == 0
    above, line, below = printed.out.partition("# END RUNTIME\n")
    assert above.splitlines()[1].endswith("for its programs: edition commands.")
    text = program(tmp_path).read_text(encoding="utf-8")
    assert text.count(f"\n\n{above}{line}\n\ndef runbook(") == text.count(below) == 1


def test_hashes_are_those_of_the_printed_texts(tmp_path: Path) -> None:
    lines = call("runtime", "--sha256", cwd=tmp_path).out.splitlines()
    printed = {
        name: call("runtime", name, cwd=tmp_path).out.encode() for name in (*EDITIONS, *CALLERS, "publish", "make-loop")
    }
    assert lines == [f"{hashlib.sha256(text).hexdigest()}  {name}" for name, text in printed.items()]


def test_program_names_edition_and_hash_in_one_line(tmp_path: Path) -> None:
    digest = hashlib.sha256(call("runtime", "commands", cwd=tmp_path).out.encode()).hexdigest()
    assert f", edition commands (sha256 {digest}).\n" in program(tmp_path).read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["program", "saved"])
def test_diff_shows_what_changed(kind: str, tmp_path: Path) -> None:
    old = program(tmp_path)
    if kind == "saved":
        old.write_text(call("runtime", "commands", cwd=tmp_path).out, encoding="utf-8")
    assert call("runtime", "commands", "--diff", old.name, cwd=tmp_path) == Result(0, "", "")
    old.write_text(old.read_text(encoding="utf-8").replace("import errno\n", "import evil\n"), encoding="utf-8")
    changed = call("runtime", "commands", "--diff", old.name, cwd=tmp_path)
    assert changed.code == 1
    assert [line for line in changed.out.splitlines()[2:] if line[0] in "+-"] == ["-import evil", "+import errno"]


@pytest.mark.parametrize("name", ["values", "dbos-values"])
def test_diff_knows_both_parts_of_a_worker(name: str, tmp_path: Path) -> None:
    document(tmp_path, "deploy.runbook.md", GOOD)
    assert call("compile", "deploy.runbook.md", "--to", "dbos", cwd=tmp_path).code == 0
    old = tmp_path / "deploy_worker.py"
    assert call("runtime", name, "--diff", old.name, cwd=tmp_path) == Result(0, "", "")
    text = old.read_text(encoding="utf-8")
    line = {"values": "import errno\n", "dbos-values": "import socket\n"}[name]
    old.write_text(text.replace(line, "", 1), encoding="utf-8")
    assert call("runtime", name, "--diff", old.name, cwd=tmp_path).code == 1


@pytest.mark.parametrize(
    "words", [[], ["commands", "--sha256"], ["--diff", "deploy.py"], ["comands"], ["commands", "--diff", "absent.py"]]
)
def test_wrong_use(words: list[str], tmp_path: Path) -> None:
    result = call("runtime", *words, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
