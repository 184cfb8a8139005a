"""The parser gives the trees and the errors that Lark gives for the same grammar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from compiler.grammar import END, Node, Parser, Token, UnexpectedTokenError, load, parse
from tests import tables
from tests.conftest import ROOT

Error = tuple[int, frozenset[str]]

WORDS = (
    *("PASS", "FAIL", "YES", "NO", "ALL", "ANY", "NEXT", "CONTINUE", "COMPLETE", "STOP", "GOTO", "RETRY"),
    *("{N}", "{n}", ".", ":", ")", "(", "-", "—", "→", " ", "\t", "1", "20", "Recover", "Next", "STOPPED", "é"),
    *('"', "\\", '"done"', r'"a\"b"'),
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
BLOCKS = ["rundown", "playbook"]


@cache
def by_lark(name: str) -> lark.Lark:
    return tables.lark_parser(ROOT / "grammars" / f"{name}.lark")


def terminals(name: str) -> list[str]:
    return sorted({symbol for row in load(name).states for symbol in row if symbol.isupper()} - {END})


def as_node(part: Any, as_token: Callable[[lark.Token], object] = lambda token: token) -> Any:
    """Return a tree of Lark's as one of ours."""
    if isinstance(part, lark.Tree):
        return Node(part.data, [as_node(child, as_token) for child in part.children])
    return as_token(part) if isinstance(part, lark.Token) else part


def line_by_lark(text: str, start: str) -> Node | Error:
    try:
        tree = by_lark("rundown_line").parse(text, start=start)
    except UnexpectedCharacters as error:
        return error.column - 1, frozenset(error.allowed)
    except UnexpectedToken as error:
        column = len(text) if error.token.type == END else error.token.start_pos
        return column or 0, frozenset(error.expected)
    node: Node = as_node(tree, lambda token: Token(token.type, str(token), token.start_pos or 0))
    return node


def line_by_us(text: str, start: str) -> Node | Error:
    try:
        return parse(load("rundown_line"), text, start)
    except UnexpectedTokenError as error:
        return error.column, error.expected


def test_whole_lines_are_parsed_as_by_lark() -> None:
    trees = 0
    for text, start in product(LINES, load("rundown_line").start):
        ours = line_by_us(text, start)
        assert ours == line_by_lark(text, start)
        trees += isinstance(ours, Node)
    assert trees > len(LINES) / 2


@settings(max_examples=150)
@given(_words | _almost_lines | _beginnings)
def test_lines_are_parsed_as_by_lark(text: str) -> None:
    for start in load("rundown_line").start:
        assert line_by_us(text, start) == line_by_lark(text, start)


def refusals(feed: Callable[[lark.Token], object], tokens: Sequence[lark.Token]) -> list[frozenset[str] | None]:
    """For each token None, or what the parser expects instead, which then takes the next token."""
    found: list[frozenset[str] | None] = []
    for token in tokens:
        try:
            feed(token)
            found.append(None)
        except UnexpectedToken as error:
            found.append(frozenset(error.expected))
        except UnexpectedTokenError as error:
            found.append(error.expected)
    return found


@pytest.mark.parametrize("name", BLOCKS)
@settings(max_examples=100)
@given(st.data())
def test_blocks_are_parsed_as_by_lark(name: str, data: st.DataObject) -> None:
    start = data.draw(st.sampled_from(sorted(load(name).start)))
    kinds = data.draw(st.lists(st.sampled_from([*terminals(name), "HEADING"]), max_size=30))
    tokens = [lark.Token(kind, str(place)) for place, kind in enumerate(kinds)]
    theirs, ours = by_lark(name).parse_interactive(start=start), Parser(load(name), start)
    assert refusals(lambda token: ours.feed(token.type, token), tokens) == refusals(theirs.feed_token, tokens)
    assert at_end(ours.end) == at_end(lambda: theirs.feed_token(lark.Token(END, "")))


def at_end(end: Callable[[], Any]) -> Node | frozenset[str]:
    """The whole tree, or what the parser expects instead of the end."""
    try:
        tree = end()
    except UnexpectedToken as error:
        return frozenset(error.expected)
    except UnexpectedTokenError as error:
        return error.expected
    node: Node = as_node(tree)
    return node


def test_a_long_repetition_is_one_list() -> None:
    parser = Parser(load("rundown"), "runbook")
    for number in range(100_000):
        parser.feed("TEXT", number)
    parser.feed("STEP", "step")
    assert parser.end().children[1] == Node("description", list(range(100_000)))


@pytest.mark.parametrize(
    ("grammar", "problem"),
    [
        ('start: WORD | "if"\nWORD: /[a-z]+/', "IF is also WORD"),
        ("?start: A*\nA: /a/", "start: `\\?` with a repetition"),
        ('!start: "a"', "start: `!` is not supported"),
    ],
)
def test_what_the_parser_does_not_support_is_refused(grammar: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "some.lark"
    path.write_text(grammar, encoding="utf-8")
    with pytest.raises(ValueError, match=problem):
        tables.tables(path)
