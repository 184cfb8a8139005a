"""The blocks of runbooks are those of CommonMark: its own examples, all documents of the project, and random ones."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.frontends.rundown.parse.blocks import read_blocks
from compiler.text.source import Source
from tests.conformance.commonmark.oracle import LINES, compared, differences
from tests.conftest import CONFORMANCE, ROOT
from tests.support.node import MissingError, installed

pytestmark = pytest.mark.tool

EXAMPLE = re.compile(r"^`{32} example\n(.*?)^\.\n.*?^`{32}$", re.DOTALL | re.MULTILINE)

DOCUMENTS = [
    path
    for folder in ("examples", "tests", "golden", "docs", CONFORMANCE)
    for path in sorted((ROOT / folder).rglob("*.md"))
]


def examples() -> list[str]:
    try:
        folder = installed(ROOT / "tests" / "conformance" / "commonmark").parent / "node_modules" / "commonmark-spec"
    except MissingError as missing:
        pytest.skip(str(missing))
    return EXAMPLE.findall((folder / "spec.txt").read_text(encoding="utf-8").replace("→", "\t"))


def test_the_examples_of_the_specification_have_their_blocks() -> None:
    texts = examples()
    assert len(texts) == 652
    assert {text: found for text in texts if (found := compared(text))} == {}


def test_all_documents_have_their_blocks() -> None:
    assert len(DOCUMENTS) > 100
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in DOCUMENTS]
    assert {path: found for path, text in zip(DOCUMENTS, texts, strict=True) if (found := compared(text))} == {}


@given(st.lists(st.sampled_from(LINES), max_size=8).map("\n".join))
def test_random_documents_have_their_blocks(text: str) -> None:
    assert differences(text) == []


@given(st.text(st.sampled_from("#`~-*+>.:1 \t\n\r<![]()\\aé\ud800"), max_size=30))
def test_random_characters_have_their_blocks(text: str) -> None:
    assert differences(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [a]: /b\nc", ["TEXT 1-2"]),  # a definition begins as a paragraph, which goes on lazily
        ("[a]: /b\n10. c", ["TEXT 2-2 paragraph"]),  # as a paragraph it can only be interrupted by a list from 1 on
        ("   + a\n\t<div>", ["TEXT 1-2"]),  # so far to the right no HTML begins
        ("a\n\f\nb", ["TEXT 1-3 paragraph"]),  # blank lines consist of spaces and tabs
        ("</pre>\xa0", ["TEXT 1-1 paragraph"]),  # only spaces and tabs may stand behind the tag
        ("```\na\n```\t\n- b", ["CODE 1-3", "TEXT 4-4"]),
        ("```\na\n\xa0```\n- b", ["CODE 1-4 open"]),
        ("```\na\n    ```", ["CODE 1-3 open"]),
        ("<script>\n</pre>\n- a", ["TEXT 1-2", "TEXT 3-3"]),  # each of four tags ends any of the four
        ("<TEXTAREA>\n</Style>\n- a", ["TEXT 1-2", "TEXT 3-3"]),
    ],
)
def test_where_parsers_differ_the_specification_decides(text: str, expected: list[str]) -> None:
    found = [
        f"{block.type} {block.line}-{block.end_line}"
        + (" paragraph" if block.info == "paragraph" else "")
        + ("" if block.closed else " open")
        for block in read_blocks(Source.from_text("a.runbook.md", text), 1)
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("  ```\n\ta\n  ```", "  a\n"),  # a tab that goes further than the fence is indented
        ("  ```\n\t\ta\n    b\n c\n  ```", "  \ta\n  b\nc\n"),
        ("```\na", "a"),
        ("```\n```", ""),
    ],
)
def test_code_is_without_the_indentation_of_its_fence(text: str, code: str) -> None:
    [block] = read_blocks(Source.from_text("a.runbook.md", text), 1)
    assert block.text == code


@pytest.mark.parametrize(
    "line", ["a" + "\t" * 200_000 + "x", "# T" + " " * 200_000 + "x", "# " + "#" * 200_000 + "x", " \t" * 100_000]
)
def test_long_lines_take_little_time(line: str) -> None:
    begun = time.perf_counter()
    assert len(list(read_blocks(Source.from_text("a.runbook.md", f"{line}\n\n{line}\n"), 1))) in {0, 2}
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize("before", ["", "é\n\n", "\U0001f600\U0001f600\n\n", "\ud800\n\n", "\0\n\n", "\t\r\n\r"])
def test_places_are_exact_behind_any_characters(before: str) -> None:
    text = f"{before}- é PASS: a\n- PASS: CONTINUE\n\n```sh\na\n```\n"
    lines = len(Source.from_text("a", before).lines) - 1
    blocks = list(read_blocks(Source.from_text("a", text), 1))[-3:]
    assert [(block.type, block.line - lines, block.column) for block in blocks] == [
        ("TEXT", 1, 3),
        ("TRANSITION", 2, 3),
        ("CODE", 4, 1),
    ]
