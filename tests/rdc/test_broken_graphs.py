"""A broken graph is a bug in rdc: every command says so with exit code 70, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from compiler.driver import _identified
from compiler.ir.program import Program
from compiler.passes import PASSES
from tests.support.cli import GOOD, call, document

COMMANDS = [
    ["check"],
    ["check", "--fix"],
    ["compile", "--to", "python"],
    ["compile", "--to", "json", "-o", "-"],
    ["graph"],
    ["diff"],
    ["run"],
    ["test"],
    ["trace"],
]
TARGETS = ("python", "make", "github", "dbos", "json")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lowering loses the first node."""

    def lost(*arguments: object) -> Program:
        return _without_first(_identified(*arguments))  # type: ignore[arg-type]

    monkeypatch.setattr("compiler.driver._identified", lost)
    monkeypatch.delenv("RDC_DEBUG", raising=False)


def _without_first(program: Program) -> Program:
    return replace(program, nodes=program.nodes[1:])


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_refuses_a_broken_graph(words: list[str], tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", GOOD)
    document(tmp_path, "b.runbook.md", GOOD)
    before = files(tmp_path)
    command, *options = words
    documents = ["a.runbook.md", *(["b.runbook.md"] if command in {"check", "compile", "diff", "test"} else [])]
    if "-o" in options:
        documents = documents[:1]
    result = call(command, *documents, *options, cwd=tmp_path)
    assert (result.code, result.out) == (70, "")
    assert result.err == (
        "rdc: internal error: InvalidProgramError: rule I1: the entry 1 is not a node. a.runbook.md has a broken graph "
        "after lowering. This is a bug in rdc; please report it (for a traceback, set RDC_DEBUG=1)\n"
    )
    assert files(tmp_path) == before


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_build_writes_nothing_in_one_process_or_several(jobs: str, tmp_path: Path) -> None:
    for name in "abcdef":
        document(tmp_path, f"{name}.runbook.md", GOOD)
    (tmp_path / "rdc.toml").write_text(
        '[[build]]\nsource = "*.runbook.md"\nto = "make"\nout = "made/{name}.mk"\n', encoding="utf-8"
    )
    before = files(tmp_path)
    result = call("build", "--jobs", jobs, cwd=tmp_path)
    assert (result.code, result.out) == (70, ""), result
    assert "runbook.md has a broken graph after lowering. This is a bug in rdc; please report it" in result.err
    assert result.err.count("\n") == 1
    assert files(tmp_path) == before


@pytest.mark.parametrize("target", TARGETS)
def test_a_pass_that_breaks_the_graph_is_named(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(tmp_path, "a.runbook.md", GOOD)
    before = files(tmp_path)
    monkeypatch.setitem(PASSES, "fold-effects", _without_first)
    result = call("compile", "a.runbook.md", "--to", target, cwd=tmp_path)
    if target == "json":  # it emits the program as it was lowered
        assert result.code == 0
    else:
        assert result.code == 70, result
        assert "broken graph after fold-effects" in result.err
        assert files(tmp_path) == before
