"""The program of a run in its state directory: `rdc status` shows the run by it, and trusts it with nothing else."""

import json
import os
import shlex
import shutil
import signal
import threading
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from rdc.runs import status
from rdc.runs.model import Run
from runtime_shim.engine.journal import encode
from runtime_shim.engine.state import identified, without_places
from tests.support.cli import call, document, spawn

pytestmark = pytest.mark.process

ASKS = "# Deploy\n\n## 1. Build\n\n```bash\n{}\n```\n\n## 2. Check it\n\nIs it up?\n\n- YES: COMPLETE\n- NO: STOP\n"
INCLUDES = "# Deploy\n\n## 1. Look\n\n- part.runbook.md\n\n## 2. Is it up?\n\n- YES: COMPLETE\n"
SECRET = """---
rdc:
  inputs: {HOST: {}}
  secrets: [TOKEN]
  steps: {"2": {expire: 9h}}
---
# Deploy
## 1. Look at {{HOST}}
```bash
true
```
## 2. Which version?
- [ ] {{HOST}} is idle
- [ ] {{HOST}} is backed up
"""
WORKFLOW = """name: launch
steps:
  - {name: write, agent: author, prompt: Write it., next: release}
  - {name: release, agent: publisher, human: true, prompt: Release it., end: true}
"""
PLAYBOOK = "# PLAYBOOK: Look\n\n## DESCRIPTION\nLooks.\n\n## STEP 1: Ask\nWhat is wrong?\n"
CASES = {
    "runbook": ("a.runbook.md", ASKS.format("true"), ()),
    "complete": ("a.runbook.md", ASKS.partition("## 2")[0].format("true"), ()),
    "stop": ("a.runbook.md", ASKS.format("false"), ()),
    "killed": ("a.runbook.md", ASKS.format("exec kill -9 $PPID"), ()),
    "named": ("ops/a.runbook.md", ASKS.format("true"), ("--as", "blue")),
    "inputs": ("a.runbook.md", SECRET, ("--input", "HOST=web-1", "--logs")),
    "gate": ("launch.workflow.yaml", WORKFLOW, ("--agent", "cat")),
    "agent": ("launch.workflow.yaml", WORKFLOW, ()),
    "playbook": ("a.playbook.md", PLAYBOOK, ()),
    "prompted": ("a.runbook.md", ASKS.format("true"), ("--prompted",)),
}


def runs(folder: Path, monkeypatch: pytest.MonkeyPatch, *, compiles: bool) -> list[Run]:
    """The runs of a folder as `rdc.api` shows them, with or without their documents."""
    monkeypatch.chdir(folder)
    with monkeypatch.context() as patched:
        if not compiles:
            patched.setattr(status, "run_process", Mock(side_effect=AssertionError("rdc status compiled a document")))
        return status.runs_in(".")


def stored(folder: Path, name: str = "a") -> Path:
    return folder / ".rdc" / name / "program.json"


def begun(folder: Path) -> Path:
    (folder / "rdc.toml").touch()
    document(folder, "a.runbook.md", ASKS.format("true"))
    assert spawn("run", "a.runbook.md", cwd=folder).code == 75
    return folder


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    return begun(tmp_path)


@pytest.fixture(scope="module")
def waits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests that leave it as it is."""
    return begun(tmp_path_factory.mktemp("waits"))


@pytest.mark.parametrize("case", CASES)
def test_a_run_looks_the_same_by_its_stored_program(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, text, options = CASES[case]
    (tmp_path / "rdc.toml").touch()
    document(tmp_path, name, text)
    monkeypatch.setenv("TOKEN", "hunter22")
    spawn("run", name, *options, cwd=tmp_path, TOKEN="hunter22")
    time.sleep(0.2 * (case == "killed"))  # until its command has ended too
    found = runs(tmp_path, monkeypatch, compiles=False)
    for path in tmp_path.glob(".rdc/*/program.json"):
        path.unlink()
    assert found == runs(tmp_path, monkeypatch, compiles=True)
    assert [one.document for one in found] == [name]


def test_a_running_step_looks_the_same(waiting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(waiting / "gate")
    document(waiting, "b.runbook.md", ASKS.format("read -r _ < gate"))
    step = threading.Thread(target=spawn, args=("run", "b.runbook.md"), kwargs={"cwd": waiting})
    step.start()
    with (waiting / "gate").open("w") as gate:
        found = runs(waiting, monkeypatch, compiles=False)[1]
        stored(waiting, "b").unlink()
        assert found == runs(waiting, monkeypatch, compiles=True)[1]
        assert (found.state, found.step) == ("running", "1")
        gate.write("go\n")
    step.join()


def test_the_document_decides_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(tmp_path, "rdc.toml", '[project]\nname = "shop"\n')
    document(tmp_path, "part.runbook.md", "# Part\n\n## 1. Look\n\n```bash\ntrue\n```\n")
    document(tmp_path, "a.runbook.md", INCLUDES)
    assert spawn("run", "a.runbook.md", cwd=tmp_path).code == 75
    for changed in ("a.runbook.md", "part.runbook.md", "rdc.toml", "pyproject.toml"):
        assert runs(tmp_path, monkeypatch, compiles=False)[0].state == "waiting"
        with (tmp_path / changed).open("a") as file:
            file.write("\n")
        with pytest.raises(AssertionError, match="compiled"):
            runs(tmp_path, monkeypatch, compiles=False)
        assert spawn("run", "a.runbook.md", "resume", cwd=tmp_path).code == 75
    assert runs(tmp_path, monkeypatch, compiles=False)[0].state == "waiting"


def test_the_document_decides_if_it_would_include_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rdc.toml").touch()
    document(tmp_path, "part.runbook.md", "# Part\n\n## 1. Look\n\n```bash\ntrue\n```\n")
    document(tmp_path, "ops/a.runbook.md", INCLUDES)
    assert spawn("run", "ops/a.runbook.md", cwd=tmp_path).code == 75
    assert runs(tmp_path, monkeypatch, compiles=False)[0].step == "2"
    document(tmp_path, "ops/part.runbook.md", "# Part\n\n## 1. Look\n\n```bash\nfalse\n```\n")
    assert runs(tmp_path, monkeypatch, compiles=True)[0].next == ("rdc run ops/a.runbook.md resume --adopt",)


def test_the_document_decides_in_a_project_that_is_newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has another root then, so its run is no longer where it would be now."""
    (tmp_path / "rdc.toml").touch()
    document(tmp_path, "ops/a.runbook.md", ASKS.format("true"))
    assert spawn("run", "ops/a.runbook.md", cwd=tmp_path).code == 75
    (tmp_path / "ops/rdc.toml").touch()
    (found,) = runs(tmp_path, monkeypatch, compiles=True)
    assert found.next[0] == "rdc run ops/a.runbook.md answer 2 yes --state-dir .rdc/ops.a"
    assert spawn(*shlex.split(found.next[0])[1:], cwd=tmp_path).code == 0


@pytest.mark.parametrize("name", [b"caf\xe9.runbook.md", b"caf\xe9/a.runbook.md"])
def test_a_name_that_is_not_utf8_is_shown(name: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON has its bytes as halves of surrogate pairs, which some readers refuse."""
    (tmp_path / "rdc.toml").touch()
    document(tmp_path, os.fsdecode(name), ASKS.format("true"))
    assert spawn("run", os.fsdecode(name), cwd=tmp_path).code == 75
    (found,) = runs(tmp_path, monkeypatch, compiles=True)
    assert found.next[0] == f"rdc run '{os.fsdecode(name)}' answer 2 yes"


def test_options_store_nothing_and_a_state_directory_elsewhere_keeps_its_files(tmp_path: Path) -> None:
    document(tmp_path, "a.md", ASKS.format("true"))
    assert spawn("run", "--from", "rundown", "a.md", cwd=tmp_path).code == 75
    assert not stored(tmp_path).exists()
    document(tmp_path, "a.runbook.md", ASKS.format("true"))
    document(tmp_path, "state/program.json", "mine")
    assert spawn("run", "a.runbook.md", "--state-dir", "state", cwd=tmp_path).code == 75
    assert (tmp_path / "state/program.json").read_text() == "mine"


def test_the_file_is_written_once_and_privately(waiting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stored(waiting).stat()
    assert before.st_mode & 0o777 == 0o600
    assert spawn("run", "a.runbook.md", "resume", cwd=waiting).code == 75
    assert stored(waiting).stat() == before or stored(waiting).stat().st_ino == before.st_ino
    assert spawn("run", "a.runbook.md", "run", "--dry-run", "--as", "b", cwd=waiting).code == 0
    assert not (waiting / ".rdc/a@b").exists()
    document(waiting, "a.runbook.md", ASKS.format("true").replace("NO: STOP", "NO: GOTO 1"))
    assert runs(waiting, monkeypatch, compiles=True)[0].next == ("rdc run a.runbook.md resume --adopt",)
    assert spawn("run", "a.runbook.md", "resume", "--adopt", cwd=waiting).code == 75
    assert runs(waiting, monkeypatch, compiles=False)[0].state == "waiting", "an adopted version is stored"
    names = {path.name for path in stored(waiting).parent.iterdir()}
    assert names == {".gitignore", "journal", "lock", stored(waiting).name}


FORGED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "question": lambda one: one["table"]["nodes"]["2"].update(prompt="Is all well?"),
    "version": lambda one: one.update(version="0.0"),
    "sources": lambda one: one.update(sources={"/dev/zero": "", "a.runbook.md": "0"}),
    "no table": lambda one: one.update(table={}),
    "no nodes": lambda one: one["table"].update(nodes=[]),
    "number": lambda one: one.update(table=3),
    "more": lambda one: one.update(more=1),
    "nested": lambda _: "[" * 100_000,
    "source": lambda one: one["table"].update(source=5),
    "outside": lambda one: one["sources"].update({__file__: sha256(Path(__file__).read_bytes()).hexdigest()}),
    "many files": lambda one: one["sources"].update(dict.fromkeys(map(str, range(1000)), "")),
    "large": lambda one: one["table"].update(title="x" * 1_000_000),
    "pattern": lambda one: one["table"]["nodes"]["2"].update(asks={"name": "X", "type": "text", "pattern": "("}),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_file_shows_nothing(forged: str, waits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = runs(waits, monkeypatch, compiles=False)
    text = stored(waits).read_text()
    content = json.loads(text)
    changed = FORGED[forged](content)
    stored(waits).write_text(changed if isinstance(changed, str) else json.dumps(content))
    with pytest.raises(AssertionError, match="compiled"):
        runs(waits, monkeypatch, compiles=False)
    assert runs(waits, monkeypatch, compiles=True) == honest
    stored(waits).write_text(text)


def test_a_forged_file_of_an_ended_run_and_another_run_at_the_same_path_are_not_shown(
    waiting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run in `sub` is chosen by its path from there, and at this path from here is one that has ended."""
    text = (waiting / "a.runbook.md").read_text()
    document(waiting, "a.runbook.md", CASES["stop"][1])
    assert spawn("run", "a.runbook.md", "--as", "b", cwd=waiting).code == 1
    content = json.loads(stored(waiting, "a@b").read_text())
    FORGED["question"](content)
    stored(waiting, "a@b").write_text(json.dumps(content))
    assert runs(waiting, monkeypatch, compiles=True)[1].next[0] == "rdc run a.runbook.md retry --as b"
    shutil.rmtree(waiting / ".rdc/a@b")
    document(waiting, "a.runbook.md", text)
    (waiting / ".rdc/a").rename(waiting / ".rdc/z")
    shutil.copytree(waiting, waiting.parent / "sub", symlinks=True)
    (waiting.parent / "sub").rename(waiting / "sub")
    assert spawn("run", "a.runbook.md", "answer", "2", "yes", "--state-dir", ".rdc/z", cwd=waiting).code == 0
    monkeypatch.chdir(waiting)
    assert [run.state for run in status.runs_in("sub")] == ["waiting"]
    assert [run.state for run in status.runs_in(".")] == ["complete"]


def test_a_forged_loop_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step has expired, and its transitions lead to a branch that leads to itself. The journal has its hash."""
    document(tmp_path, "a.runbook.md", SECRET.replace("9h", "1s"))
    spawn("run", "a.runbook.md", "--input", "HOST=web-1", cwd=tmp_path, TOKEN="hunter22")
    content, journal = json.loads(stored(tmp_path).read_text()), tmp_path / ".rdc/a/journal"
    table = content["table"]
    table["nodes"]["loop"] = {"title": "", "task": "branch", "edges": [{"go": "loop"}]}
    table["nodes"]["2"]["edges"] = [{"go": "loop"}]
    stored(tmp_path).write_text(json.dumps(content))
    begin, *records = [json.loads(line[9:]) for line in journal.read_bytes().splitlines()]
    begin.update(identified(table, without_places(table)))
    journal.write_bytes(b"".join(map(encode, [begin, *records])))
    time.sleep(1.1)
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("rdc status hangs"))
    signal.alarm(20)
    try:
        assert runs(tmp_path, monkeypatch, compiles=True)[0].next == ("rdc run a.runbook.md resume --adopt",)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_no_terminal_is_opened_and_paths_are_named_from_here(waits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing closes a terminal, so a process that looks at runs again and again would have too many open files."""
    opened: list[object] = []
    original = os.open

    def record(path: Any, *more: Any, **options: Any) -> int:
        opened.append(path)
        return original(path, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", record)
        assert runs(waits, patch, compiles=False)[0].current
    assert "/dev/tty" not in opened
    monkeypatch.chdir(waits.parent)
    (found,) = status.runs_in(waits.name)
    assert found.next[0] == "rdc run a.runbook.md answer 2 yes"
    (waits / "ops").mkdir()
    assert call("status", cwd=waits / "ops").out.splitlines()[1] == "  rdc run ../a.runbook.md answer 2 yes"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "empty"])
def test_nothing_else_is_read_or_written_for_it(kind: str, waiting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, elsewhere = stored(waiting), waiting / "elsewhere"
    path.rename(elsewhere)
    text = elsewhere.read_text()
    make: dict[str, Callable[[], object]] = {
        "link": lambda: path.symlink_to(elsewhere),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
    }
    make.get(kind, path.touch)()
    with pytest.raises(AssertionError, match="compiled"):
        runs(waiting, monkeypatch, compiles=False)
    again = spawn("run", "a.runbook.md", "resume", cwd=waiting)
    assert again.code == (2 if kind == "link" else 75), again.err
    assert elsewhere.read_text() == text


def test_no_question_that_is_not_in_the_document_is_answered(waiting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone writes another question, and its hash into the journal: rdc shows it, but doesn't take the answer."""
    text, forger = ASKS.format("true").replace("Is it up?", "Is all well?"), waiting / "forger"
    document(forger, "a.runbook.md", text)
    (forger / "rdc.toml").touch()
    assert spawn("run", "a.runbook.md", cwd=forger).code == 75
    content = json.loads(stored(forger).read_text())
    content["sources"] = json.loads(stored(waiting).read_text())["sources"]
    stored(waiting).write_text(json.dumps(content))
    assert runs(waiting, monkeypatch, compiles=True)[0].question.endswith("Is it up?")
    (waiting / ".rdc/a/journal").write_bytes((forger / ".rdc/a/journal").read_bytes())
    assert runs(waiting, monkeypatch, compiles=False)[0].question.endswith("Is all well?")
    refused = spawn("run", "a.runbook.md", "answer", "2", "yes", cwd=waiting).exits(2)
    assert "different version of this program" in refused.err
