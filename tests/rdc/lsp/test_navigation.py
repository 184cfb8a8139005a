"""Jumps, links and renames."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from rdc import api
from tests.support.editor import Editor, cursor, edited, texts_at

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

INNER = "# Inner\n\n## 1. Do\n\nDo it.\n"
OUTER = "# Outer\n\n## 1. All of it\n\n- parts/inn‸er.runbook.md\n- missing.runbook.md\n"
RUNBOOK = """\
---
rdc:
  inputs:
    version: {description: The version}
  outputs: [backup]
  steps:
    Rollback: {timeout: 10m}
---

# Deploy

## 1. Back up

```bash
echo "backup=$version" >> "$RDC_OUTPUT"
```

- FAIL: GOTO Rollback

## 2. Does {{version}} 😀 work?

- YES: COMPLETE "{{version}} is live, and {{backup}} is old"
- NO: GOTO Rollback

## Rollback to {{backup}}

```bash
./restore "$backup" "$version"
```

- PASS: STOP "undone"
"""
PLAYBOOK = """\
# Note

## INPUTS

- `changes` (text): The changes

## STEP 1: Sort

Sort {{changes}}.

@output(sorted)

## STEP 2: Write

Write {{sorted}} and {{changes}}.
"""
WORKFLOW = """\
name: note
steps:
  - name: draft
    prompt: Draft.
    report: {name: draft, format: Any, validation: "GOOD|AGAIN"}
    conditions:
      - keyword: GOOD
        goto: finish
      - keyword: AGAIN
        goto: draft
  - name: finish
    prompt: Repeat draft.md.
    end: true
"""


async def test_an_included_document_is_a_link(client: Editor, tmp_path: Path) -> None:
    inner = tmp_path / "parts" / "inner.runbook.md"
    inner.parent.mkdir()
    inner.write_text(INNER)
    text, at = cursor(OUTER)
    uri = await client.open(tmp_path / "outer.runbook.md", text)
    identifier = lsp.TextDocumentIdentifier(uri)
    (link,) = await client.text_document_document_link_async(lsp.DocumentLinkParams(identifier)) or ()
    assert link.target == inner.as_uri()
    assert texts_at(text, [link.range]) == ["parts/inner.runbook.md"]
    found = await client.text_document_definition_async(lsp.DefinitionParams(identifier, at))
    assert isinstance(found, list | tuple)
    (place,) = found
    assert isinstance(place, lsp.Location)
    assert place.uri == inner.as_uri()


async def test_a_link_does_not_leave_the_project(client: Editor, tmp_path: Path) -> None:
    (tmp_path / "outside.runbook.md").write_text(INNER)
    (tmp_path / "in").mkdir()
    uri = await client.open(tmp_path / "in" / "a.runbook.md", "# T\n\n## 1. A\n\n- ../outside.runbook.md\n")
    params = lsp.DocumentLinkParams(lsp.TextDocumentIdentifier(uri))
    assert not await client.text_document_document_link_async(params)


RENAMES = [
    ("a.runbook.md", RUNBOOK, "GOTO Roll‸back\n\n## 2", "Restore"),
    ("a.runbook.md", RUNBOOK, "NO: GOTO ‸Rollback", "Undo_all"),
    ("a.runbook.md", RUNBOOK, "## Rollback‸ to", "R2"),
    ("a.runbook.md", RUNBOOK, "    Roll‸back: {", "Back"),
    ("a.runbook.md", RUNBOOK, "    ver‸sion:", "release"),
    ("a.runbook.md", RUNBOOK, "Does {{ver‸sion}}", "tag"),
    ("a.runbook.md", RUNBOOK, '"{{version‸}} is', "VERSION"),
    ("a.runbook.md", RUNBOOK, "outputs: [back‸up]", "copy"),
    ("a.runbook.md", RUNBOOK, "and {{‸backup}}", "old_one"),
    ("a.runbook.md", RUNBOOK, "to {{backup‸}}", "saved"),
    ("a.playbook.md", PLAYBOOK, "- `‸changes`", "commits"),
    ("a.playbook.md", PLAYBOOK, "Sort {{‸changes}}", "diff"),
    ("a.playbook.md", PLAYBOOK, "and {{changes‸}}", "work"),
    ("a.playbook.md", PLAYBOOK, "@output(sor‸ted)", "ordered"),
    ("a.playbook.md", PLAYBOOK, "Write {{sort‸ed}}", "list"),
    ("a.workflow.yaml", WORKFLOW, "goto: fin‸ish", "publish"),
    ("a.workflow.yaml", WORKFLOW, "- name: fin‸ish", "last"),
    ("a.workflow.yaml", WORKFLOW, "goto: dra‸ft", "write"),
    ("a.workflow.yaml", WORKFLOW, "- name: dra‸ft", "first"),
    ("a.runbook.md", RUNBOOK.replace("\n", "\r\n"), "FAIL: GOTO Roll‸back", "Windows"),
]


@pytest.mark.parametrize(("file", "text", "place", "new"), RENAMES)
async def test_a_rename_changes_a_name_and_nothing_else(
    client: Editor, tmp_path: Path, file: str, text: str, place: str, new: str
) -> None:
    """Renaming back gives the same text, and the flow has the same shape under other names."""
    if "\r" in text:
        place = place.replace("\n", "\r\n")
    assert text.count(place.replace("‸", "")) == 1
    _, at = cursor(text.replace(place.replace("‸", ""), place))
    uri = await client.open(tmp_path / file, text)
    identifier = lsp.TextDocumentIdentifier(uri)
    allowed = await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(identifier, at))
    assert isinstance(allowed, lsp.PrepareRenamePlaceholder)
    now = await renamed(client, uri, text, at, new)
    before, after = (api.check(tmp_path / file, unsaved={str(tmp_path / file): one}) for one in (text, now))
    assert before.program
    assert after.program
    assert [one.code for one in after.diagnostics] == [one.code for one in before.diagnostics]
    shapes = [
        [(one.task.kind, len(one.edges)) for one in made.program.nodes] for made in (before, after) if made.program
    ]
    assert shapes[0] == shapes[1]
    await client.type(uri, now)
    start = lsp.Position(at.line, allowed.range.start.character)
    assert await renamed(client, uri, now, start, allowed.placeholder) == text


async def renamed(client: Editor, uri: str, text: str, at: lsp.Position, new: str) -> str:
    params = lsp.RenameParams(lsp.TextDocumentIdentifier(uri), at, new)
    found = await client.text_document_rename_async(params)
    assert found
    (change,) = found.document_changes or ()
    assert isinstance(change, lsp.TextDocumentEdit)
    assert change.text_document.version == client._number
    return edited(text, [one for one in change.edits if isinstance(one, lsp.TextEdit)])


@pytest.mark.parametrize(
    ("place", "new", "reason"),
    [
        ("## ‸1. Back", "Build", "number"),
        ("GOTO Roll‸back\n\n## 2", "two words", "name"),
        ("GOTO Roll‸back\n\n## 2", "GOTO", "GOTO"),
        ("Does {{ver‸sion}}", "backup", "backup"),
        ("# De‸ploy", "x", ""),
    ],
)
async def test_a_rename_is_refused_with_a_reason(
    client: Editor, tmp_path: Path, place: str, new: str, reason: str
) -> None:
    _, at = cursor(RUNBOOK.replace(place.replace("‸", ""), place, 1))
    uri = await client.open(tmp_path / "a.runbook.md", RUNBOOK)
    with pytest.raises(JsonRpcException) as refusal:
        await client.text_document_rename_async(lsp.RenameParams(lsp.TextDocumentIdentifier(uri), at, new))
    assert refusal.value.code == -32803
    assert reason in refusal.value.message


async def test_a_name_that_nothing_defines_has_no_definition(client: Editor, tmp_path: Path) -> None:
    text, at = cursor("# T\n\n## 1. A\n\nDo it.\n\n- FAIL: GOTO Rol‸back\n")
    uri = await client.open(tmp_path / "a.runbook.md", text)
    assert not await client.text_document_definition_async(lsp.DefinitionParams(lsp.TextDocumentIdentifier(uri), at))
