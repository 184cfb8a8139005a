"""The outcomes of nodes that later tests can tell apart: all that an exploration need try (architecture: the IR).

They are the words of a node, times the texts that some test on a slot tells apart, plus one other text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

from compiler.ir.edges import Keep, SlotTest
from compiler.ir.program import Input, Node, Program
from compiler.ir.semantics import Outcome
from compiler.ir.tasks import Ask, alphabet
from runtime_shim.data.fitting import unfit

MOST = 256
"""How many outcomes of one node, and how many beginnings of a program, are tried."""

OTHER = "another text"
"""Stands for every text that no test tells apart from others, unless some test asks for just this."""

SIMPLE = ("0", "1", "true", "false", "x")
"""Values of inputs that most types have one of."""

Told = Mapping[str, Sequence[str]]
"""For each slot that is tested the texts that tests tell apart, one other among them."""


def told_apart(program: Program) -> Told:
    """The texts that the tests of a program tell apart, by the slots."""
    found: dict[str, dict[str, None]] = {}
    for node in program.nodes:
        for test in (test for edge in node.edges for test in edge.guard if isinstance(test, SlotTest)):
            found.setdefault(test.slot, {})[test.text] = None
    return {slot: (*texts, _other(texts)) for slot, texts in found.items()}


def _other(texts: Mapping[str, None]) -> str:
    other = OTHER
    while other in texts:
        other += "'"
    return other


class Tried(NamedTuple):
    """For each node with a task the outcomes that are tried; `is_complete` says whether that leaves none out."""

    by_node: Mapping[str, Sequence[Outcome]]
    is_complete: bool


def outcomes_by_node(program: Program) -> Tried:
    """For each node with a task its outcomes that can be told apart, in the order of its words; each word has some."""
    told = told_apart(program)
    found: dict[str, list[Outcome]] = {}
    is_complete = True
    for node in (node for node in program.nodes if alphabet(node.task)):
        most = max(1, MOST // len(alphabet(node.task)))
        of_words = [list(islice(outcomes, most + 1)) for outcomes in _outcomes(node, told)]
        found[node.id] = [outcome for outcomes in of_words for outcome in outcomes[:most]]
        is_complete = is_complete and all(len(outcomes) <= most for outcomes in of_words)
    return Tried(found, is_complete)


def _outcomes(node: Node, told: Told) -> Iterator[Iterator[Outcome]]:
    """The outcomes of a node, word by word."""
    keeps = [e for edge in node.edges for e in edge.effects if isinstance(e, Keep) and e.slot in told] if told else []
    names = dict.fromkeys(keep.name for keep in keeps if keep.of == "output")
    choices = [_values(name, keeps, told) for name in names]
    for word in alphabet(node.task):
        texts = _texts(node, word, keeps, told)
        yield _of_word(word, texts, choices)


def _of_word(word: str, texts: list[str], choices: list[list[tuple[str, str] | None]]) -> Iterator[Outcome]:
    for text in texts:
        for values in product(*choices):
            yield Outcome(word, text, tuple(value for value in values if value))


def _values(name: str, keeps: list[Keep], told: Told) -> list[tuple[str, str] | None]:
    """The values of a name that matter, and that there is none."""
    texts = dict.fromkeys(text for keep in keeps if keep.name == name for text in told[keep.slot])
    return [None, *((name, text) for text in texts)]


def _texts(node: Node, word: str, keeps: list[Keep], told: Told) -> list[str]:
    if isinstance(node.task, Ask) and node.task.question in {"confirm", "select"}:
        return [word]
    answers = [keep for keep in keeps if keep.of == "answer"]
    found = dict.fromkeys(_answer(keep, text) for keep in answers for text in told[keep.slot])
    return list(found) or [""]


def _answer(keep: Keep, text: str) -> str:
    return text if keep.extract is None else json.dumps({keep.extract: text}, ensure_ascii=False)


def _fitting(declared: Input, texts: Sequence[str]) -> list[str]:
    """Those of some texts that an input can have; for the last one, which stands for all others, one that it can."""
    known = [text for text in texts[:-1] if not _unfit(declared, text)]
    others = (text for text in (texts[-1], *declared.options, *SIMPLE) if text not in texts[:-1])
    return known + [text for text in others if not _unfit(declared, text)][:1]


def _unfit(declared: Input, text: str) -> str:
    return unfit(text, declared.type, declared.options, declared.pattern)


def beginnings(program: Program) -> Iterator[dict[str, str]]:
    """Values of inputs with which runs begin that tests tell apart, those of the defaults first."""
    yield {}
    if choices := _choices_of_inputs(program):
        yield from (dict(values) for values in islice(product(*choices), MOST))


def has_few_beginnings(program: Program) -> bool:
    """Whether `beginnings` leaves none out."""
    return prod(map(len, _choices_of_inputs(program))) <= MOST


def _choices_of_inputs(program: Program) -> list[list[tuple[str, str]]]:
    """For each input that is tested its values that tests tell apart."""
    told = told_apart(program)
    tested = [declared for declared in program.inputs if declared.name in told]
    return [[(declared.name, text) for text in _fitting(declared, told[declared.name])] for declared in tested]
