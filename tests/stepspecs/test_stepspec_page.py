"""The page about step specifications is true: what it shows can be pasted, and its tables have every key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compiler.frontends.stepspec.context_keys import KEYS
from compiler.frontends.stepspec.runtime import Policy, Runtime, ToolCommand
from compiler.frontends.stepspec.syntax import Document, StepSpec, ToolCall
from runtime_shim.contract.tool_schemas import BUILT_IN
from tests.conftest import ROOT
from tests.rdc.cli_support import call
from tests.stepspecs.documents import compiled, findings

PAGE = (ROOT / "docs" / "formats" / "stepspec.md").read_text(encoding="utf-8")
FIRST, _, CONFIGURATION, OPTIONS, SCENARIOS = re.findall(r"^~~~yaml\n(.*?)^~~~$", PAGE, re.MULTILINE | re.DOTALL)


def rows(begin: str, end: str) -> list[str]:
    """The first cells of the tables in a part of the page."""
    return re.findall(r"^\| `(\w+)` \|", PAGE.partition(begin)[2].partition(end)[0], re.MULTILINE)


def test_the_tables_have_every_key() -> None:
    assert rows("## The document", "### Inputs") == [*Document.model_fields, *StepSpec.model_fields]
    assert rows("### Tools", "### Validation") == [*ToolCall.model_fields]
    assert sorted(rows("## The configuration", "## How a step")) == sorted(Runtime.model_fields)
    assert all(f"`{name}`" in PAGE for name in (*KEYS, *BUILT_IN, *Policy.model_fields, *ToolCommand.model_fields))


def test_what_it_shows_can_be_pasted(tmp_path: Path) -> None:
    scenarios = {"draft-notes.scenarios.yaml": SCENARIOS}
    made = compiled(tmp_path, FIRST + OPTIONS, scenarios, "draft-notes.stepspec.yaml")
    assert findings(made) == []
    assert call("fmt", "--check", "draft-notes.stepspec.yaml", cwd=tmp_path).code == 0
    said = call("test", "draft-notes.stepspec.yaml", cwd=tmp_path)
    assert said.code == 0, said.out + said.err


@pytest.mark.parametrize("name", ["config/runtime.yaml", "specs/config/runtime.yaml"])
def test_the_configuration_that_it_shows_is_right(tmp_path: Path, name: str) -> None:
    text = "step_specs: [{id: a, phase: Release, outputs: ['{output_folder}/x']}]"
    made = compiled(tmp_path, text, {name: CONFIGURATION}, "specs/main.stepspec.yaml")
    assert findings(made) == []
    assert made.program
    assert made.program.entry == "main:main:a:hitl"
