"""Each feature of the language server for each format."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from lsprotocol import types as lsp

from tests.support.editor import CURSOR, Editor, cursor, edited, texts_at

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]


class Sample(NamedTuple):
    """A document without errors: the cursor is at a use of a name.

    `defined` is the start of the line that defines it, `places` is the number of its places, and `outline` are names
    in the outline. `shown` are parts of its hover. `broken` replaces a part by one that causes the diagnostic `code`.
    """

    file: str
    text: str
    name: str
    defined: str
    places: int
    outline: tuple[str, ...]
    shown: tuple[str, ...]
    broken: tuple[str, str]
    code: str


SAMPLES = {
    "rundown": Sample(
        "deploy.runbook.md",
        """\
---
name: deploy
rdc:
  inputs:
    version: {description: The version to install}
---

# Deploy

## 1. Install {{version}}

```bash
./install "$version"
```

- FAIL: GOTO Roll‸back

## 2. Does {{version}} work?

- YES: COMPLETE
- NO: GOTO Rollback

## Rollback the shop

```bash
./restore --all
```

- PASS: STOP "undone"
""",
        "Rollback",
        "## Rollback",
        3,
        ("1. Install {{version}}", "Rollback the shop"),
        ("step Rollback", "./restore --all", "STOP", "Used in 2 places"),
        ("NO: GOTO Rollback", "NO: GOTO Rolback"),
        "RD201",
    ),
    "playbook": Sample(
        "note.playbook.md",
        """\
# Release note

## INPUTS

- `changes` (text): The changes, one per line

## STEP 1: Sort

Sort these changes:

{{changes}}

@output(sorted)

## STEP 2: Write

Write a note about {{sor‸ted}} and {{changes}}.
""",
        "sorted",
        "@output(sorted)",
        2,
        ("STEP 1: Sort", "STEP 2: Write"),
        ("output sorted", "Written by 1", "Used in 1 place"),
        ("{{changes}}.", "{{chanes}}."),
        "RD721",
    ),
    "agent_workflow": Sample(
        "note.workflow.yaml",
        """\
name: note
description: Write a note.
steps:
  - name: draft
    prompt: Draft a note.
    next: fin‸ish
  - name: finish
    prompt: Repeat the last draft.
    end: true
""",
        "finish",
        "  - name: finish",
        2,
        ("draft", "finish"),
        ("step finish", "Repeat the last draft.", "Used in 1 place"),
        ("    end: true", "    next: finis"),
        "RD817",
    ),
    "stepspec": Sample(
        "notes.stepspec.yaml",
        """\
workflow: {module: notes, workflow: notes, phase: Writing}
config:
  variables: {output_folder: docs, subject: the search}
  executor: ./write
step_specs:
  - id: draft
    description: Write about {subject‸}
    outputs: ["{output_folder}/notes.md"]
  - id: publish
    inputs: {artifacts: ["{output_folder}/notes.md"]}
""",
        "subject",
        "  variables: {output_folder: docs, subject",
        2,
        ("draft", "publish"),
        ("subject", "the search", "Used in 1 place"),
        ("id: publish", "id: draft"),
        "RD857",
    ),
    "json": Sample(
        "ask.program.json",
        """\
{
  "title": "Ask",
  "entry": "first",
  "nodes": [
    {
      "id": "first",
      "title": "Does it work?",
      "task": {"kind": "ask", "question": "yes_no", "prompt": "Look at it."},
      "edges": [
        {"guard": [{"kind": "outcome", "word": "pass"}], "target": "do‸ne"},
        {"target": "failed"}
      ]
    },
    {"id": "done", "task": {"kind": "end", "result": "complete"}},
    {"id": "failed", "task": {"kind": "end", "result": "stop", "message": "It fails"}}
  ]
}
""",
        "done",
        '    {"id": "done"',
        2,
        ("first", "failed"),
        ("step done", "Used in 1 place"),
        ('"target": "failed"', '"target": "nowhere"'),
        "RD067",
    ),
}


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> Sample:
    """Each of the samples."""
    return SAMPLES[request.param]


class Opened(NamedTuple):
    """A sample in the editor."""

    client: Editor
    uri: str
    text: str
    at: lsp.Position

    @property
    def identifier(self) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri)


async def opened(client: Editor, folder: Path, sample: Sample) -> Opened:
    text, at = cursor(sample.text)
    uri = await client.open(folder / sample.file, text)
    assert client.codes(uri) == []
    return Opened(client, uri, text, at)


async def test_a_diagnostic(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    await client.type(one.uri, one.text.replace(*sample.broken))
    assert sample.code in client.codes(one.uri)
    await client.type(one.uri, one.text)
    assert client.codes(one.uri) == []


async def test_definition(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    found = await client.text_document_definition_async(lsp.DefinitionParams(one.identifier, one.at))
    assert isinstance(found, list | tuple)
    (place,) = found
    assert isinstance(place, lsp.Location)
    assert texts_at(one.text, [place.range]) == [sample.name]
    assert one.text.split("\n")[place.range.start.line].startswith(sample.defined)


@pytest.mark.parametrize("declared", [True, False])
async def test_references(client: Editor, tmp_path: Path, sample: Sample, *, declared: bool) -> None:
    one = await opened(client, tmp_path, sample)
    context = lsp.ReferenceContext(include_declaration=declared)
    found = await client.text_document_references_async(lsp.ReferenceParams(context, one.identifier, one.at))
    assert found
    assert texts_at(one.text, [place.range for place in found]) == [sample.name] * (sample.places - (not declared))


async def test_highlights(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    found = await client.text_document_document_highlight_async(lsp.DocumentHighlightParams(one.identifier, one.at))
    assert found
    assert texts_at(one.text, [place.range for place in found]) == [sample.name] * sample.places
    assert [place.kind for place in found].count(lsp.DocumentHighlightKind.Write) == 1


async def test_symbols_are_inside_of_each_other(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    found = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(one.identifier))
    names, lines = [], 0
    left = list(found or ())
    while left:
        symbol = left.pop()
        assert isinstance(symbol, lsp.DocumentSymbol)
        assert symbol.range.start <= symbol.selection_range.start
        assert symbol.selection_range.end <= symbol.range.end
        names.append(symbol.name)
        lines = max(lines, symbol.range.end.line - symbol.range.start.line)
        left += symbol.children or ()
    assert {*sample.outline} <= {*names}
    assert lines > 1


async def test_folding(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    found = await client.text_document_folding_range_async(lsp.FoldingRangeParams(one.identifier))
    assert found
    assert all(0 <= part.start_line < part.end_line < len(one.text.split("\n")) for part in found)


async def test_hover(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    found = await client.text_document_hover_async(lsp.HoverParams(one.identifier, one.at))
    assert found
    assert isinstance(found.contents, lsp.MarkupContent)
    for part in sample.shown:
        assert part in found.contents.value
    assert found.range
    assert texts_at(one.text, [found.range]) == [sample.name]


async def test_hover_uses_the_last_good_program(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    await client.type(one.uri, one.text.replace(*sample.broken))
    found = await client.text_document_hover_async(lsp.HoverParams(one.identifier, one.at))
    assert found
    assert isinstance(found.contents, lsp.MarkupContent)
    assert sample.shown[1] in found.contents.value


async def test_the_lens(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    (lens,) = await client.text_document_code_lens_async(lsp.CodeLensParams(one.identifier)) or ()
    assert lens.command
    assert (lens.command.title, lens.command.command) == ("Show the flow", "rdc.showFlow")
    assert lens.command.arguments == (one.uri,)


async def test_completion_offers_the_name_and_completes_it(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    before, after = sample.text.split(CURSOR)
    start, rest = before.rindex(sample.name[0]), sample.name[len(before) - before.rindex(sample.name[0]) :]
    text, at = cursor(f"{before[:start]}{CURSOR}{after.removeprefix(rest)}")
    client.type_fast(one.uri, text)
    found = await client.text_document_completion_async(lsp.CompletionParams(one.identifier, at))
    assert isinstance(found, list | tuple)
    items = {item.label: item for item in found}
    assert sample.name in items
    edit = items[sample.name].text_edit
    assert isinstance(edit, lsp.TextEdit)
    assert edited(text, [edit]) == one.text


async def test_rename_changes_all_places_and_nothing_else(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    allowed = await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(one.identifier, one.at))
    assert isinstance(allowed, lsp.PrepareRenamePlaceholder)
    assert allowed.placeholder == sample.name
    found = await client.text_document_rename_async(lsp.RenameParams(one.identifier, one.at, "another_name"))
    assert found
    (change,) = found.document_changes or ()
    assert isinstance(change, lsp.TextDocumentEdit)
    edits = [edit for edit in change.edits if isinstance(edit, lsp.TextEdit)]
    assert texts_at(one.text, [edit.range for edit in edits]) == [sample.name] * sample.places
    await client.type(one.uri, edited(one.text, edits))
    assert client.codes(one.uri) == []


async def test_formatting(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    options = lsp.DocumentFormattingParams(one.identifier, lsp.FormattingOptions(tab_size=2, insert_spaces=True))
    assert not await client.text_document_formatting_async(options)
    if sample.file.endswith(".json"):
        return
    worse = one.text + "\n\n"
    await client.type(one.uri, worse)
    edits = await client.text_document_formatting_async(options)
    assert edited(worse, edits or ()) == one.text
