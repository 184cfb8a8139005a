"""Fixes, which are proved before the editor offers them, and formatting."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import Editor, changed, edited

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

TEXT = "# T\n\n## 1. Build\n\nDo it.\n\n- FAIL: Stop\n- PASS: GOTO Rolback\n\n## Rollback\n\n```Bash\nls\n```\n"
EVERYWHERE = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))


async def offered(
    client: Editor, uri: str, *, only: Sequence[lsp.CodeActionKind | str] | None = None, where: lsp.Range = EVERYWHERE
) -> list[lsp.CodeAction]:
    context = lsp.CodeActionContext(list(client.diagnostics[uri]), only=only)
    params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), where, context)
    found = await client.text_document_code_action_async(params)
    return [one for one in found or () if isinstance(one, lsp.CodeAction)]


def applied(text: str, action: lsp.CodeAction) -> str:
    (edits,) = changed(action.edit).values()
    return edited(text, edits)


@pytest.mark.parametrize("only", [None, [lsp.CodeActionKind.QuickFix], ["quickfix"]])
async def test_only_a_safe_fix_is_preferred(client: Editor, tmp_path: Path, only: Sequence[str] | None) -> None:
    uri = await client.open(tmp_path / "a.runbook.md", TEXT)
    found = await offered(client, uri, only=only)
    safe, unsafe = found[0], {one.title: one for one in found}["Write `Rollback` (may change the meaning)"]
    assert (safe.title, safe.kind, safe.is_preferred) == ("Write `STOP`", lsp.CodeActionKind.QuickFix, True)
    assert [one.code for one in safe.diagnostics or ()] == ["RD040"]
    assert applied(TEXT, safe) == TEXT.replace("Stop", "STOP")
    assert not unsafe.is_preferred
    assert applied(TEXT, unsafe) == TEXT.replace("Rolback", "Rollback")
    if only is None:  # all safe fixes in a menu are made when they are chosen
        assert (found[-1].title, found[-1].edit) == ("Fix all that is safe to fix", None)
        assert applied(TEXT, await client.code_action_resolve_async(found[-1])) == TEXT.replace("Stop", "STOP")


async def test_fixes_of_the_chosen_lines_of_all_that_is_saved_and_of_no_problem(client: Editor, tmp_path: Path) -> None:
    uri = await client.open(tmp_path / "a.runbook.md", TEXT)
    line = lsp.Range(lsp.Position(7, 0), lsp.Position(7, 3))
    titles = [one.title for one in await offered(client, uri, only=["quickfix"], where=line)]
    assert titles == ["Write `Rollback` (may change the meaning)"]
    text = TEXT.replace("Rolback", "rollback")
    await client.type(uri, text)
    (action,) = await offered(client, uri, only=[lsp.CodeActionKind.SourceFixAll])
    assert applied(text, action) == text.replace("Stop", "STOP").replace("GOTO rollback", "GOTO Rollback")
    await client.type(uri, "# T\n\n## 1. A\n\nDo it.\n")
    assert await offered(client, uri) == await offered(client, uri, only=["source"]) == []


async def test_a_fix_without_a_proof_is_not_offered(client: Editor, tmp_path: Path) -> None:
    """The word alone leaves the transition broken."""
    text = TEXT.replace("- FAIL: Stop", "- fail: stop me now")
    uri = await client.open(tmp_path / "a.runbook.md", text)
    assert "RD120" in client.codes(uri) or "RD043" in client.codes(uri)
    for one in await offered(client, uri, only=["quickfix"]):
        await client.type(uri, applied(text, one))
        gone = {found.code for found in one.diagnostics or ()}
        assert not gone & {*client.codes(uri)}
        await client.type(uri, text)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_formatting_changes_only_the_lines_that_differ(client: Editor, tmp_path: Path, end: str) -> None:
    lines = ["# T", "", "##  1:  A 😀", "", "Do it.", "", "* FAIL: STOP", "", "## 2. B", "", "Do it.", ""]
    text = end.join(lines)
    uri = await client.open(tmp_path / "a.runbook.md", text)
    options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
    params = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(uri), options)
    edits = await client.text_document_formatting_async(params)
    assert edits
    assert edited(text, edits) == text.replace("##  1:  A", "## 1. A").replace("* FAIL", "- FAIL")
    assert edits[0].range.start.line == 2
    await client.type(uri, "# T\n\n## \n\n* FAIL: GOTO\n\n\n\n")
    assert not await client.text_document_formatting_async(params)
