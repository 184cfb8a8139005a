"""Lark reads the grammars: what they decide, how a parser goes on after an error, and what no parser repeats."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import UnexpectedToken
from msgspec import Struct

from compiler.frontends.common.interface import Job
from compiler.frontends.playbook.parse import lines as playbook
from compiler.frontends.rundown.format.document import format_document
from compiler.frontends.rundown.parse import blocks, lines
from compiler.frontends.rundown.parse import outline as scanning
from compiler.frontends.rundown.parse.document import parse
from compiler.frontends.rundown.parse.lines import LineError
from compiler.frontends.rundown.parse.outline import scan
from compiler.project.project import open_project
from compiler.reading.grammar import Node, end, feed, patterns_of
from compiler.text.source import Source
from tests.conftest import ROOT

WORDS = (
    *("PASS", "FAIL", "YES", "NO", "ALL", "ANY", "NEXT", "CONTINUE", "COMPLETE", "STOP", "GOTO", "RETRY"),
    *("{N}", "{n}", ".", ":", ")", "(", "-", "—", "→", " ", "\t", "1", "20", "Recover", "Next", "STOPPED", "é"),
    *('"', "\\", '"done"', r'"a\"b"', "0", "1234567890"),
)
ACTIONS = (
    *("CONTINUE", "COMPLETE", "COMPLETE done", "STOP", 'STOP "a b"', "GOTO 3", "GOTO NEXT", "GOTO NEXT 3.{n}"),
    *("GOTO a.b", "NEXT", "RETRY", "RETRY 2", "done"),
)
PARTS = (
    (("PASS", "YES"), ("", " ALL"), ("", " "), (":",), ("", " "), ("", "RETRY ", "RETRY 2 "), ACTIONS),
    (("1", "{N}", "Recover"), ("", ".2", ".{n}"), ("", ". ", ": "), ("", "Title")),
)
LINES = ["".join(line) for parts in PARTS for line in product(*parts)]
"""Transitions and headers."""

_lines = st.sampled_from(LINES)
_words = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)
_almost_lines = st.builds(lambda line, at, word: line[:at] + word + line[at:], _lines, st.integers(0, 20), _words)
_beginnings = st.builds(lambda line, at: line[:at], _lines, st.integers(0, 20))


class Word(Struct, frozen=True):
    """A token of a scanner."""

    type: str
    number: int = 0


def rules(path: Path) -> Iterator[tuple[str, str]]:
    """The name of each rule of a grammar, and the line above it."""
    written = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(written):
        if found := re.match(r"\??([a-z_]+):", line):
            yield found[1], written[number - 1]


@pytest.mark.parametrize("path", sorted((ROOT / "grammars").glob("*.lark")), ids=lambda path: path.stem)
def test_each_rule_has_its_clause_beside_it(path: Path) -> None:
    assert [rule for rule, above in rules(path) if not above.startswith("// ")] == []


def test_lark_reads_the_grammars_themselves() -> None:
    """Nothing is computed from them in advance, and no module has a driver or tables of its own."""
    names = {path.name for path in (ROOT / "grammars").iterdir() if path.name != "__pycache__"}
    assert {Path(name).suffix for name in names - {"__init__.py", "py.typed"}} == {".lark"}
    assert all(isinstance(parser, Lark) for parser in (blocks.grammar(), playbook.grammar()))
    assert blocks.grammar() is blocks.grammar(), "a process builds it once"


ITEMS = {
    "TRANSITION": "- FAIL: STOP",
    "RUNBOOK": "- a.runbook.md",
    "LATER": "- DELEGATE",
    "REMARK": "</details>",
    "COMMENT": "<!-- a -->",
}


@pytest.mark.parametrize("name", ITEMS)
def test_terminals_of_the_grammar_decide_what_a_block_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another pattern in the grammar, the block is text; so no other pattern decides."""
    document = f"## 1. A\n\n```sh\ntrue\n```\n\n{ITEMS[name]}\n"

    def kinds() -> list[str]:
        return [block.type for block in scan(Source.from_text("a.runbook.md", document)).outline][2:]

    assert kinds() == ([] if name == "COMMENT" else [name])
    written = (ROOT / "grammars" / "rundown.lark").read_text(encoding="utf-8")
    other = re.sub(rf"^{name}: .*(\n +\|.*)*", f"{name}: /@/", written, flags=re.MULTILINE)
    known = patterns_of(Lark(other, parser="lalr", start=["runbook", "item"], lexer="basic"))
    for module in (blocks, scanning):
        monkeypatch.setattr(module, "patterns", lambda: known)
    assert kinds() == ["TEXT"]


@settings(max_examples=300)
@given(_lines | _words | _almost_lines | _beginnings)
def test_the_cached_shape_of_a_line_says_what_the_line_says(text: str) -> None:
    for kind in ("step", "substep"):
        assert lines.parse_header(text, kind) == lines._header(text, kind)
    assert lines.parse_transition(text) == lines._transition(text)


def test_lines_are_read_or_have_an_error_in_them() -> None:
    read = 0
    for text in LINES:
        found = (lines.parse_header(text, "step"), lines.parse_header(text, "substep"), lines.parse_transition(text))
        errors = [item for item in found if isinstance(item, LineError)]
        assert all(0 <= error.column <= len(text) for error in errors)
        assert all(text.startswith(error.word, error.column) for error in errors)
        read += len(errors) < len(found)
    assert read > len(LINES) / 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PASS", {"COLON", "_WS"}),
        ("PASS STOP", {"COLON", "MODIFIER"}),
        ("PASS: GOTO", {"_WS"}),
        ("PASS: GOTO +", {"NEXT", "STEP_ID"}),
        ("PASS: GOTO 1.", {"CHILD_ID"}),
        ("PASS: STOP done now", {"<END-OF-FILE>"}),
        ("PASS: RETRY 2 +", {"COMPLETE", "CONTINUE", "GOTO", "NAME", "NEXT", "STOP", "STRING"}),
    ],
)
def test_an_error_names_all_tokens_that_could_follow(text: str, expected: set[str]) -> None:
    found = lines.parse_transition(text)
    assert isinstance(found, LineError)
    assert set(found.expected) == expected


def test_a_header_and_a_transition_are_parsed_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the tree, nor warnings, nor formatting parse them again; formatting reads its result as well."""
    step = "## 1. A\n\n```sh\ntrue\n## 2. B\n```\n\n- PASS: GOTO 2\n- FAIL: STOP\n"
    source = Source.from_text("a.runbook.md", f"{step}\n## 2. C\n\nSee.\n\n- YES: COMPLETE\n")
    parsed: Counter[str] = Counter()

    def counted(read: Callable[..., object]) -> Callable[..., object]:
        def read_one(text: str, *more: object) -> object:
            parsed[text] += 1
            return read(text, *more)

        return read_one

    modules = [module for name, module in sys.modules.items() if name.startswith("compiler.frontends.rundown.")]
    for name in ("parse_header", "parse_transition"):
        counting = counted(getattr(lines, name))
        for module in modules:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, counting)
    assert parse(source).runbook
    assert parsed == dict.fromkeys(["1. A", "PASS: GOTO 2", "FAIL: STOP", "2. C", "YES: COMPLETE"], 1)
    parsed.clear()
    assert format_document(Job(source, open_project(str(tmp_path)), {}, {}, link=False)).text
    assert set(parsed.values()) == {2}


PARSERS = {
    "rundown": lambda: blocks.grammar().parse_interactive(start="runbook"),
    "playbook": lambda: playbook.grammar().parse_interactive(),
}
KINDS = {
    "rundown": ["TITLE", "TEXT", "STEP", "SUBSTEP", "CODE", "RUNBOOK", "TRANSITION", "REMARK", "LATER"],
    "playbook": [*playbook.HEADINGS, *playbook.DIRECTIVES, *playbook.MARKERS, "TITLE", "TEXT", "SUBSTEP", "INPUT"],
}


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=100)
@given(st.data())
def test_a_refused_token_leaves_no_trace_in_the_tree(name: str, data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(KINDS[name]), max_size=30))
    tokens = [Word(kind, place) for place, kind in enumerate(kinds)]
    parser, accepted = PARSERS[name](), []
    for token in tokens:
        with suppress(UnexpectedToken):
            feed(parser, token)
            accepted.append(token)
    try:
        tree = end(parser)
    except UnexpectedToken:
        return
    assert list(tree.scan_values(lambda part: part is not None)) == accepted


def test_a_long_repetition_is_one_list() -> None:
    parser = PARSERS["rundown"]()
    texts: list[Any] = [Word("TEXT", number) for number in range(30_000)]
    for word in texts:
        feed(parser, word)
    feed(parser, Word("STEP"))
    assert end(parser).children[1] == Node("description", texts)
