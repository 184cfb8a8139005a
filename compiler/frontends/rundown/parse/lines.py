"""Parse header and transition lines: the text of a heading or list item becomes a small syntax tree, and back.

Columns count from 0 within the text; the caller knows the place of the text in the document.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, cast

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
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
from compiler.reading.grammar import Node, load
from compiler.text.regex import Regex
from compiler.text.source import Span

RESERVED = ("NEXT", "CONTINUE", "COMPLETE", "STOP", "GOTO", "RETRY", "PASS", "FAIL", "YES", "NO", "ALL", "ANY")
"""The words that cannot be names. They match exactly, so `Next` is a name (section 2)."""

COUNT = "a number of at least 1"
"""The count that a RETRY expects, as its diagnostic names it (G3)."""

LARGEST_NUMBER_LENGTH = 9
"""The most digits of a number; longer ones are errors (RD037), and shells could not count with them."""

NUMBERS = frozenset({"STEP_ID", "CHILD_ID", "INTEGER"})
"""The terminals that can be numbers."""


class Header(Struct, frozen=True):
    """The parsed text of an H2 (`child` is None) or an H3; `separator` is between the identifier and the title."""

    step: Identifier
    child: Identifier | None
    title: str
    separator: str = ""


class LineError(Struct, frozen=True):
    """A line breaks its grammar, at a column and word; `expected` are the kinds of token that could follow."""

    code: str
    column: int
    word: str
    expected: tuple[str, ...] = ()


Kind = Literal["step", "substep"]

NUMBERED: dict[Kind, re.Pattern[str]] = {
    "step": Regex(r"([0-9]{1,9})()([.:)—→ \t-]++)(\S.*)"),
    "substep": Regex(r"([0-9]{1,9})\.([0-9]{1,9})([.:)—→ \t-]++)(\S.*)"),
}
"""Matches the usual headers, which differ only in their numbers and titles."""


def parse_header(text: str, kind: Kind) -> Header | LineError:
    """Return the identifier and title of a heading's text (G1), or its error.

    For a usual header, only its shape is parsed, with 1 for each number and T for the title. A document has few shapes,
    so they are cached.
    """
    if match := NUMBERED[kind].fullmatch(text):
        step, child, separator, title = match.groups()
        like = _header(f"1{'.1' if child else ''}{separator}T", kind)
        if isinstance(like, Header):
            return Header(int(step), int(child) if child else None, title.rstrip(), like.separator)
    return _header(text, kind)


@lru_cache(maxsize=4096)
def _header(text: str, kind: Kind) -> Header | LineError:
    tree = _parse(text, kind)
    if isinstance(tree, LineError):
        return tree
    step, *child, separator, title = tree.children
    return Header(
        _identifier(step), _identifier(child[0]) if child else None, (title or "").strip(), str(separator or "")
    )


def parse_transition(text: str, line: int = 0, column: int = 0) -> Transition | LineError:
    """Return the transition in a list item's text at the given place, or its error.

    A quoted message or the step number of a GOTO comes last and varies most. The rest is cached, with a fixed message
    or number in that position.
    """
    if text[-1:] == '"' and (quoted := QUOTED.fullmatch(text, text.index('"'))):
        like = _transition(f'{text[: quoted.start()]}""')
        if isinstance(like, Transition):
            return _placed(like, text, line, column, _unquoted(quoted[0]))
    elif text[-1:].isdecimal() and (numbered := NUMBERED_GOTO.fullmatch(text)):
        like = _transition(f"{numbered[1]}1")
        if isinstance(like, Transition):
            return _placed(like, text, line, column, "", int(numbered[2]))
    like = _transition(text)
    return _placed(like, text, line, column) if isinstance(like, Transition) else like


QUOTED = Regex(r'"(?:\\.|[^"\\])*"')
NUMBERED_GOTO = Regex(r"(.*\bGOTO[ \t]+)([0-9]{1,9})")


def _placed(
    like: Transition, text: str, line: int, column: int, message: str = "", step: int | None = None
) -> Transition:
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
def _transition(text: str) -> Transition | LineError:
    tree = _parse(text, "transition")
    if isinstance(tree, LineError):
        return tree
    word, modifier, result = tree.children
    retries, action = _result(result)
    return Transition(Word(word), modifier and Modifier(modifier), retries, action, Span(0, 0, 0, len(text)))


def _parse(text: str, start: str) -> Node | LineError:
    try:
        tree: Any = load("rundown_line", "step", "substep", "transition", lexer="contextual").parse(text, start=start)
    except UnexpectedCharacters as error:
        return _line_error(text, error.column - 1, error.allowed)
    except UnexpectedToken as error:
        column = len(text) if error.token.type == "$END" else error.token.start_pos
        return _line_error(text, column or 0, error.expected)
    for token in tree.scan_values(lambda one: one is not None and one.type in NUMBERS and one[0].isdigit()):
        if len(token) > LARGEST_NUMBER_LENGTH:
            return LineError("RD037", token.start_pos, token.value)
        if token.type == "INTEGER" and int(token) < 1:
            return LineError("RD040", token.start_pos, token.value, (COUNT,))
    return cast("Node", tree)


def _line_error(text: str, column: int, allowed: set[str]) -> LineError:
    """Return the parser's error in whole words: `STOPPED` is one wrong word, not STOP and a rest."""
    column += len(text[column:]) - len(text[column:].lstrip(" \t"))
    while 0 < column < len(text) and _in_word(text[column - 1]) and _in_word(text[column]):
        column -= 1
    match = re.compile(r"\w+|\S").match(text, column)
    word = match[0] if match else ""
    expected = tuple(sorted(allowed))
    if word == "RETRY" and "RETRY" in text[:column]:
        return LineError("RD041", column, word, expected)
    if word in RESERVED and {"NAME", "STEP_ID", "CHILD_ID"} & set(expected):
        return LineError("RD035", column, word, expected)
    return LineError("RD040", column, word, expected)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _identifier(token: Token) -> Identifier:
    if token in {"{N}", "{n}"}:
        return Dynamic(token)
    return int(token) if token[0].isdigit() else str(token)


def _result(tree: Node) -> tuple[int, Action]:
    """Return the number of retries and the action, with short forms of RETRY expanded (G3)."""
    if tree.data != "retry":
        return 0, _action(tree.children[0])
    count, action = tree.children
    retries = 1 if count is None else int(count)
    return retries, _action(action) if isinstance(action, Node) else Stop(_message(action))


def _action(tree: Node) -> Action:
    match tree.data, tree.children:
        case "continue", _:
            return Continue()
        case "complete", [message]:
            return Complete(_message(message))
        case "stop", [message]:
            return Stop(_message(message))
        case "next", _:
            return Goto(_goal(tree.children))
        case _:
            return Goto(_goal(tree.children[0].children))


def _goal(tokens: Sequence[Token | None]) -> Target:
    """Return the target of a GOTO: NEXT, a step, and a substep, as far as they are written."""
    known = [token for token in tokens if token]
    step, child, *_ = [*(_identifier(token) for token in known if token.type != "NEXT"), None, None]
    return Target(known[0].type == "NEXT", step, child, Span(0, known[0].start_pos or 0, 0, known[-1].end_pos or 0))


def _message(token: Token | None) -> str:
    """Return a message: a bare name, or a quoted string with the two escapes (G5)."""
    if token is None:
        return ""
    return str(token) if token.type == "NAME" else _unquoted(token)


def _unquoted(text: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", text[1:-1]) if "\\" in text else text[1:-1]


def print_transition(transition: Transition) -> str:
    """Return the full text of a transition's list item."""
    modifier = f" {transition.modifier}" if transition.modifier else ""
    retry = f"RETRY {transition.retries} " if transition.retries else ""
    return f"{transition.word}{modifier}: {retry}{_printed(transition.action)}"


def _printed(action: Action) -> str:
    if isinstance(action, Goto):
        return f"GOTO {action.target}"
    if isinstance(action, Continue):
        return "CONTINUE"
    message = re.sub(r'(["\\])', r"\\\1", action.message)
    word = "COMPLETE" if isinstance(action, Complete) else "STOP"
    return f'{word} "{message}"' if message else word
