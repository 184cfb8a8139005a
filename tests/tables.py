"""Computes the tables of a grammar with Lark, as `compiler/grammar.py` reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import NonTerminal, Rule, Symbol, Terminal
from lark.lexer import PatternStr, TerminalDef
from lark.load_grammar import load_grammar
from lark.parsers.lalr_analysis import Shift

from compiler.grammar import ACCEPT, END

Row = dict[str, int]


def lark_parser(path: Path) -> Lark:
    """Lark's own parser of a grammar."""
    text = path.read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="contextual", start=start_symbols(text), maybe_placeholders=True)


def start_symbols(text: str) -> list[str]:
    """The rules that no other rule uses."""
    definitions = load_grammar(text, "<grammar>", [], global_keep_all_tokens=False)[0].rule_defs  # type: ignore[no-untyped-call]
    parts = [part for _, _, tree, _ in definitions for part in tree.iter_subtrees()]
    used = {
        child.name
        for part in parts
        for child in (part.children[:1] if part.data == "alias" else part.children)  # an alias can be a rule's name
        if isinstance(child, NonTerminal)
    }
    return [name for name, *_ in definitions if name not in used]


def tables(path: Path) -> str:
    """The tables of a grammar as JSON, with a line for each pattern, rule and state."""
    lark = lark_parser(path)
    terminals: list[TerminalDef] = lark.parser.lexer.root_lexer.terminals  # in the order in which Lark tries them
    states = dict(_rows(lark))
    for row in states.values():
        _reject_ambiguous_words([terminal for terminal in terminals if terminal.name in row])
    parts = {
        "start": _line({name: number for number, name in enumerate(lark.options.start)}),
        "patterns": _block("{}", (f"{_line(item.name)}: {_line(item.pattern.to_regexp())}" for item in terminals)),
        "rules": _block("[]", map(_line, map(_rule, lark.rules))),
        "states": _block("[]", (_line(states[number]) for number in sorted(states))),
    }
    return "{\n" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _block(brackets: str, lines: Iterable[str]) -> str:
    inside = ",\n".join(lines)
    return f"{brackets[0]}\n{inside}\n{brackets[1]}" if inside else brackets


def _rows(lark: Lark) -> Iterator[tuple[int, Row]]:
    """The number of each state with its row.

    Lark's numbers differ from run to run, so the states are numbered as they are reached from the start states.
    """
    table = lark.parser.parser._parse_table
    rules = {rule: number for number, rule in enumerate(lark.rules)}
    numbers = {table.start_states[name]: number for number, name in enumerate(lark.options.start)}
    reached = list(numbers)
    for state in reached:
        row: Row = {}
        for symbol, (action, argument) in sorted(table.states[state].items()):
            if action is Shift and argument not in numbers:
                numbers[argument] = len(numbers)
                reached.append(argument)
            row[symbol] = numbers[argument] if action is Shift else ~rules[argument]
        if state in table.end_states.values():
            _require(not row, "a start symbol is used by no rule")
            row = {END: ACCEPT}
        yield numbers[state], row


def _rule(rule: Rule) -> tuple[str, int, str, list[int | None] | int]:
    """A rule as `compiler.grammar.Grammar` has it; what is kept follows Lark's `maybe_create_child_filter`."""
    symbol = rule.origin.name
    _require(not rule.options.keep_all_tokens, f"{symbol}: `!` is not supported")
    kept = list(_kept(rule))
    if not rule.options.expand1 or rule.alias:
        return symbol, len(rule.expansion), "" if _is_helper(rule.origin) else rule.alias or symbol, kept
    _require(all(index is None or index >= 0 for index in kept), f"{symbol}: `?` with a repetition is not supported")
    only = kept[0] if len(kept) == 1 else None
    return symbol, len(rule.expansion), symbol, kept if only is None else only


def _kept(rule: Rule) -> Iterator[int | None]:
    """What a rule keeps of its parts; None for an optional part that is missing."""
    missing = rule.options.empty_indices or [False] * len(rule.expansion)
    parts = enumerate(rule.expansion)
    for is_missing in missing:
        if is_missing:
            yield None
            continue
        index, part = next(parts)
        if _is_helper(part):
            yield ~index
        elif not (isinstance(part, Terminal) and part.filter_out):
            yield index


def _is_helper(symbol: Symbol) -> bool:
    return not symbol.is_term and symbol.name.startswith("_")


def _reject_ambiguous_words(terminals: list[TerminalDef]) -> None:
    """Where a word can also be a token of a regular expression, Lark chooses; the parser of rdc doesn't."""
    words = [item for item in terminals if isinstance(item.pattern, PatternStr)]
    for other in terminals:
        for word in words:
            ambiguous = other is not word and re.fullmatch(other.pattern.to_regexp(), word.pattern.value)
            _require(not ambiguous, f"{word.name} is also {other.name}: two terminals in one place")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
