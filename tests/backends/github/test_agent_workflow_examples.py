"""The example workflows: no findings, and every scenario comes out as it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.driver import compile_file
from rdc.testing.result import Status
from rdc.testing.tester import try_scenarios
from tests.conftest import ROOT
from tests.support.cli import call

EXAMPLES = sorted((ROOT / "examples" / "workflows").glob("*.workflow.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_right_and_in_their_normal_form(path: Path) -> None:
    found = compile_file(str(path))
    assert found.diagnostics == ()
    assert found.scenarios
    results = list(try_scenarios(found, [], 60.0))
    assert [(one.scenario.name, one.message) for one in results if one.status is not Status.PASSED] == []
    assert call("fmt", "--check", str(path), cwd=ROOT).code == 0


def test_examples_show_what_a_workflow_can_have() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in EXAMPLES)
    assert len(EXAMPLES) >= 6
    for key in ("parallel:", "check: all", "check: any", "human: true", "TASK_DONE", "validation:", "max-steps:"):
        assert key in texts
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert all(f"workflows/{path.name}" in readme for path in EXAMPLES)
