"""Parse with the LALR tables in the folder `grammars/`.

`tests/tables.py` computes the tables from the grammars with Lark, which is too slow to import here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from operator import itemgetter
from typing import Any

from msgspec import Struct, json

import grammars

END = "$END"
"""The terminal after the last token."""

NOTHING = "<END-OF-FILE>"
"""The terminal that a lexer expects if no token can follow."""

ACCEPT = 0
"""The action for the whole text; no shift has this number, because state 0 is a start state."""


class Token(Struct, frozen=True):
    """A piece of text. `type` is its terminal, and `column` its place in the text, counted from 0."""

    type: str
    text: str
    column: int

    @property
    def end(self) -> int:
        """The column after its last character."""
        return self.column + len(self.text)


class Node(Struct, frozen=True):
    """A node of a syntax tree; its children are nodes, tokens, or None for a missing optional part."""

    rule: str
    children: list[Any]


class UnexpectedTokenError(Exception):
    """A token cannot follow, only the terminals in `expected`. `column` is its place in the text, if there is one."""

    def __init__(self, expected: Iterable[str], column: int = 0) -> None:
        super().__init__(column)
        self.expected = frozenset(expected)
        self.column = column


class Grammar:
    """The tables of a grammar.

    Attributes:
        start: The first state for each start symbol.
        patterns: The regular expression of each terminal; the lexer tries them in this order.
        states: For each state, the next action by symbol: the state to shift or go to, ~rule to reduce, or `ACCEPT`.
        reductions: For each rule, its symbol, its number of parts, and the function that builds its value from them.

    The tables have the name of a rule's node ("" for a helper rule, whose value is a list of children), and its
    children. A child is the index of a part, ~index for a helper's list to insert, or None. If there is only a single
    index, the part replaces the node.
    """

    def __init__(self, tables: dict[str, Any]) -> None:
        self.start: dict[str, int] = tables["start"]
        self.patterns: dict[str, str] = tables["patterns"]
        self.states: list[dict[str, int]] = tables["states"]
        self.reductions = [(symbol, size, _maker(size, name, kept)) for symbol, size, name, kept in tables["rules"]]
        self._compiled: dict[str, re.Pattern[str]] = {}
        self._lexers: dict[int, list[tuple[str, str, re.Pattern[str] | None]]] = {}

    def token(self, text: str, column: int, state: int) -> Token:
        """Return the token at a column that can follow in a state; raise `UnexpectedTokenError`."""
        lexer = self._lexers.get(state) or self._lexer(state)
        for terminal, word, pattern in lexer:
            if pattern is None:
                if text.startswith(word, column):
                    return Token(terminal, word, column)
            elif found := pattern.match(text, column):
                return Token(terminal, found[0], column)
        raise UnexpectedTokenError([terminal for terminal, *_ in lexer] or [NOTHING])

    def _lexer(self, state: int) -> list[tuple[str, str, re.Pattern[str] | None]]:
        """Return the terminals that can follow in a state, as words or as expressions, each compiled once.

        One expression per state would find tokens faster, but rdc would start slower.
        """
        known = self.states[state]
        given = [(name, pattern) for name, pattern in self.patterns.items() if name in known]
        self._lexers[state] = [
            (name, pattern, None if pattern.isalpha() else self._expression(pattern)) for name, pattern in given
        ]
        return self._lexers[state]

    def _expression(self, pattern: str) -> re.Pattern[str]:
        known = self._compiled.get(pattern)
        if known is None:
            known = self._compiled[pattern] = re.compile(pattern)
        return known


@cache
def load(name: str) -> Grammar:
    """Return the grammar `grammars/<name>.lark` from its tables."""
    with open(os.path.join(os.path.dirname(grammars.__file__), f"{name}.json"), "rb") as file:
        return Grammar(json.decode(file.read()))


class Parser:
    """Parse tokens one by one; after an unexpected token you can continue with the next one."""

    def __init__(self, grammar: Grammar, start: str) -> None:
        self._grammar = grammar
        self._states = [grammar.start[start]]
        self._values: list[Any] = []

    @property
    def state(self) -> int:
        """The state for the next token."""
        return self._states[-1]

    def feed(self, terminal: str, token: object) -> None:
        """Take the next token; raise `UnexpectedTokenError`."""
        state = self._reduce_before(terminal)
        self._states.append(state)
        self._values.append(token)

    def end(self) -> Node:
        """Return the whole tree; raise `UnexpectedTokenError`."""
        self._reduce_before(END)
        tree: Node = self._values[-1]
        return tree

    def _reduce_before(self, terminal: str) -> int:
        """Reduce all rules that end before a terminal, and return the state to shift to."""
        table, reductions, states, values = self._grammar.states, self._grammar.reductions, self._states, self._values
        while True:
            action = table[states[-1]].get(terminal)
            if action is None:
                raise UnexpectedTokenError(filter(str.isupper, table[states[-1]]))
            if action >= ACCEPT:
                return action
            symbol, size, make = reductions[~action]
            if size:
                value = make(values[-size:])
                del values[-size:], states[-size:]
            else:
                value = make([])
            values.append(value)
            states.append(table[states[-1]][symbol])


def _maker(size: int, name: str, kept: list[int | None] | int) -> Callable[[list[Any]], Any]:
    """Return the function that builds a rule's value; common rules avoid the loop in `_value`."""
    if isinstance(kept, int):
        return itemgetter(kept)
    if kept == [*range(size)]:
        return partial(Node, name) if name else list
    return _longer if not name and kept == [~0, 1] else partial(_value, name, kept)


def _longer(parts: list[Any]) -> list[Any]:
    """Extend a repetition's list by one part, in place as in `_value`."""
    children: list[Any] = parts[0]
    children.append(parts[1])
    return children


def _value(name: str, kept: list[int | None], parts: list[Any]) -> Node | list[Any]:
    """Return the node of a rule, or the list of a helper rule."""
    children: list[Any] = []
    for index in kept:
        if index is None:
            children.append(None)
        elif index >= 0:
            children.append(parts[index])
        elif children:
            children += parts[~index]
        else:
            children = parts[~index]  # in place, so that a long repetition takes linear time
    return Node(name, children) if name else children


def parse(grammar: Grammar, text: str, start: str) -> Node:
    """Return the tree of a text; raise `UnexpectedTokenError` with the column of the first invalid token."""
    parser = Parser(grammar, start)
    column = 0
    try:
        while column < len(text):
            token = grammar.token(text, column, parser.state)
            parser.feed(token.type, token)
            column = token.end
        return parser.end()
    except UnexpectedTokenError as error:
        raise UnexpectedTokenError(error.expected, column) from None
