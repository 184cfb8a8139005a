"""Steps that share a script by a YAML anchor, as GitHub reads them since 2025, are the same to every tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.github.walking import Engine
from tests.support import actions_engine as engine
from tests.support.github import act
from tests.support.github.compiling import parsed
from tests.support.github.lint import findings

WORKFLOW = """\
name: Shared
on:
  workflow_dispatch:
permissions: {}
concurrency:
  group: shared
  cancel-in-progress: false
jobs:
  one:
    name: One
    runs-on: ubuntu-latest
    timeout-minutes: 5
    steps:
      - name: Open
        run: &rdc |
          # a script of several lines
          echo "called $CALL"
        env:
          CALL: open
      - name: Close
        run: *rdc
        env:
          CALL: close
  two:
    name: Two
    runs-on: ubuntu-latest
    timeout-minutes: 5
    needs: one
    steps:
      - name: Other
        run: *rdc
        env:
          CALL: other
"""
CALLED = ["called open", "called close", "called other"]


def test_the_tools_that_read_workflows_know_anchors(tmp_path: Path) -> None:
    path = tmp_path / "shared.yml"
    path.write_text(WORKFLOW, encoding="utf-8")
    assert findings([path]) == []
    path.write_text(WORKFLOW.replace('"called $CALL"', "$CALL"), encoding="utf-8")
    assert any("SC2086" in found for found in findings([path])), "the script is looked at"
    path.write_text(WORKFLOW.replace("*rdc", "*none"), encoding="utf-8")
    assert any("none" in found for found in findings([path]))


def test_an_alias_is_the_script_that_it_stands_for(walk: Engine) -> None:
    assert engine.complaints(WORKFLOW) == []
    assert walk(WORKFLOW).log.splitlines() == CALLED
    scripts = {step["run"] for job in parsed(WORKFLOW)["jobs"].values() for step in job["steps"]}
    assert scripts == {'# a script of several lines\necho "called $CALL"\n'}
    with pytest.raises(engine.RejectedError):
        walk(WORKFLOW.replace("*rdc", "*none"))


def test_act_runs_the_script_that_an_alias_stands_for(tmp_path: Path) -> None:
    ran = act.run(tmp_path, WORKFLOW)
    assert [line for line in ran.log.splitlines() if line.startswith("called")] == CALLED
