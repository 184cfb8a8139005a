"""The server survives anything that an editor sends, and answers afterwards."""

import asyncio
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from benchmarks.document import runbook
from tests.rdc.lsp.documents import BROKEN, FINE
from tests.support.cli import document
from tests.support.editor import PATIENCE, Editor, editor, texts_at

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

QUESTIONS: dict[str, type[Any]] = {
    "definition": lsp.DefinitionParams,
    "references": lsp.ReferenceParams,
    "document_highlight": lsp.DocumentHighlightParams,
    "document_link": lsp.DocumentLinkParams,
    "document_symbol": lsp.DocumentSymbolParams,
    "folding_range": lsp.FoldingRangeParams,
    "code_lens": lsp.CodeLensParams,
    "hover": lsp.HoverParams,
    "completion": lsp.CompletionParams,
    "formatting": lsp.DocumentFormattingParams,
}
PLACED = {"definition", "references", "document_highlight", "hover", "completion"}
LINE = "- PASS: GOTO Rolback\n"


async def everything(client: Editor, uri: str, at: lsp.Position) -> None:
    """Ask for each feature. An answer may be empty, but no feature fails."""
    identifier = lsp.TextDocumentIdentifier(uri)
    given: dict[str, Any] = {
        "references": {"context": lsp.ReferenceContext(include_declaration=True)},
        "formatting": {"options": lsp.FormattingOptions(tab_size=2, insert_spaces=True)},
    }
    async with asyncio.timeout(PATIENCE):
        for name, kind in QUESTIONS.items():
            place = {"position": at} if name in PLACED else {}
            params = kind(text_document=identifier, **given.get(name, {}), **place)
            await getattr(client, f"text_document_{name}_async")(params)
        context = lsp.CodeActionContext([])
        await client.text_document_code_action_async(lsp.CodeActionParams(identifier, lsp.Range(at, at), context))


async def alive(client: Editor, folder: Path) -> None:
    uri = await client.open(folder / "alive.runbook.md", BROKEN)
    assert client.codes(uri) == ["RD201"]
    client.close(uri)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"# T\n\n## 1. A\n\nDo it. 😀\x0c\u2028\n\n{LINE}", "Rolback"),
        (f"# T\r\n\r\n## 1. 😀😀\r\n\r\nDo it.\r\n\r\n{LINE}", "Rolback"),
        (f"# T\r\r## 1. A\r\rDo it.\r\r{LINE}", "Rolback"),
        ("# 😀\n\n## 1. A\n\nDo it.\n\n- PASS: STOP 😀😀x 'x'\n", "😀"),
    ],
)
async def test_places_in_lines_of_any_characters(client: Editor, tmp_path: Path, text: str, place: str) -> None:
    uri = await client.open(tmp_path / "a.runbook.md", text)
    assert place in texts_at(text, [one.range for one in client.diagnostics[uri]])
    await everything(client, uri, client.diagnostics[uri][0].range.start)


@pytest.mark.parametrize("name", ["a.runbook.md", "a.playbook.md", "a.workflow.yaml", "a.stepspec.json", "rdc.toml"])
@pytest.mark.parametrize(
    "text",
    ["", "\0", "\ud800", "---\n", "---\nrdc: [", "{", "[" * 3000, "\ufeff# T\n", "```\n", "x: &a [*a]", "#", FINE],
)
async def test_any_text_and_position(client: Editor, tmp_path: Path, name: str, text: str) -> None:
    uri = await client.open(tmp_path / name, text)
    await everything(client, uri, lsp.Position(0, len(text)))
    if text == FINE and name == "a.runbook.md":
        for line, column in ((0, 0), (2_000_000_000, 7), (2, 2_000_000_000)):
            await everything(client, uri, lsp.Position(line, column))


async def test_hundreds_of_changes_in_a_second(client: Editor, tmp_path: Path) -> None:
    uri = await client.open(tmp_path / "a.runbook.md", FINE)
    before, begun = len(client.published), time.perf_counter()
    for number in range(700):
        client.type_fast(uri, f"{FINE}{'x' * (number % 7)}")
        if number % 100 == 0:
            await asyncio.sleep(0)
    client.type_fast(uri, BROKEN)
    assert time.perf_counter() - begun < 30
    assert [one.code for one in await client.checked(uri)] == ["RD201"]
    assert len(client.published) - before < 200, "few are checked, also if a slow client pauses"
    for number in range(100):
        item = lsp.TextDocumentItem((tmp_path / "b.runbook.md").as_uri(), "markdown", number, BROKEN)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        client.close(item.uri)
    await alive(client, tmp_path)
    assert client.codes((tmp_path / "b.runbook.md").as_uri()) == []


async def test_files_and_folders_that_vanish(client: Editor, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    document(folder, "rdc.toml", "")
    uri = await client.open(folder / "a.runbook.md", BROKEN)
    shutil.rmtree(folder)
    await client.type(uri, FINE)
    await everything(client, uri, lsp.Position(6, 14))
    folder.write_text("now it is a file")
    await client.type(uri, BROKEN)
    assert client.codes(uri) == ["RD201"]


UNKNOWN = ["file:///no/such/a.runbook.md", "untitled:Untitled-9", "", "file://", "file:///%00", "x:y", "é"]


@pytest.mark.parametrize(
    "uri", [*UNKNOWN, "file:///\ud800.runbook.md", "git:/a.runbook.md?%7B%7D", "file:///" + "x" * 5000 + ".runbook.md"]
)
async def test_any_address(client: Editor, tmp_path: Path, uri: str) -> None:
    await everything(client, uri, lsp.Position(0, 0))
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "markdown", 1, BROKEN)))
    await everything(client, uri, lsp.Position(0, 0))
    client.close(uri)
    await alive(client, tmp_path)


async def test_an_address_that_is_none_is_logged_without_a_window_and_the_session_ends_well(tmp_path: Path) -> None:
    async with editor(tmp_path) as one:
        item = lsp.TextDocumentItem("http://[", "markdown", 1, BROKEN)
        one.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        await alive(one, tmp_path)
        assert [message.type for message in one.log_messages] == [lsp.MessageType.Error]
        assert not one.messages
    assert one._server
    assert one._server.returncode == 0


async def test_a_canceled_question(client: Editor, tmp_path: Path) -> None:
    uri = await client.open(tmp_path / "a.runbook.md", runbook(300))
    params = lsp.RenameParams(lsp.TextDocumentIdentifier(uri), lsp.Position(0, 0), "x")
    question = asyncio.ensure_future(client.text_document_rename_async(params))
    await asyncio.sleep(0)
    for name in [*client.protocol._request_futures]:
        client.cancel_request(lsp.CancelParams(name))
    with pytest.raises((JsonRpcException, asyncio.CancelledError)):
        await question
    await alive(client, tmp_path)


async def test_a_name_that_is_half_of_a_pair_of_surrogates(client: Editor, tmp_path: Path) -> None:
    """Only `json` can write it, so this answer is sent in another way."""
    uri = await client.open(tmp_path / "a.runbook.md", FINE)
    params = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri))
    asked = client.protocol.send_request_async(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, params, "\ud800")  # type: ignore[no-untyped-call]
    assert [one.name for one in await asked] == ["1. Build", "Rollback"]


HOSTILE = "![x](https://evil.example/x.png) <img src=x> [a](command:evil) `$(touch /tmp/x)` \x1b[31m"


async def test_hostile_names_stay_text(client: Editor, tmp_path: Path) -> None:
    """An editor loads the images of a hover and follows its links."""
    text = f"# T\n\n## 1. {HOSTILE}\n\n```bash\necho ``````\n~~~ {HOSTILE}\n```\n\n- FAIL: GOTO 1\n"
    uri = await client.open(tmp_path / "a.runbook.md", text.replace("GOTO 1", 'RETRY 1 STOP "![x](y)"'))
    identifier = lsp.TextDocumentIdentifier(uri)
    shown, _ = await client.hover(uri, lsp.Position(2, 3))
    outside, blocks = re.subn(r"(?ms)^(`{3,}).*?^\1$", "", shown)
    assert blocks == 1
    assert all(part not in outside for part in ("![", "](", "<img", "https://", "\x1b"))
    symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(identifier))
    assert symbols
    assert "\x1b" not in symbols[0].name


async def test_an_answer_about_an_old_version_is_refused(client: Editor, tmp_path: Path) -> None:
    """The first question keeps the thread busy while the text changes, unless this process has to wait."""
    uri = await client.open(tmp_path / "large.runbook.md", runbook(2000))
    identifier = lsp.TextDocumentIdentifier(uri)
    codes = list[int]()
    for count in range(2001, 2021):
        client.type_fast(uri, runbook(count))
        symbols = client.text_document_document_symbol_async(lsp.DocumentSymbolParams(identifier))
        folds = client.text_document_folding_range_async(lsp.FoldingRangeParams(identifier))
        questions = [asyncio.ensure_future(symbols), asyncio.ensure_future(folds)]
        await asyncio.sleep(0)
        client.type_fast(uri, FINE)
        answers = await asyncio.gather(*questions, return_exceptions=True)
        if codes := [one.code for one in answers if isinstance(one, JsonRpcException)]:
            break
    assert set(codes) == {lsp.LSPErrorCodes.ContentModified}
    assert await client.text_document_folding_range_async(lsp.FoldingRangeParams(identifier))


async def test_columns_are_in_utf_16_and_only_answers_are_written_to_the_editor(client: Editor) -> None:
    """A print or another process would write to standard error."""
    assert client.server.position_encoding == lsp.PositionEncodingKind.Utf16
    assert client.server.text_document_sync == lsp.TextDocumentSyncOptions(
        open_close=True, change=lsp.TextDocumentSyncKind.Full, will_save=False, will_save_wait_until=False, save=False
    )
    assert client._server
    files = Path(f"/proc/{client._server.pid}/fd")
    if files.exists():
        assert (files / "1").readlink() == (files / "2").readlink()
        assert (files / "0").readlink() == Path("/dev/null")


async def test_an_editor_that_disappears_ends_the_server(tmp_path: Path) -> None:
    async with editor(tmp_path) as one:
        await one.open(tmp_path / "a.runbook.md", FINE)
        assert one._server
        assert one._server.stdin
        one._server.stdin.close()
        await asyncio.wait_for(one._server.wait(), 10)
        one.error = EOFError()  # there is nothing left to shut down
    assert one._server.returncode == 1


@pytest.mark.soak
@pytest.mark.parametrize("name", ["a.runbook.md", "a.playbook.md", "a.workflow.yaml", "a.stepspec.yaml", "rdc.toml"])
async def test_eight_mebibytes(client: Editor, tmp_path: Path, name: str) -> None:
    line = "- FAIL: GOTO Rollback 😀 {{x}}\n" if name.endswith(".md") else "- {name: a, next: b}\n"
    text = f"# T\n\n## STEP 1: A\n\n{line * (8 * 1024 * 1024 // len(line.encode()))}"
    for one in (text, text + line * 100):
        uri = await client.open(tmp_path / name, one)
        await everything(client, uri, lsp.Position(2, 4))
        client.close(uri)
    await alive(client, tmp_path)
