"""Nested runbooks: where they are looked for, what is refused, and what becomes of them (V11, M8)."""

import os
from pathlib import Path

import pytest

from compiler.driver import compile_file
from compiler.ir.tasks import End
from compiler.ir.texts import text
from compiler.passes import optimize
from tests.support.documents import compiled, findings

LIST = "## 1. All\n\n- {path}\n"
LEAF = "## 1. Leaf\n"


def test_a_runbook_is_found_beside_or_in_the_root(tmp_path: Path) -> None:
    files = {"sub/main.runbook.md": "## 1. All\n\n- a.runbook.md\n- lib/b.runbook.md\n", "lib/b.runbook.md": LEAF}
    compiled(tmp_path, LEAF, files | {"sub/a.runbook.md": "## 1. Near\n", "a.runbook.md": "## 1. Far\n"})
    compilation = compile_file(str(tmp_path / "sub/main.runbook.md"))
    assert findings(compilation) == []
    program = compilation.program
    assert program
    assert [source.path for source in program.sources] == [*files, "sub/a.runbook.md"]
    assert str(program.index()["1/a.runbook.md/1"].title) == "Near"
    twice = compiled(tmp_path, "## 1. All\n\n- lib/b.runbook.md\n- lib/b.runbook.md\n").program
    assert twice
    leaves = [node.id for node in twice.nodes if str(node.title) == "Leaf"]
    assert leaves == ["1/lib/b.runbook.md/1", "1/lib/b.runbook.md~2/1"]


TEN = {f"{n}.runbook.md": "## 1. Ten\n\n" + f"- {n + 1}.runbook.md\n" * 10 for n in range(6)}


@pytest.mark.parametrize(
    ("name", "files", "link", "expected"),
    [
        ("a", {}, True, ["RD301 3:3"]),
        ("a", {}, False, []),
        ("main", {}, True, ["RD303 3:3"]),
        ("latin", {}, True, ["RD002 3:3"]),
        ("0", TEN | {"6.runbook.md": LEAF}, True, ["RD304 1:4"]),
    ],
    ids=["missing", "not linked", "itself", "unreadable", "too many"],
)
def test_findings(tmp_path: Path, name: str, files: dict[str, str], link: bool, expected: list[str]) -> None:
    (tmp_path / "latin.runbook.md").write_bytes(b"\xff")
    assert findings(compiled(tmp_path, LIST.format(path=f"{name}.runbook.md"), files, link=link)) == expected


def test_paths_that_leave_the_project_are_refused_even_without_links(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(LEAF)
    project = tmp_path / "project"
    project.mkdir()
    (project / "link.runbook.md").symlink_to(tmp_path / "a.runbook.md")
    for path in ("../a.runbook.md", "x/../../a.runbook.md", str(tmp_path / "a.runbook.md"), "link.runbook.md"):
        assert findings(compiled(project, LIST.format(path=path), link=False)) == ["RD302 3:3"], path


def test_the_root_is_the_nearest_folder_with_git_or_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(LEAF)
    inner = tmp_path / "inner"
    inner.mkdir()
    main = inner / "main.runbook.md"
    main.write_text(LIST.format(path="../a.runbook.md"))
    assert findings(compile_file(str(main))) == ["RD302 3:3"]
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert findings(compile_file(str(main))) == ["RD302 3:3"]
    (tmp_path / "pyproject.toml").write_text("[tool.rdc]\n")
    assert findings(compile_file(str(main))) == []


def test_a_cycle_is_shown_as_a_whole(tmp_path: Path) -> None:
    files = {"a.runbook.md": LIST.format(path="b.runbook.md"), "b.runbook.md": LIST.format(path="main.runbook.md")}
    compilation = compiled(tmp_path, LIST.format(path="a.runbook.md"), files)
    assert [item.code for item in compilation.diagnostics] == ["RD303"]
    for name in ("a", "b", "main"):
        assert f"{name}.runbook.md" in compilation.diagnostics[0].message
    assert len(compilation.diagnostics[0].related) == 2


def test_errors_of_a_nested_runbook_are_shown_in_its_own_file(tmp_path: Path) -> None:
    files = {"a.runbook.md": "## 2. Late?\n"}
    compilation = compiled(tmp_path, LIST.format(path="a.runbook.md"), files)
    assert [(Path(item.path).name, item.code) for item in compilation.diagnostics] == [("a.runbook.md", "RD102")]
    assert compilation.program is None


def test_deep_inclusion_needs_no_recursion(tmp_path: Path) -> None:
    files = {f"{n}.runbook.md": LIST.format(path=f"{n + 1}.runbook.md") for n in range(250)}
    compilation = compiled(tmp_path, LIST.format(path="0.runbook.md"), files | {"250.runbook.md": LEAF})
    assert compilation.program
    assert optimize(compilation.program).entry.count("/") == 2 * 251


def test_the_ends_of_a_nested_runbook_lead_on_with_their_messages(tmp_path: Path) -> None:
    files = {"a.runbook.md": '## 1. Leaf\n\n- PASS: COMPLETE "fine"\n- FAIL: STOP "broken"\n'}
    program = compiled(tmp_path, LIST.format(path="a.runbook.md"), files).program
    assert program
    ends = {node.id: node for node in program.nodes if isinstance(node.task, End)}
    assert ends["1/a.runbook.md/1/COMPLETE"].edges[0].target == "COMPLETE"
    assert ends["1/a.runbook.md/1/STOP"].edges[0].target == "STOP"
    assert ends["1/a.runbook.md/1/STOP"].task == End("stop", text("broken"))


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.runbook.md")
    assert findings(compile_file(str(tmp_path / "a.runbook.md"))) == ["RD001"]
