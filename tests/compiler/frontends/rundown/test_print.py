"""Printing a syntax tree and parsing it again gives the same tree, for random runbooks and for every example."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec import Struct
from msgspec.structs import fields

from compiler.diagnostics.model import Severity
from compiler.frontends.rundown import LAYOUTS, Layout
from compiler.frontends.rundown.parse.document import parse
from compiler.frontends.rundown.syntax import Runbook
from compiler.text.source import Source, Span
from tests.compiler.frontends.rundown.printing import print_runbook
from tests.differential.generate.rundown import Drawn, cases

EXAMPLES = sorted(Path("examples").rglob("*.runbook.md"))
CONFORMANCE = sorted(Path("../shared/conformance/rundown/valid").glob("*.runbook.md"))


def without_spans(value: object) -> object:
    """A tree as plain data without its places."""
    if isinstance(value, Struct):
        names = (field.name for field in fields(value))
        return {name: without_spans(getattr(value, name)) for name in names if name != "span"}
    if isinstance(value, tuple):
        return [without_spans(item) for item in value if not isinstance(item, Span)]
    if isinstance(value, Mapping):
        return {name: without_spans(inner) for name, inner in value.items()}
    assert not isinstance(value, Span)
    return value


def parsed(text: str, layout: Layout | None = None) -> Runbook:
    tree, found, *_ = parse(Source.from_text("main.runbook.md", text), layout)
    assert tree, found
    assert not [item for item in found if item.severity is Severity.ERROR]
    return tree


@pytest.mark.most(10)
@settings(max_examples=40)
@given(cases())
def test_printing_a_random_runbook_keeps_its_tree(case: Drawn) -> None:
    layout: Layout = "after-header" if case.style.after_header else "after-body"
    for text in case.documents().values():
        tree = parsed(text.removeprefix("\ufeff"))
        assert without_spans(parsed(print_runbook(tree, layout))) == without_spans(tree)


@pytest.mark.parametrize("path", EXAMPLES + CONFORMANCE, ids=lambda path: path.name)
def test_printing_a_real_runbook_keeps_its_tree(path: Path) -> None:
    tree = parsed(path.read_text(encoding="utf-8"))
    plain = without_spans(tree)
    for layout in LAYOUTS:
        printed = print_runbook(tree, layout)
        assert without_spans(parsed(printed, layout)) == plain
        assert layout == "after-body" or without_spans(parsed(printed)) == plain, "the text shows its layout"


def test_every_part_of_a_document_is_printed() -> None:
    head = "---\nname: all\ntags:\n- a\n---\n\n# Title\n\nDescription.\n\n"
    items = '## {N}. Items\n\nPrompt.\n\n- this\n\n````sh\n```\n````\n\n- FAIL ANY: STOP "no \\\\ \\"luck\\""\n\n'
    first = "### {N}.1 First\n\n```json prompt\n{}\n```\n\n- YES: GOTO {N}.Second\n- NO: RETRY 2 GOTO NEXT\n\n"
    second = '### {N}.Second\n\n- a.runbook.md\n\n- PASS: COMPLETE "done"\n\n'
    text = f"{head}{items}{first}{second}## Cleanup up\n\n~~~a`b\nx\n~~~\n"
    assert print_runbook(parsed(text)) == text
