"""Loads the Lark grammars of the folder `grammars/`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any

from lark import Lark
from lark.lexer import Lexer, LexerState, Token


class NoLexer(Lexer):
    """For grammars over blocks: the tokens are made elsewhere and fed to the parser one by one."""

    def __init__(self, _configuration: object) -> None:
        """Lark hands its lexer configuration over; there is nothing to configure."""

    def lex(self, _lexer_state: LexerState, _parser_state: Any) -> Iterator[Token]:
        """No tokens."""
        return iter(())


def load(name: str, start: Sequence[str], **options: Any) -> Lark:
    """The LALR parser of a grammar file with its start symbols; `options` are Lark's own."""
    text = resources.files("grammars").joinpath(name).read_text(encoding="utf-8")
    return Lark(text, parser="lalr", start=list(start), maybe_placeholders=True, **options)
