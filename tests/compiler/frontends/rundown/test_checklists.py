"""Task lists in questions: what their items are, and what the targets make of them."""

import json
from pathlib import Path

import pytest

from backends.python.edition import edition_of
from backends.registry import load
from compiler.driver import compile_file
from compiler.ir.serialize import to_json
from compiler.ir.tasks import Ask
from tests.support.cli import call
from tests.support.documents import compiled, findings

HEAD = "# A\n\n## 1. Ready?\n\n"
END = "\n- PASS: CONTINUE\n- FAIL: STOP\n\n## 2. Go\n\n```bash\ntrue\n```\n"


def items(tmp_path: Path, prompt: str, header: str = HEAD) -> list[str]:
    program = compiled(tmp_path, f"{header}{prompt}\n{END}").program
    assert program
    task = program.nodes[0].task
    assert isinstance(task, Ask)
    return [str(item) for item in task.items]


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("- [ ] one\n- [x] two\n- [X] three", ["one", "two", "three"]),
        ("* [ ] one\n\n+ [ ] two", ["one", "two"]),
        ("1. [ ] one\n2) [ ] two", ["one", "two"]),
        ("- [ ] one\n  and more\n\n  a note\n- [ ] two", ["one and more", "two"]),
        ("- [ ] one\n  - [ ] inner\n  - a remark\n- plain", ["one", "inner"]),
        ("Text.\n\n- [ ] **one** `x`\n\nMore.\n\n- [ ] two", ["**one** `x`", "two"]),
        ("- []\n- [ ]\n- [y] no\n-[ ] no\n- [ ]no", []),
        ("    - [ ] code", []),
        ("> - [ ] quoted", []),
        ("<!--\n- [ ] hidden\n-->", []),
        ("- [ ] run\n  ```sh\n  - [ ] code\n  ```\n- [ ] two", ["run", "two"]),
        ("Is this one [ ] of them?", []),
    ],
)
def test_items_of_task_lists(tmp_path: Path, prompt: str, found: list[str]) -> None:
    assert items(tmp_path, prompt) == found


def test_where_a_list_is_one_of_tasks(tmp_path: Path) -> None:
    for text in (f"{HEAD}- [ ] one\n- [ ] two{END}", f"{HEAD}- PASS: COMPLETE\n\n- [ ] one\n- [ ] two\n"):
        program = compiled(tmp_path, text).program
        assert program
        assert [str(item) for item in getattr(program.nodes[0].task, "items", ())] == ["one", "two"]
    assert findings(compiled(tmp_path, f"{HEAD}- [ ] one\n- [ ] PASS: STOP{END}")) == ["RD120 6:7"], "not both"
    beside = "# A\n\n## 1. Go\n\n- [ ] one\n\n```bash\ntrue\n```\n"
    assert findings(compiled(tmp_path, beside)) == ["RD121 5:1"]
    parent = "# A\n\n## 1. Go\n\n- [ ] one\n\n### 1.1 In\n\n- [ ] two\n\n### 1.2 Do\n\n```bash\ntrue\n```\n"
    assert findings(compiled(tmp_path, parent)) == ["RD121 3:4"]


def test_an_item_shows_values(tmp_path: Path) -> None:
    header = "---\nrdc: {inputs: {X: {description: X}}}\n---\n" + HEAD.replace("1. Ready", "{N}. Ready")
    program = compiled(tmp_path, f"{header}- [ ] {{{{X}}}} in {{N}}\n\n- PASS: GOTO NEXT\n- FAIL: STOP\n").program
    assert program
    task = program.nodes[0].task
    assert isinstance(task, Ask)
    assert [reference.register for reference in task.items[0].references] == ["X", "{N}"]


def test_what_the_targets_make_of_a_checklist(tmp_path: Path) -> None:
    program = compiled(tmp_path, f"{HEAD}- [ ] one\n- [ ] two\n{END}").program
    assert program
    assert edition_of(program, is_full=False) == "values"
    for target in ("make", "github"):
        reason = load(target).emit(program, {}).reason
        assert (reason and reason.clause) == "step 1 has a checklist", "they call the program"
    for target in ("dot", "mermaid"):
        assert "☐ 2 items" in (load(target).emit(program, {}).text or "")
    assert '"items": ["one", "two"]' in " ".join(to_json(program).split()).replace("[ ", "[").replace(" ]", "]")


@pytest.mark.parametrize(
    "task",
    [{"question": "input", "items": ["a"]}, {"items": [" "]}, {"items": ["a\nb"]}],
    ids=["kind", "empty", "lines"],
)
def test_items_that_no_run_can_ask_are_refused(tmp_path: Path, task: dict[str, object]) -> None:
    asks = {"kind": "ask", "question": "pass_fail", "prompt": "", **task}
    nodes = [
        {"id": "1", "task": asks, "edges": [{"target": "E"}]},
        {"id": "E", "task": {"kind": "end", "result": "complete"}},
    ]
    path = tmp_path / "a.program.json"
    path.write_text(json.dumps({"entry": "1", "nodes": nodes}))
    assert "item" in compile_file(str(path)).diagnostics[0].message


def test_formatting_keeps_the_list(tmp_path: Path) -> None:
    path = tmp_path / "a.runbook.md"
    path.write_text(f"{HEAD}- [ ] one\n- [x]  two\n  more\n{END}", encoding="utf-8")
    before = compile_file(str(path)).program
    call("fmt", str(path), cwd=tmp_path)
    after = compile_file(str(path)).program
    assert before
    assert after
    assert before.nodes[0].task == after.nodes[0].task
    assert "- [ ] one\n- [x]  two\n" in path.read_text(encoding="utf-8")
