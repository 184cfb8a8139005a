"""The outcomes of nodes that later tests can tell apart: all that an exploration need try (architecture: the IR).

They are the words of a node, times the texts that some test on a slot tells apart, plus one other text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from compiler.ir.edges import Keep, SlotTest
from compiler.ir.program import Input, Node, Program
from compiler.ir.semantics import Outcome
from compiler.ir.tasks import Ask, alphabet
from runtime_shim.fitting import unfit

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


def outcomes_by_node(program: Program) -> dict[str, tuple[Outcome, ...]]:
    """For each node with a task its outcomes that can be told apart, in the order of its words."""
    told = told_apart(program)
    return {node.id: tuple(islice(_outcomes(node, told), MOST)) for node in program.nodes if alphabet(node.task)}


def _outcomes(node: Node, told: Told) -> Iterator[Outcome]:
    keeps = [e for edge in node.edges for e in edge.effects if isinstance(e, Keep) and e.slot in told] if told else []
    names = dict.fromkeys(keep.name for keep in keeps if keep.of == "value")
    choices = [_values(name, keeps, told) for name in names]
    for word in alphabet(node.task):
        for text in _texts(node, word, keeps, told):
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
    told = told_apart(program)
    tested = [declared for declared in program.inputs if declared.name in told]
    yield {}
    choices = [[(declared.name, text) for text in _fitting(declared, told[declared.name])] for declared in tested]
    if tested:
        yield from (dict(values) for values in islice(product(*choices), MOST))
