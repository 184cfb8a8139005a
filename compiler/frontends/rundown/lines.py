"""Parse header and transition lines: the text of a heading or list item becomes a small syntax tree.

Columns count from 0 within the text; the caller knows the place of the text in the document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from compiler.frontends.rundown.syntax import (
    Action,
    Complete,
    Continue,
    Dynamic,
    Goto,
    Identifier,
    Modifier,
    Stop,
    Target,
    Transition,
    Word,
)
from compiler.grammar import Node, Token, UnexpectedTokenError, load, parse
from compiler.regex import Regex
from compiler.source import Span

RESERVED = frozenset(
    {"NEXT", "CONTINUE", "COMPLETE", "STOP", "GOTO", "RETRY", "PASS", "FAIL", "YES", "NO", "ALL", "ANY"}
)
"""The words that cannot be names. They match exactly, so `Next` is a name (section 2)."""

COUNT = "a number of at least 1"
"""The count that a RETRY expects, as its diagnostic names it (G3)."""

LARGEST_NUMBER_LENGTH = 9
"""The most digits of a number; longer ones are errors (RD037), and shells could not count with them."""


class Header(Struct, frozen=True):
    """The parsed text of an H2 (`child` is None) or an H3."""

    step: Identifier
    child: Identifier | None
    title: str


class LineError(Exception):
    """A line breaks its grammar, at a column and word; `expected` are the kinds of token that could follow."""

    def __init__(self, code: str, column: int, word: str, expected: Sequence[str]) -> None:
        super().__init__(code, column, word)
        self.code = code
        self.column = column
        self.word = word
        self.expected = tuple(expected)


Kind = Literal["step", "substep"]

NUMBERED: dict[Kind, re.Pattern[str]] = {
    "step": Regex(r"([0-9]{1,9})([.:)—→ \t-]++)(\S.*)"),
    "substep": Regex(r"([0-9]{1,9})\.([0-9]{1,9})([.:)—→ \t-]++)(\S.*)"),
}
"""Matches the usual headers, which differ only in their numbers and titles."""


def parse_header(text: str, kind: Kind) -> Header:
    """Return the identifier and title of a heading's text (G1); raise `LineError`.

    For a usual header, only its shape is parsed, with 1 for each number and T for the title. A document has few shapes,
    so they are cached.
    """
    match = NUMBERED[kind].fullmatch(text)
    if match is None:
        return _header(text, kind)
    if kind == "step":
        step, separator, title = match.groups()
        _header(f"1{separator}T", kind)
        return Header(int(step), None, title.rstrip())
    step, child, separator, title = match.groups()
    _header(f"1.1{separator}T", kind)
    return Header(int(step), int(child), title.rstrip())


@lru_cache(maxsize=4096)
def _header(text: str, kind: Kind) -> Header:
    tree = _parse(text, kind)
    step, *child, title = tree.children
    return Header(
        _identifier(step),
        _identifier(child[0]) if child else None,
        "" if title is None else title.text.strip(),
    )


def parse_transition(text: str, line: int = 0, column: int = 0) -> Transition:
    """Return the transition in a list item's text at the given place; raise `LineError`.

    A quoted message or the step number of a GOTO comes last and varies most. The rest is cached, with a fixed message
    or number in that position.
    """
    try:
        if text[-1:] == '"' and (quoted := QUOTED.fullmatch(text, text.index('"'))):
            like = _transition(f'{text[: quoted.start()]}""')
            return _placed(like, text, line, column, _unquoted(quoted[0]))
        if text[-1:].isdecimal() and (numbered := NUMBERED_GOTO.fullmatch(text)):
            return _placed(_transition(f"{numbered[1]}1"), text, line, column, "", int(numbered[2]))
    except LineError:
        pass  # parse the text itself, so that the error has its columns
    return _placed(_transition(text), text, line, column)


QUOTED = Regex(r'"(?:\\.|[^"\\])*"')
NUMBERED_GOTO = Regex(r"(.*\bGOTO[ \t]+)([0-9]{1,9})")


def _placed(
    like: Transition, text: str, line: int, column: int, message: str = "", step: int | None = None
) -> Transition:
    """Return a cached transition at its place, with its own message or GOTO number."""
    action, end = like.action, column + len(text)
    if isinstance(action, Goto):
        target, place = action.target, action.target.span
        if step is None:
            span = Span(line, column + place.column, line, column + place.end_column)
            action = Goto(Target(target.next, target.step, target.child, span))
        else:
            action = Goto(Target(target.next, step, None, Span(line, column + place.column, line, end)))
    elif message and isinstance(action, Stop | Complete):
        action = type(action)(message)
    return Transition(like.word, like.modifier, like.retries, action, Span(line, column, line, end))


@lru_cache(maxsize=4096)
def _transition(text: str) -> Transition:
    word, modifier, result = _parse(text, "transition").children
    span = Span(0, 0, 0, len(text))
    retries, action = _result(result)
    return Transition(Word(word.text), None if modifier is None else Modifier(modifier.text), retries, action, span)


def _parse(text: str, start: str) -> Node:
    try:
        return parse(load("rundown_line"), text, start)
    except UnexpectedTokenError as error:
        raise _line_error(text, error) from None


def _line_error(text: str, error: UnexpectedTokenError) -> LineError:
    """Return the parser's error in whole words: `STOPPED` is one wrong word, not STOP and a rest."""
    column = error.column
    column += len(text[column:]) - len(text[column:].lstrip(" \t"))
    while 0 < column < len(text) and _in_word(text[column - 1]) and _in_word(text[column]):
        column -= 1
    match = re.compile(r"\w+|\S").match(text, column)
    word = match[0] if match else ""
    expected = sorted(error.expected)
    if word == "RETRY" and "RETRY" in text[:column]:
        return LineError("RD041", column, word, expected)  # G3
    if word in RESERVED and {"NAME", "STEP_ID", "CHILD_ID"} & set(expected):
        return LineError("RD035", column, word, expected)
    return LineError("RD040", column, word, expected)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _identifier(token: Token) -> Identifier:
    if token.text in {"{N}", "{n}"}:
        return Dynamic(token.text)
    return _number(token) if token.text[0].isdigit() else token.text


def _number(token: Token) -> int:
    if len(token.text) > LARGEST_NUMBER_LENGTH:
        raise LineError("RD037", token.column, token.text, ())
    return int(token.text)


def _result(tree: Node) -> tuple[int, Action]:
    """Return the number of retries and the action, with short forms of RETRY expanded (G3)."""
    if tree.rule != "retry":
        return 0, _action(tree.children[0])
    count, action = tree.children
    retries = 1 if count is None else _number(count)
    if retries < 1:
        raise LineError("RD040", count.column, count.text, (COUNT,))
    if action is None:
        return retries, Stop()
    return retries, Stop(_message(action)) if isinstance(action, Token) else _action(action)


def _action(tree: Node) -> Action:
    children = tree.children
    match tree.rule:
        case "continue":
            return Continue()
        case "complete":
            return Complete(_message(children[0]))
        case "stop":
            return Stop(_message(children[0]))
        case "next":
            return Goto(Target(True, None, None, _span(children[0], children[0])))
        case _:
            return Goto(_target(children[0]))


def _target(tree: Node) -> Target:
    advance = tree.children[0] if tree.rule == "next_target" else None
    place = tree.children[-1]
    step, child = (None, None) if place is None else place.children
    tokens = [token for token in (advance, step, child) if token is not None]
    return Target(
        advance is not None,
        None if step is None else _identifier(step),
        None if child is None else _identifier(child),
        _span(tokens[0], tokens[-1]),
    )


def _span(first: Token, last: Token) -> Span:
    return Span(0, first.column, 0, last.end)


def _message(token: Token | None) -> str:
    """Return a message: a bare name, or a quoted string with the two escapes (G5)."""
    if token is None:
        return ""
    return token.text if token.type == "NAME" else _unquoted(token.text)


def _unquoted(text: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", text[1:-1]) if "\\" in text else text[1:-1]
