"""What fits at the cursor, after each key of a document."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.rdc.lsp import documents
from tests.support.editor import Editor, cursor, edited

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

RUNBOOK = documents.RUNBOOK.replace("- PASS: COMPLETE", "HERE\n- PASS: COMPLETE")
PLAYBOOK = f"{documents.PLAYBOOK}HERE\n"
WORKFLOW = documents.WORKFLOW.replace("end: true", "HERE")
SPECIFICATION = f"{documents.SPECIFICATION}    HERE\n"


async def completed(client: Editor, uri: str, at: lsp.Position) -> dict[str, lsp.CompletionItem]:
    found = await client.text_document_completion_async(lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), at))
    assert isinstance(found, list | tuple)
    return {item.label: item for item in found}


@pytest.mark.parametrize(
    ("file", "whole", "typed", "offered", "chosen"),
    [
        ("a.runbook.md", RUNBOOK, "- P‸", {"PASS", "FAIL", "YES", "NO"}, ("PASS", "- PASS: ")),
        ("a.runbook.md", RUNBOOK, "- PASS ‸", {"ALL", "ANY"}, ("ALL", "- PASS ALL: ")),
        ("a.runbook.md", RUNBOOK, "- FAIL: ‸", {"CONTINUE", "GOTO", "RETRY"}, ("GOTO", "- FAIL: GOTO ")),
        ("a.runbook.md", RUNBOOK, "- FAIL ANY: ST‸", {"STOP"}, ("STOP", "- FAIL ANY: STOP")),
        ("a.runbook.md", RUNBOOK, "- FAIL: RETRY 3 ‸", {"STOP", "GOTO"}, ("STOP", "- FAIL: RETRY 3 STOP")),
        ("a.runbook.md", RUNBOOK, "- FAIL: GOTO ‸", {"1", "3.1", "Rollback", "NEXT"}, ("3.1", "- FAIL: GOTO 3.1")),
        ("a.runbook.md", RUNBOOK, "- FAIL: GOTO Ro‸ll", {"Rollback"}, ("Rollback", "- FAIL: GOTO Rollback")),
        ("a.runbook.md", RUNBOOK, "- FAIL: RETRY 3 GOTO R‸", {"Rollback"}, ("1", "- FAIL: RETRY 3 GOTO 1")),
        ("a.runbook.md", RUNBOOK, "Is {{‸", {"version", "region", "backup"}, ("region", "Is {{region}}")),
        ("a.runbook.md", RUNBOOK, "😀 {{ve‸}}?", {"version"}, ("version", "😀 {{version}}?")),
        ("a.runbook.md", RUNBOOK, "```bash\necho $‸", {"version", "backup"}, ("backup", "```bash\necho $backup")),
        ("a.playbook.md", PLAYBOOK, "@‸", {"output", "elicit", "prompt", "tool"}, ("elicit", "@elicit(")),
        ("a.playbook.md", PLAYBOOK, "@elicit(‸", {"input", "confirm"}, ("confirm", "@elicit(confirm, ")),
        ("a.playbook.md", PLAYBOOK, "```if ‸", {"changes", "sorted"}, ("sorted", "```if sorted")),
        ("a.playbook.md", PLAYBOOK, "{{s‸", {"changes", "sorted"}, ("sorted", "{{sorted}}")),
        ("a.workflow.yaml", WORKFLOW, "next: ‸", {"draft", "finish"}, ("draft", "next: draft")),
        ("a.stepspec.yaml", SPECIFICATION, "ev‸", {"evidence", "validation"}, ("evidence", "evidence: ")),
        ("a.stepspec.yaml", SPECIFICATION, "description: In {out‸", {"output_folder"}, None),
    ],
)
async def test_what_fits(
    client: Editor, tmp_path: Path, file: str, whole: str, typed: str, offered: set[str], chosen: tuple[str, str] | None
) -> None:
    text, at = cursor(whole.replace("HERE", typed))
    uri = await client.open(tmp_path / file, text)
    found = await completed(client, uri, at)
    assert offered <= found.keys()
    if chosen:
        edit = found[chosen[0]].text_edit
        assert isinstance(edit, lsp.TextEdit)
        assert edited(text, [edit]) == whole.replace("HERE", chosen[1])


async def test_keys_of_frontmatter(client: Editor, tmp_path: Path) -> None:
    whole = RUNBOOK.replace("HERE", "")
    text = whole.replace("  steps:\n    Rollback: {timeout: 10m}\n", "").replace("  outputs: [backup]", "  ‸")
    text, at = cursor(text)
    uri = await client.open(tmp_path / "a.runbook.md", text)
    found = (await completed(client, uri, at)).keys()
    assert {"steps", "secrets", "shell"} <= found
    assert "backup" not in found
    text, at = cursor(whole.replace("outputs", "out‸puts"))
    await client.type(uri, text)
    assert (await client.hover(uri, at))[0].startswith("**outputs**")


async def test_the_configuration_has_completion_and_hover(client: Editor, tmp_path: Path) -> None:
    text, at = cursor('[m‸cp]\noutput = "tail"\n\n[[build]]\nsource = "*.runbook.md"\n')
    uri = await client.open(tmp_path / "rdc.toml", text, language="toml")
    assert "source" not in await completed(client, uri, at)
    text, at = cursor('[[build]]\nsource = "*.runbook.md"\nt‸\n')
    await client.type(uri, text)
    assert "to" in await completed(client, uri, at)
    text, at = cursor('[[build]]\nsou‸rce = "*.runbook.md"\nto = "github"\n')
    await client.type(uri, text)
    assert (await client.hover(uri, at))[0].startswith("**source**")


WHOLE = {"runbook.md": RUNBOOK, "playbook.md": PLAYBOOK, "workflow.yaml": WORKFLOW, "stepspec.yaml": SPECIFICATION}


@pytest.mark.share(2)
@pytest.mark.parametrize(("suffix", "whole"), WHOLE.items(), ids=WHOLE)
async def test_each_key_of_a_document(client: Editor, tmp_path: Path, suffix: str, whole: str) -> None:
    """The server answers at each second or third moment, and its edit is around the cursor."""
    uri = await client.open(tmp_path / f"a.{suffix}", "")
    text = whole.replace("HERE", "")
    for end in (*range(1, len(text), 2 if len(text) < 500 else 3), len(text)):
        typed, at = cursor(text[:end] + "‸")
        client.type_fast(uri, typed)
        for item in (await completed(client, uri, at)).values():
            edit = item.text_edit
            assert isinstance(edit, lsp.TextEdit)
            assert edit.range.start.line == edit.range.end.line == at.line
            assert edit.range.start.character <= at.character <= edit.range.end.character
    assert [one.code for one in await client.checked(uri) if one.severity == lsp.DiagnosticSeverity.Error] == []
