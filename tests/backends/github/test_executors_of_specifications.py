"""Executors of specifications on GitHub: what they may tell the runner, and what they get of the job."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.github.specifications import written
from tests.support import actions_engine as engine
from tests.support.cli import call

pytestmark = pytest.mark.tool

FILES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
DOCUMENT = """
workflow: {module: notes, workflow: publish, phase: Release}
config:
  executor: |
    echo "$RDC_STEP" >> "$FOLDER/done"
    env >> "$FOLDER/executor"
    [ "$RDC_STEP" != write ] || sh "$FOLDER/attack.sh"
  tools:
    look: {command: "cat > /dev/null; env >> \\"$FOLDER/tool\\"; echo {}", risk: low}
step_specs:
  - {id: write, description: Write the notes, tools: [{name: look, required: true}]}
  - {id: announce, description: Tell everybody, human_gate: required}
  - {id: end, description: Clean up}
"""
FAKE = '#!/bin/sh\nenv >> "$FOLDER/fake"\nexec "%s" "$@"\n'


def run(folder: Path, attack: str, *decisions: str) -> tuple[engine.EngineRun, Path]:
    """Run the workflow with an executor that does this first; return the run, and the folder with its traces."""
    repository, outside = folder / "repository", folder / "outside"
    repository.mkdir()
    (outside / "bin").mkdir(parents=True)
    workflow = written(repository, DOCUMENT)
    (outside / "attack.sh").write_text(attack, encoding="utf-8")
    (outside / "bin" / "python3").write_text(FAKE % sys.executable, encoding="utf-8")
    (outside / "bin" / "python3").chmod(0o755)
    env = {"FOLDER": str(outside), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    environments = {"approval": decisions or ("approved",)}
    return engine.run(repository, workflow, history=folder / "history", env=env, environments=environments), outside


def names(path: Path) -> set[str]:
    """The variables in a file that `env` has written."""
    return {line.partition("=")[0] for line in path.read_text(encoding="utf-8").splitlines()}


COMMANDS = ["error title=rdc::", "warning::", "notice::", "add-mask::"]


def test_executors_and_tools_tell_the_runner_nothing_and_do_not_know_where_it_listens(tmp_path: Path) -> None:
    lines = "; ".join(f"echo '::{command}forged'" for command in COMMANDS)
    done, outside = run(tmp_path, f"{lines}; echo 'this is forged'")
    assert done.conclusion == "success", done.log
    for kind in ("executor", "tool"):
        found = names(outside / kind)
        assert not found & {*FILES, "GITHUB_TOKEN"}
        assert not [name for name in found if name.startswith("ACTIONS_")]
        assert {"GITHUB_SHA", "RDC_STEP"} <= found, "what says where the run is, they know"
    assert all(f"::{command}forged" in done.log for command in COMMANDS)
    assert "this is forged" in done.log
    assert "forged" not in str([job.annotations for job in done.jobs.values()])


def test_an_executor_adds_no_folder_to_the_path_of_later_steps(tmp_path: Path) -> None:
    """The job's token would be in the environment of what is called by that path."""
    by_name = '{ echo "$FOLDER/bin" >> "$GITHUB_PATH"; } 2> /dev/null'
    _, outside = run(tmp_path, f'{by_name}; for file in "$RUNNER_TEMP"/*path*; do echo "$FOLDER/bin" >> "$file"; done')
    assert not (outside / "fake").exists() or "TOKEN" not in names(outside / "fake")


def test_agents_of_a_python_program_are_not_told_where_the_runner_listens(tmp_path: Path) -> None:
    (tmp_path / "a.playbook.md").write_text("# A\n\n## STEP 1: B\n\nSay it.\n", encoding="utf-8")
    assert call("compile", "a.playbook.md", "--to", "python", "-o", "a.py", cwd=tmp_path).code == 0
    env = {**os.environ, **{name: str(tmp_path / name) for name in (*FILES, "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN")}}
    words = [sys.executable, "a.py", "run", "--agent", "env > agent; echo said"]
    subprocess.run(words, cwd=tmp_path, env={**env, "GITHUB_SHA": "b"}, check=True, capture_output=True)
    assert not names(tmp_path / "agent") & {*FILES, "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN"}
    assert "GITHUB_SHA" in names(tmp_path / "agent")
