"""`rdc status`: where the runs in a folder stand, what they ask, and how they go on."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.cli import call, environment, spawn

pytestmark = pytest.mark.process

ASKING = """# Deploy
## 1. Build
```bash
{command}
```
- PASS: CONTINUE
- FAIL: STOP
## 2. Check the site
Is it up?
- YES: COMPLETE
- NO: STOP
"""
GATED = "name: launch\nsteps:\n  - {name: release, agent: publisher, human: true, prompt: Release it., end: true}\n"


def document(folder: Path, name: str = "deploy", command: str = "true") -> str:
    """Write a runbook that asks after a command, and return its file's name."""
    file = f"{name}.runbook.md"
    (folder / file).write_text(ASKING.format(command=command), encoding="utf-8")
    return file


def runs(folder: Path, code: int = 0) -> dict[str, dict[str, Any]]:
    """What `rdc status --json` shows of each run."""
    result = call("status", "--json", cwd=folder)
    assert (result.code, result.err) == (code, "")
    return {run["name"]: run for run in json.loads(result.out)["runs"]}


def make(folder: Path, *words: str) -> int:
    """Run make as an operator without a terminal."""
    return subprocess.run(
        ["make", *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    ).returncode


def test_status_lists_every_run_with_its_question_and_the_next_command(tmp_path: Path) -> None:
    file = document(tmp_path)
    assert spawn("run", file, cwd=tmp_path).code == 75
    assert spawn("run", file, "--as", "blue", cwd=tmp_path).code == 75
    assert spawn("run", file, "answer", "2", "no", cwd=tmp_path).code == 0
    assert spawn("run", document(tmp_path, "fails", "false"), cwd=tmp_path).code == 1
    result = call("status", cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "deploy  STOP",
        f"  rdc run {file} retry",
        f"  rdc run {file} run",
        "deploy@blue  WAITING at 2: Check the site: Is it up?",
        f"  rdc run {file} answer 2 yes --as blue",
        f"  rdc run {file} answer 2 no --as blue",
        f"  rdc run {file} resume --as blue",
        "fails  STOP",
        "  rdc run fails.runbook.md retry",
        "  rdc run fails.runbook.md run",
    ]


def test_status_lists_a_gate_and_a_run_that_was_killed(tmp_path: Path) -> None:
    spawn("run", document(tmp_path, command="kill -9 $PPID; sleep 1"), cwd=tmp_path)
    (tmp_path / "launch.workflow.yaml").write_text(GATED, encoding="utf-8")
    assert spawn("run", "launch.workflow.yaml", "--agent", "cat", cwd=tmp_path).code == 75
    found = runs(tmp_path)
    killed, gate = found["deploy"], found["launch"]
    assert (killed["state"], killed["step"]) == ("interrupted", "1")
    assert any("resume --rerun-interrupted" in command for command in killed["next"])
    assert (gate["state"], "release" in gate["question"]) == ("waiting", True)
    assert spawn(*gate["next"][0].split()[1:], cwd=tmp_path).code == 0


def test_status_with_a_file_and_of_a_run_whose_document_is_gone_or_changed(tmp_path: Path) -> None:
    file = document(tmp_path)
    spawn("run", file, cwd=tmp_path)
    assert spawn("status", file, cwd=tmp_path).out == spawn("run", file, "status", cwd=tmp_path).out
    assert json.loads(spawn("status", file, "--json", cwd=tmp_path).out)["state"] == "waiting"
    document(tmp_path, command="date")
    assert runs(tmp_path)["deploy"]["next"] == [f"rdc run {file} resume --adopt"]
    (tmp_path / file).write_text(ASKING.replace("the site", "it").format(command="true"), encoding="utf-8")
    head, *following = call("status", cwd=tmp_path).out.splitlines()
    assert head.startswith("deploy  WAITING at 2: Check the site; step 2 was started, and this version has another ")
    assert (head.split("; ")[-1], following) == ("restore the old version", [f"  rdc run {file} reset"])
    (tmp_path / file).unlink()
    run = runs(tmp_path)["deploy"]
    assert (run["state"], run["step"], run["next"]) == ("waiting", "2", [])


@pytest.mark.parametrize(("output", "called"), [("Makefile", "make"), ("ops.mk", "make -f ops.mk")])
def test_status_lists_runs_of_makefiles(tmp_path: Path, output: str, called: str) -> None:
    assert call("compile", document(tmp_path), "--to", "make", "-o", output, cwd=tmp_path).code == 0
    words = called.split()[1:]
    make(tmp_path, *words)
    run = runs(tmp_path)["deploy.make"]
    assert (run["state"], run["question"]) == ("waiting", "Check the site: Is it up?")
    assert run["next"] == [f"{called} STEP=2 REPLY=yes", f"{called} STEP=2 REPLY=no", f"{called} resume"]
    for lock, pid in (("lock", 10**8), (f"lock.{10**8}", os.getpid())):
        (tmp_path / ".rdc/deploy.make" / lock).symlink_to(f"{pid}@here")
    held = runs(tmp_path)["deploy.make"]
    assert (held["state"], held["holder"], held["next"]) == ("running", f"pid {os.getpid()} on here", [])
    for left in (tmp_path / ".rdc/deploy.make").glob("lock*"):
        left.unlink()
    make(tmp_path, *words, "STEP=2", "REPLY=no")
    run = runs(tmp_path)["deploy.make"]
    assert (run["state"], run["next"]) == ("stop", [f"{called} retry", f"{called} run"])
    make(tmp_path, *words, "retry")
    make(tmp_path, *words, "STEP=2", "REPLY=yes")
    assert call("status", cwd=tmp_path).out.startswith("deploy.make  COMPLETE")
    for more in ((), ("STEP=2", "REPLY=no"), ("clean",)):
        make(tmp_path, *words, *more)
    assert runs(tmp_path)["deploy.make"]["next"] == [f"{called} run"], "the failed step is forgotten"


def test_status_offers_the_program_where_the_document_is_elsewhere(tmp_path: Path) -> None:
    file = document(tmp_path)
    assert call("compile", file, "--to", "python", "-o", "deploy.py", cwd=tmp_path).code == 0
    (tmp_path / file).unlink()
    subprocess.run(["python3", "deploy.py", "run"], cwd=tmp_path, stdin=subprocess.DEVNULL, check=False)
    assert runs(tmp_path)["deploy"]["next"] == ["python3 deploy.py status"]


def test_status_asks_a_program_that_is_beside_its_document(tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "ops").mkdir()
    file = document(tmp_path / "ops")
    compile_only(tmp_path / "ops", file)
    subprocess.run(["python3", "ops/deploy.py", "run"], cwd=tmp_path, stdin=subprocess.DEVNULL, check=False)
    (tmp_path / "ops" / file).unlink()
    assert runs(tmp_path)["ops.deploy"]["next"][0] == "ops/deploy.py answer 2 yes"
    inner = runs(tmp_path / "ops")["ops.deploy"]["next"][0]
    assert inner == "python3 deploy.py answer 2 yes --state-dir ../.rdc/ops.deploy"


def compiled(folder: Path, file: str, *options: str) -> Path:
    """Compile a document to a program with all operator commands, and run that."""
    compile_only(folder, file, *options)
    words = warm.forked_program(["python3", "deploy.py", "run"])
    subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, check=False)
    return folder / "deploy.py"


def compile_only(folder: Path, file: str, *options: str) -> None:
    call("compile", file, "--to", "python", "-O", "operator=full", *options, "-o", "deploy.py", cwd=folder).exits(0)


@pytest.mark.parametrize("options", [(), ("-O", "runtime=shared")])
def test_status_asks_the_program_of_a_run_and_compiles_nothing(tmp_path: Path, options: tuple[str, ...]) -> None:
    file = document(tmp_path)
    compiled(tmp_path, file, *options)
    (tmp_path / file).write_text("## 1. Broken\n\n- PASS: GOTO 9\n")
    found = [runs(tmp_path)["deploy"]]
    (tmp_path / file).unlink()
    found.append(runs(tmp_path)["deploy"])
    for run in found:
        assert (run["state"], run["question"]) == ("waiting", "Check the site: Is it up?")
        assert run["next"][0] == "python3 deploy.py answer 2 yes"
    words = warm.forked_program(found[0]["next"][0].split())
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_status_calls_no_program_that_was_changed_or_is_another_version(tmp_path: Path) -> None:
    file, by_document = document(tmp_path), "rdc run deploy.runbook.md answer 2 yes"
    program = compiled(tmp_path, file)
    text = program.read_text(encoding="utf-8")
    for place in ("import sys\n", "class Display:\n", "EXTENSIONS = (\n"):
        assert place in text
        program.write_text(text.replace(place, f"open('taken', 'w')\n{place}", 1), encoding="utf-8")
        assert runs(tmp_path)["deploy"]["next"][0] == by_document
        assert not (tmp_path / "taken").exists()
    program.unlink()
    document(tmp_path, command="date")
    compile_only(tmp_path, file)
    document(tmp_path)
    assert runs(tmp_path)["deploy"]["next"][0] == by_document


def test_status_follows_no_link(tmp_path: Path) -> None:
    elsewhere, here, other = (tmp_path / name for name in ("elsewhere", "here", "other"))
    for folder in (elsewhere, here / ".rdc/linked", other):
        folder.mkdir(parents=True)
    spawn("run", document(elsewhere), cwd=elsewhere)
    (here / ".rdc/deploy").symlink_to(elsewhere / ".rdc/deploy")
    (here / ".rdc/linked/journal").symlink_to(elsewhere / ".rdc/deploy/journal")
    assert {name: run["state"] for name, run in runs(here, code=1).items()} == {"linked": "unreadable"}
    (other / ".rdc").symlink_to(elsewhere / ".rdc")
    assert runs(other) == {}
    assert call("status", cwd=other).out == "No run has started here.\n"


def test_status_names_a_damaged_state_and_lists_the_others(tmp_path: Path) -> None:
    spawn("run", document(tmp_path), cwd=tmp_path)
    path = tmp_path / ".rdc/bad/journal"
    path.parent.mkdir()
    path.touch()
    assert list(runs(tmp_path)) == ["deploy"], "the disk was full, so no run has started"
    for journal in (b"1 run ", b"1 run \n2  | \n", b"\0" * 20, b"[" * 100_000, None):
        path.unlink(missing_ok=True)
        os.mkfifo(path) if journal is None else path.write_bytes(journal)
        found = runs(tmp_path, code=1)
        assert (found["bad"]["state"], found["deploy"]["state"]) == ("unreadable", "waiting")
        assert ".rdc/bad/journal" in found["bad"]["message"]
    before = call("status", cwd=tmp_path).out.splitlines()
    for name, text in (("a\x1b[2J", b"x"), ("b\n", b"1 run x | x\n2 begin \x1b[2J | x\n")):
        (tmp_path / ".rdc" / name).mkdir()
        (tmp_path / ".rdc" / name / "journal").write_bytes(text)
    out = call("status", cwd=tmp_path).out
    assert ("\x1b" in out, len(out.splitlines())) == (False, len(before) + 2), "no text of theirs reaches the terminal"


def test_a_folder_with_the_name_of_an_option_or_another_program_is_named_by_its_path(tmp_path: Path) -> None:
    file = document(tmp_path)
    for label in ("x", "y", "z"):
        assert spawn("run", file, "--as", label, cwd=tmp_path).code == 75
    (tmp_path / ".rdc/deploy@z").rename(tmp_path / ".rdc/deploy@-h")
    shown = call("status", cwd=tmp_path)
    assert (shown.code, shown.out.splitlines()[0]) == (0, "deploy@-h  WAITING at 2: Check the site: Is it up?")
    assert f"rdc run {file} answer 2 yes --state-dir .rdc/deploy@-h" in shown.out
    assert spawn("run", file, "answer", "2", "no", "--as", "x", cwd=tmp_path).code == 0
    (tmp_path / ".rdc/deploy@y").rename(tmp_path / ".rdc/other@x")
    run = runs(tmp_path)["other@x"]
    assert (run["state"], run["next"][0]) == ("waiting", f"rdc run {file} answer 2 yes --state-dir .rdc/other@x")


@pytest.mark.usefixtures("real_starts")
def test_status_runs_no_module_of_the_folder(tmp_path: Path) -> None:
    spawn("run", document(tmp_path), cwd=tmp_path)
    (tmp_path / "rdc").mkdir()
    (tmp_path / "rdc/__init__.py").write_text("open('taken', 'w').close()", encoding="utf-8")
    variables = {key: value for key, value in environment().items() if key != "PYTHONSAFEPATH"}
    command = [sys.executable, "-P", "-m", "rdc", "status"]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert "answer 2 yes" in done.stdout
    assert not (tmp_path / "taken").exists()


def test_questions_show_the_values_of_the_run_and_one_that_expired_is_over(tmp_path: Path) -> None:
    assert spawn("run", document(tmp_path), "--expire", "1s", cwd=tmp_path).code == 75
    began = time.monotonic()
    head = "---\nrdc:\n  inputs: {HOST: {}}\n---\n\n"
    step = "## 1. Restart {{HOST}}?\n\nIs {{HOST}} idle?\n\n- YES: COMPLETE\n- NO: STOP\n"
    (tmp_path / "a.runbook.md").write_text(head + step, encoding="utf-8")
    assert spawn("run", "a.runbook.md", "--input", "HOST=web-1", cwd=tmp_path).code == 75
    facts = json.loads(spawn("run", "a.runbook.md", "status", "--json", cwd=tmp_path).out)
    assert (facts["step_title"], facts["question"]) == ("Restart web-1?", "Is web-1 idle?")
    time.sleep(max(0, began + 1.1 - time.monotonic()))
    found = runs(tmp_path)
    assert found["a"]["question"] == "Restart web-1?: Is web-1 idle?"
    assert [found["deploy"][key] for key in ("state", "step", "question")] == ["stop", "", ""]
    (tmp_path / "a.runbook.md").write_text(head + step.replace("}}?", "}} now?"), encoding="utf-8")
    assert "WAITING at 1 Restart web-1?\n" in spawn("run", "a.runbook.md", "status", cwd=tmp_path).out
