"""Parse with the Lark grammars in the folder `grammars/`."""

import re
from functools import cache
from typing import Any, Literal, Protocol, cast

from lark import Lark, Token, Tree
from lark.parsers.lalr_interactive_parser import InteractiveParser

Patterns = dict[str, re.Pattern[str]]
"""The compiled patterns of terminals by their names."""


class Node(Tree[Any]):
    """A node of a syntax tree: the rule in `data`, and nodes, tokens, or None for a missing optional part."""

    children: list[Any]


class Typed(Protocol):
    """A token that a scanner found; `type` is its terminal."""

    @property
    def type(self) -> str:
        """The name of a terminal of the grammar."""


@cache
def load(name: str, *start: str, lexer: Literal["basic", "contextual"] = "basic") -> Lark:
    """Return the parser of `grammars/<name>.lark` for these start symbols.

    A grammar whose tokens come from a scanner needs no contextual lexer, which takes a third of the time to build.
    """
    options: dict[str, Any] = {"parser": "lalr", "lexer": lexer, "start": list(start), "tree_class": Node}
    return Lark.open_from_package("grammars", f"{name}.lark", maybe_placeholders=True, **options)


def patterns_of(parser: Lark) -> Patterns:
    """Return the pattern of each terminal that has one, for scanners of lines and blocks."""
    return {terminal.name: re.compile(terminal.pattern.to_regexp()) for terminal in parser.terminals}


def feed(parser: InteractiveParser, token: Typed) -> None:
    """Pass the next token to a parser; raise `UnexpectedToken`, after which you can pass another one.

    Lark reads only the type of such a token, and its tree holds the token itself.
    """
    parser.feed_token(cast("Token", token))


def end(parser: InteractiveParser) -> Node:
    """Return the tree of all tokens; raise `UnexpectedToken` if another one must follow."""
    tree: Node = parser.feed_token(Token("$END", ""))
    return tree
