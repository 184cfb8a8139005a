"""Renames in a document whose scenarios are in a file beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import CURSOR, Editor, cursor, edited

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

WORKFLOW = f"name: w\nsteps:\n  - {{name: pl{CURSOR}an, prompt: x, next: ship}}\n  - {{name: ship, prompt: y}}\n"
SCENARIOS = "🚀 é: {agents: {plan: é, ship: b}, result: COMPLETE}\n"


async def test_a_rename_edits_the_scenarios_beside_the_document(client: Editor, tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").touch()
    beside = tmp_path / "w.scenarios.yaml"
    beside.write_text(SCENARIOS, encoding="utf-8")
    text, at = cursor(WORKFLOW)
    uri = await client.open(tmp_path / "w.workflow.yaml", text)
    found = await client.text_document_rename_async(lsp.RenameParams(lsp.TextDocumentIdentifier(uri), at, "think"))
    assert found
    own, other = found.document_changes or ()
    assert isinstance(own, lsp.TextDocumentEdit)
    assert isinstance(other, lsp.TextDocumentEdit)
    assert other.text_document.uri == beside.as_uri()
    edits = [edit for edit in other.edits if isinstance(edit, lsp.TextEdit)]
    assert edited(SCENARIOS, edits) == SCENARIOS.replace("plan", "think")
