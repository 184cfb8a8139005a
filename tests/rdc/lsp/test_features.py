"""Each feature of the language server for each format."""

from pathlib import Path
from typing import NamedTuple

import pytest
from lsprotocol import types as lsp

from tests.rdc.lsp.documents import PLAYBOOK, RUNBOOK, SPECIFICATION, WORKFLOW, at
from tests.support.editor import CURSOR, Editor, changed, cursor, edited, texts_at

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


PROGRAM = """\
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
"""
SAMPLES = {
    "rundown": Sample(
        "deploy.runbook.md",
        at(RUNBOOK, "GOTO Roll‸back\n\n## 2"),
        "Rollback",
        "## Rollback",
        4,
        ("1. Back up in {{region}}", "Rollback to {{backup}}"),
        ("step Rollback", './restore "$backup"', "STOP", "Used in 3 places"),
        ("NO: GOTO Rollback", "NO: GOTO Rolback"),
        "RD201",
    ),
    "playbook": Sample(
        "note.playbook.md",
        at(PLAYBOOK, "{{sor‸ted}}"),
        "sorted",
        "@output(sorted)",
        2,
        ("STEP 1: Sort", "STEP 2: Write"),
        ("output sorted", "Written by 1", "Used in 1 place"),
        ("and {{changes}}.", "and {{chanes}}."),
        "RD721",
    ),
    "agent_workflow": Sample(
        "note.workflow.yaml",
        at(WORKFLOW, "goto: fin‸ish"),
        "finish",
        "  - name: finish",
        2,
        ("draft", "finish"),
        ("step finish", "Repeat draft.md.", "Used in 1 place"),
        ("    end: true", "    next: finis"),
        "RD817",
    ),
    "stepspec": Sample(
        "notes.stepspec.yaml",
        at(SPECIFICATION, "{subject‸}"),
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
        PROGRAM,
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

    uri: str
    text: str
    at: lsp.Position

    @property
    def identifier(self) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri)

    def texts(self, places: list[lsp.Range]) -> list[str]:
        return texts_at(self.text, places)


async def opened(client: Editor, folder: Path, sample: Sample) -> Opened:
    text, at = cursor(sample.text)
    uri = await client.open(folder / sample.file, text)
    assert client.codes(uri) == []
    return Opened(uri, text, at)


async def test_places_of_a_name(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    found = await client.text_document_definition_async(lsp.DefinitionParams(one.identifier, one.at))
    assert isinstance(found, list | tuple)
    (place,) = found
    assert isinstance(place, lsp.Location)
    assert one.texts([place.range]) == [sample.name]
    assert one.text.split("\n")[place.range.start.line].startswith(sample.defined)
    for declared in (True, False):
        context = lsp.ReferenceContext(include_declaration=declared)
        uses = await client.text_document_references_async(lsp.ReferenceParams(context, one.identifier, one.at))
        assert one.texts([use.range for use in uses or ()]) == [sample.name] * (sample.places - (not declared))
    lit = await client.text_document_document_highlight_async(lsp.DocumentHighlightParams(one.identifier, one.at))
    assert one.texts([place.range for place in lit or ()]) == [sample.name] * sample.places
    assert [place.kind for place in lit or ()].count(lsp.DocumentHighlightKind.Write) == 1


async def test_symbols_are_nested_beside_folds_and_the_lens(client: Editor, tmp_path: Path, sample: Sample) -> None:
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
    folds = await client.text_document_folding_range_async(lsp.FoldingRangeParams(one.identifier))
    assert folds
    assert all(0 <= part.start_line < part.end_line < len(one.text.split("\n")) for part in folds)
    (lens,) = await client.text_document_code_lens_async(lsp.CodeLensParams(one.identifier)) or ()
    assert lens.command
    assert (lens.command.title, lens.command.command) == ("Show the flow", "rdc.showFlow")
    assert lens.command.arguments == (one.uri,)


async def test_diagnostics_and_hover_of_the_last_good_program(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    shown, place = await client.hover(one.uri, one.at)
    assert [part for part in sample.shown if part not in shown] == []
    assert place
    assert one.texts([place]) == [sample.name]
    await client.type(one.uri, one.text.replace(*sample.broken))
    assert sample.code in client.codes(one.uri)
    assert sample.shown[1] in (await client.hover(one.uri, one.at))[0]
    await client.type(one.uri, one.text)
    assert client.codes(one.uri) == []


async def test_completion_offers_the_name_and_completes_it(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    before, after = sample.text.split(CURSOR)
    start, rest = before.rindex(sample.name[0]), sample.name[len(before) - before.rindex(sample.name[0]) :]
    text, at = cursor(f"{before[:start]}{CURSOR}{after.removeprefix(rest)}")
    client.type_fast(one.uri, text)
    found = await client.text_document_completion_async(lsp.CompletionParams(one.identifier, at))
    assert isinstance(found, list | tuple)
    edit = {item.label: item for item in found}[sample.name].text_edit
    assert isinstance(edit, lsp.TextEdit)
    assert edited(text, [edit]) == one.text


async def test_rename_changes_all_places_and_nothing_else(client: Editor, tmp_path: Path, sample: Sample) -> None:
    one = await opened(client, tmp_path, sample)
    allowed = await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(one.identifier, one.at))
    assert isinstance(allowed, lsp.PrepareRenamePlaceholder)
    assert allowed.placeholder == sample.name
    found = await client.text_document_rename_async(lsp.RenameParams(one.identifier, one.at, "another_name"))
    (edits,) = changed(found).values()
    assert one.texts([edit.range for edit in edits]) == [sample.name] * sample.places
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
