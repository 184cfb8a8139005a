"""What an editor shows while a person types."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import Editor, texts_at

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

BROKEN = "# T\n\n## 1. Build\n\nDo it.\n\n- FAIL: GOTO Rolback\n\n## Rollback\n\nUndo it.\n"


async def test_diagnostics_have_place_code_severity_and_help(client: Editor, tmp_path: Path) -> None:
    uri = await client.open(tmp_path / "a.runbook.md", BROKEN)
    (found,) = client.diagnostics[uri]
    assert (found.code, found.source, found.severity) == ("RD201", "rdc", lsp.DiagnosticSeverity.Error)
    assert texts_at(BROKEN, [found.range]) == ["Rolback"]
    assert found.message.startswith("there is no step `Rolback`\nhelp: did you mean")
    client.close(uri)
