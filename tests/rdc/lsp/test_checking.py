"""What an editor shows while a person types, and what it reads from other files."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from benchmarks.document import runbook
from tests.rdc.lsp.documents import BROKEN, FINE
from tests.support.cli import TOLERATED
from tests.support.editor import Editor, texts_at

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]
OUTER = "# Outer\n\n## 1. All of it\n\n- inner.runbook.md\n"


async def test_a_diagnostic_has_place_code_severity_and_help_until_it_is_fixed(client: Editor, tmp_path: Path) -> None:
    uri = await client.open(tmp_path / "a.runbook.md", BROKEN)
    (found,) = client.diagnostics[uri]
    assert (found.code, found.source, found.severity) == ("RD201", "rdc", lsp.DiagnosticSeverity.Error)
    assert texts_at(BROKEN, [found.range]) == ["Rolback"]
    assert found.message.startswith("there is no step `Rolback`\nhelp: did you mean")
    assert found.code_description is None
    await client.type(uri, FINE)
    assert client.codes(uri) == []
    await client.type(uri, BROKEN)
    client.close(uri)
    await client.until(lambda one: one.uri == uri and one.version is None)
    assert client.codes(uri) == []


async def test_a_diagnostic_has_an_editors_level_related_places_and_its_page(client: Editor, tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").write_text('docs-url = "https://docs.example.org/rdc"\n')
    uri = await client.open(tmp_path / "a.runbook.md", TOLERATED)
    levels = {one.code: one.severity for one in client.diagnostics[uri]}
    assert levels == {"RD405": lsp.DiagnosticSeverity.Information}
    await client.type(uri, TOLERATED.replace("true", "$ true"))
    levels = {one.code: one.severity for one in client.diagnostics[uri]}
    assert levels["RD054"] == lsp.DiagnosticSeverity.Warning
    await client.type(uri, BROKEN)
    (found,) = client.diagnostics[uri]
    assert found.code_description
    assert found.code_description.href == "https://docs.example.org/rdc/diagnostics/RD201.html"
    text = FINE + "\n## Rollback\n\nAgain.\n"
    await client.type(uri, text)
    (related,) = client.diagnostics[uri][0].related_information or ()
    assert related.location.uri == uri
    assert texts_at(text, [related.location.range]) == ["Rollback"]


async def test_only_the_last_of_many_versions_is_shown(client: Editor, tmp_path: Path) -> None:
    uri = await client.open(tmp_path / "a.runbook.md", FINE)
    before = len(client.published)
    for number in range(50):
        client.type_fast(uri, BROKEN + "x" * number)
    client.type_fast(uri, FINE)
    assert list(await client.checked(uri)) == []
    assert len(client.published) - before <= 2


async def test_unsaved_text_counts_in_including_documents(client: Editor, tmp_path: Path) -> None:
    (tmp_path / "inner.runbook.md").write_text(FINE)
    outer = await client.open(tmp_path / "outer.runbook.md", OUTER)
    assert client.codes(outer) == []
    before = len(client.published)
    inner = await client.open(tmp_path / "inner.runbook.md", BROKEN)
    assert client.codes(inner) == ["RD201"]
    await client.until(lambda one: one.uri == outer, before)
    client.close(inner)  # the file is fine
    await client.until(lambda one: one.uri == inner and not one.diagnostics, before)


async def test_a_broken_include_is_shown_in_its_own_file(client: Editor, tmp_path: Path) -> None:
    inner = tmp_path / "inner.runbook.md"
    inner.write_text(BROKEN)
    outer = await client.open(tmp_path / "outer.runbook.md", OUTER)
    await client.until(lambda one: one.uri == inner.as_uri())
    assert client.codes(inner.as_uri()) == ["RD201"]
    client.close(outer)
    await client.until(lambda one: one.uri == inner.as_uri() and not one.diagnostics)


async def test_a_new_buffer_or_a_file_from_elsewhere_can_be_the_missing_one(client: Editor, tmp_path: Path) -> None:
    outer, inner = await client.open(tmp_path / "outer.runbook.md", OUTER), tmp_path / "inner.runbook.md"
    assert client.codes(outer) == ["RD301"]
    uri = await client.open(inner, FINE)
    await client.until(lambda one: one.uri == outer and not one.diagnostics)
    before = len(client.published)
    client.close(uri)
    await client.until(lambda one: one.uri == outer and bool(one.diagnostics), before)
    inner.write_text(FINE)
    (files,) = client.watched
    assert files.method == lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
    event = lsp.FileEvent(inner.as_uri(), lsp.FileChangeType.Created)
    before = len(client.published)
    client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))
    await client.until(lambda one: one.uri == outer and not one.diagnostics, before)


async def test_the_configuration_is_checked_like_a_document(client: Editor, tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").write_text("")
    uri = await client.open(tmp_path / "rdc.toml", '[mcp]\ndocumens = ["a.runbook.md"]\n', language="toml")
    (found,) = client.diagnostics[uri]
    assert (found.code, found.range.start.line) == ("RD501", 1)
    await client.type(uri, '[[build]]\nsource = "*.md"\nto = "nowhere"\n')
    assert client.codes(uri) == ["RD501"]
    await client.type(uri, '[mcp]\ndocuments = ["a.runbook.md"]\n')
    assert client.codes(uri) == []


async def test_a_change_of_the_configuration_reaches_its_documents_and_answers(client: Editor, tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").write_text("")
    text = "# T\n\n## 1. A\n\n```bash\n$ ls\n```\n\n## Notes\n\ny\n"
    uri = await client.open(tmp_path / "a.runbook.md", text)
    assert "RD054" in client.codes(uri)
    symbols = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri))
    assert len(await client.text_document_document_symbol_async(symbols) or ()) == 2
    given = 'prose = ["Notes"]\n[check]\nignore = ["RD054"]\n'
    toml = await client.open(tmp_path / "rdc.toml", given, language="toml")
    assert len(await client.text_document_document_symbol_async(symbols) or ()) == 1
    await client.type(uri, text + "\n")
    assert client.codes(uri) == []
    before = len(client.published)
    client.type_fast(toml, "")
    await client.until(lambda one: one.uri == uri and bool(one.diagnostics), before)


async def test_a_buffer_is_checked_if_it_looks_like_a_document_no_other_file(client: Editor, tmp_path: Path) -> None:
    uri = await client.open("untitled:Untitled-1", BROKEN)
    assert client.codes(uri) == ["RD201"]
    await client.type(uri, "Just notes.\n")
    assert client.codes(uri) == []
    identifier = lsp.TextDocumentItem((tmp_path / "README.md").as_uri(), "markdown", 1, BROKEN)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(identifier))
    await client.open(tmp_path / "a.runbook.md", FINE)
    assert identifier.uri not in client.diagnostics
    lens = lsp.CodeLensParams(lsp.TextDocumentIdentifier(identifier.uri))
    assert await client.text_document_code_lens_async(lens) is None


async def test_a_link_to_a_document_keeps_the_address_of_the_editor(client: Editor, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert client.codes(await client.open(tmp_path / "link" / "a.runbook.md", BROKEN)) == ["RD201"]


async def test_the_thread_is_free_for_others_while_a_large_document_is_checked(client: Editor, tmp_path: Path) -> None:
    """Otherwise a lens would wait for a check."""
    large = client.open(tmp_path / "large.runbook.md", runbook(1000))
    small = await client.open(tmp_path / "small.runbook.md", FINE)
    checking = asyncio.create_task(large)
    await asyncio.sleep(0)
    assert await client.text_document_code_lens_async(lsp.CodeLensParams(lsp.TextDocumentIdentifier(small)))
    assert not checking.done()
    await checking
