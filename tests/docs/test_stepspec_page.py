"""The page about step specifications is true: what it shows can be pasted, and its tables have every key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compiler.frontends.stepspec.check import KEYS
from compiler.frontends.stepspec.syntax import Document, Policy, Runtime, StepSpec, ToolCall, ToolCommand
from runtime_shim.stepspec.tool_schemas import BUILT_IN
from tests.conftest import ROOT
from tests.support.stepspec_documents import compiled, findings

PAGE, RUNS = (
    (ROOT / "docs" / "formats" / name).read_text(encoding="utf-8") for name in ("stepspec.md", "stepspec-runs.md")
)
FRAGMENT = re.compile(r"^~~~yaml\n(.*?)^~~~$", re.MULTILINE | re.DOTALL)
(CONFIGURATION,) = FRAGMENT.findall(RUNS)


def rows(begin: str, end: str) -> list[str]:
    """Return the first cells of the tables in a part of the pages."""
    return re.findall(r"^\| `(\w+)` \|", (PAGE + RUNS).partition(begin)[2].partition(end)[0], re.MULTILINE)


def test_the_tables_have_every_key() -> None:
    assert rows("## Keys", "## Inputs") == [*Document.model_fields, *StepSpec.model_fields]
    assert rows("## Tools", "## Validation") == [*ToolCall.model_fields]
    assert sorted(rows("## Configuration", "## Failures")) == sorted(Runtime.model_fields)
    assert all(
        f"`{name}`" in PAGE + RUNS for name in (*KEYS, *BUILT_IN, *Policy.model_fields, *ToolCommand.model_fields)
    )


@pytest.mark.parametrize("name", ["config/runtime.yaml", "specs/config/runtime.yaml"])
def test_the_configuration_that_it_shows_is_right(tmp_path: Path, name: str) -> None:
    text = "step_specs: [{id: a, phase: Release, outputs: ['{output_folder}/x']}]"
    made = compiled(tmp_path, text, {name: CONFIGURATION}, "specs/main.stepspec.yaml")
    assert findings(made) == []
    assert made.program
    assert made.program.entry == "main:main:a:hitl"
