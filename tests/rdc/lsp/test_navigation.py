"""Jumps, links and renames."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from rdc import api
from tests.rdc.lsp.documents import PLAYBOOK, RUNBOOK, WORKFLOW, at
from tests.support.cli import document
from tests.support.editor import Editor, changed, cursor, edited, texts_at

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

INNER = "# Inner\n\n## 1. Do\n\nDo it.\n"
OUTER = "# Outer\n\n## 1. All of it\n\n- parts/inn‸er.runbook.md\n- missing.runbook.md\n"


async def test_an_included_document_is_a_link(client: Editor, tmp_path: Path) -> None:
    inner = document(tmp_path, "parts/inner.runbook.md", INNER)
    text, where = cursor(OUTER)
    uri = await client.open(tmp_path / "outer.runbook.md", text)
    identifier = lsp.TextDocumentIdentifier(uri)
    (link,) = await client.text_document_document_link_async(lsp.DocumentLinkParams(identifier)) or ()
    assert link.target == inner.as_uri()
    assert texts_at(text, [link.range]) == ["parts/inner.runbook.md"]
    found = await client.text_document_definition_async(lsp.DefinitionParams(identifier, where))
    assert isinstance(found, list | tuple)
    (place,) = found
    assert isinstance(place, lsp.Location)
    assert place.uri == inner.as_uri()


async def test_a_link_does_not_leave_the_project(client: Editor, tmp_path: Path) -> None:
    document(tmp_path, "outside.runbook.md", INNER)
    (tmp_path / "in").mkdir()
    uri = await client.open(tmp_path / "in" / "a.runbook.md", "# T\n\n## 1. A\n\n- ../outside.runbook.md\n")
    params = lsp.DocumentLinkParams(lsp.TextDocumentIdentifier(uri))
    assert not await client.text_document_document_link_async(params)


RENAMES = [
    ("a.runbook.md", RUNBOOK, "GOTO Roll‸back\n\n## 2", "Restore"),
    ("a.runbook.md", RUNBOOK, "    Roll‸back: {", "Back"),
    ("a.runbook.md", RUNBOOK, "Does {{ver‸sion}} 😀", "tag"),
    ("a.runbook.md", RUNBOOK, '"{{version‸}} is', "VERSION"),
    ("a.runbook.md", RUNBOOK, "outputs: [back‸up]", "copy"),
    ("a.playbook.md", PLAYBOOK, "- `‸changes`", "commits"),
    ("a.playbook.md", PLAYBOOK, "Write {{sort‸ed}}", "list"),
    ("a.workflow.yaml", WORKFLOW, "goto: fin‸ish", "publish"),
    ("a.workflow.yaml", WORKFLOW, "- name: dra‸ft", "first"),
    ("a.runbook.md", RUNBOOK.replace("\n", "\r\n"), "FAIL: GOTO Roll‸back", "Windows"),
]


@pytest.mark.parametrize(("file", "text", "place", "new"), RENAMES)
async def test_a_rename(client: Editor, tmp_path: Path, file: str, text: str, place: str, new: str) -> None:
    """Renaming back gives the same text, and the flow has the same shape under other names."""
    _, where = cursor(at(text, place.replace("\n", "\r\n") if "\r" in text else place))
    uri = await client.open(tmp_path / file, text)
    asked = lsp.PrepareRenameParams(lsp.TextDocumentIdentifier(uri), where)
    allowed = await client.text_document_prepare_rename_async(asked)
    assert isinstance(allowed, lsp.PrepareRenamePlaceholder)
    now = await renamed(client, uri, text, where, new)
    before, after = (api.check(tmp_path / file, unsaved={str(tmp_path / file): one}) for one in (text, now))
    assert [one.code for one in after.diagnostics] == [one.code for one in before.diagnostics]
    programs = [made.program for made in (before, after) if made.program]
    first, second = ([(one.task.kind, len(one.edges)) for one in made.nodes] for made in programs)
    assert first == second
    await client.type(uri, now)
    start = lsp.Position(where.line, allowed.range.start.character)
    assert await renamed(client, uri, now, start, allowed.placeholder) == text


async def renamed(client: Editor, uri: str, text: str, where: lsp.Position, new: str) -> str:
    found = await client.text_document_rename_async(lsp.RenameParams(lsp.TextDocumentIdentifier(uri), where, new))
    (change,) = (found and found.document_changes) or ()
    assert isinstance(change, lsp.TextDocumentEdit)
    assert change.text_document.version == client._number
    return edited(text, changed(found)[uri])


@pytest.mark.parametrize(
    ("place", "new", "reason"),
    [
        *(("GOTO Roll‸back\n\n## 2", "two words", "name"), ("GOTO Roll‸back\n\n## 2", "GOTO", "GOTO")),
        *(("## ‸1. Back", "Build", "number"), ("Does {{ver‸sion}}", "backup", "backup"), ("\n# De‸ploy", "x", "")),
    ],
)
async def test_a_refused_rename_has_a_reason(client: Editor, tmp_path: Path, place: str, new: str, reason: str) -> None:
    _, where = cursor(at(RUNBOOK, place))
    uri = await client.open(tmp_path / "a.runbook.md", RUNBOOK)
    with pytest.raises(JsonRpcException) as refusal:
        await client.text_document_rename_async(lsp.RenameParams(lsp.TextDocumentIdentifier(uri), where, new))
    assert refusal.value.code == -32803
    assert reason in refusal.value.message


async def test_a_rename_edits_the_scenarios_beside_the_document(client: Editor, tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").touch()
    beside, scenarios = tmp_path / "w.scenarios.yaml", "🚀 é: {agents: {draft: é, finish: b}, result: COMPLETE}\n"
    beside.write_text(scenarios, encoding="utf-8")
    text, where = cursor(at(WORKFLOW, "- name: dra‸ft"))
    uri = await client.open(tmp_path / "w.workflow.yaml", text)
    found = await client.text_document_rename_async(lsp.RenameParams(lsp.TextDocumentIdentifier(uri), where, "think"))
    _, (other, edits) = changed(found).items()
    assert other == beside.as_uri()
    assert edited(scenarios, edits) == scenarios.replace("draft", "think")


async def test_a_name_that_nothing_defines_has_no_definition(client: Editor, tmp_path: Path) -> None:
    text, where = cursor("# T\n\n## 1. A\n\nDo it.\n\n- FAIL: GOTO Rol‸back\n")
    identifier = lsp.TextDocumentIdentifier(await client.open(tmp_path / "a.runbook.md", text))
    assert not await client.text_document_definition_async(lsp.DefinitionParams(identifier, where))
