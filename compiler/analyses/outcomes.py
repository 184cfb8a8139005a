"""Find the distinguishable outcomes of nodes, which are all that an exploration needs to try (architecture: the IR).

They combine a node's words with the strings that tests on slots distinguish, plus one other string.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod

from compiler.analyses.domains import Distinguished, distinguished
from compiler.ir.edges import Keep
from compiler.ir.program import Input, Node, Program
from compiler.ir.semantics import Outcome
from compiler.ir.tasks import Ask, alphabet
from runtime_shim.values.fitting import unfit

MOST = 256
"""The most outcomes per node, and the most starts per program, to try."""

SIMPLE = ("0", "1", "true", "false", "x")
"""Values that match most input types."""


def outcomes_by_node(program: Program) -> tuple[dict[str, list[Outcome]], bool]:
    """Return the distinguishable outcomes of each node with a task, in the order of its words; and if these are all."""
    known = distinguished(program)
    found: dict[str, list[Outcome]] = {}
    is_complete = True
    for node in (node for node in program.nodes if alphabet(node.task)):
        most = max(1, MOST // len(alphabet(node.task)))
        of_words = [list(islice(outcomes, most + 1)) for outcomes in _outcomes(node, known)]
        found[node.id] = [outcome for outcomes in of_words for outcome in outcomes[:most]]
        is_complete = is_complete and all(len(outcomes) <= most for outcomes in of_words)
    return found, is_complete


def _outcomes(node: Node, known: Distinguished) -> Iterator[Iterator[Outcome]]:
    """Yield the outcomes of a node for each word."""
    keeps = [e for edge in node.edges for e in edge.effects if isinstance(e, Keep) and e.slot in known] if known else []
    names = dict.fromkeys(keep.name for keep in keeps if keep.of == "output")
    choices = [_values(name, keeps, known) for name in names]
    for word in alphabet(node.task):
        texts = _texts(node, word, keeps, known)
        yield _of_word(word, texts, choices)


def _of_word(word: str, texts: list[str], choices: list[list[tuple[str, str] | None]]) -> Iterator[Outcome]:
    for text in texts:
        for values in product(*choices):
            yield Outcome(word, text, tuple(value for value in values if value))


def _values(name: str, keeps: list[Keep], known: Distinguished) -> list[tuple[str, str] | None]:
    """Return the relevant values of a name, and None for no value."""
    texts = dict.fromkeys(text for keep in keeps if keep.name == name for text in known[keep.slot])
    return [None, *((name, text) for text in texts)]


def _texts(node: Node, word: str, keeps: list[Keep], known: Distinguished) -> list[str]:
    if isinstance(node.task, Ask) and node.task.question in {"confirm", "select"}:
        return [word]
    answers = [keep for keep in keeps if keep.of == "answer"]
    found = dict.fromkeys(_answer(keep, text) for keep in answers for text in known[keep.slot])
    return list(found) or [""]


def _answer(keep: Keep, text: str) -> str:
    return text if keep.extract is None else json.dumps({keep.extract: text}, ensure_ascii=False)


def _fitting(declared: Input, texts: Sequence[str]) -> list[str]:
    """Return the strings that an input can have.

    The last string represents all others, so it is replaced by one that the input can have.
    """
    known = [text for text in texts[:-1] if not _unfit(declared, text)]
    others = (text for text in (texts[-1], *declared.options, *SIMPLE) if text not in texts[:-1])
    return known + [text for text in others if not _unfit(declared, text)][:1]


def _unfit(declared: Input, text: str) -> str:
    return unfit(text, declared.type, declared.options, declared.pattern)


def beginnings(program: Program) -> Iterator[dict[str, str]]:
    """Yield distinguishable input values for the start of a run, starting with the defaults."""
    yield {}
    if choices := _choices_of_inputs(program):
        yield from (dict(values) for values in islice(product(*choices), MOST))


def has_few_beginnings(program: Program) -> bool:
    """Return whether `beginnings` leaves none out."""
    return prod(map(len, _choices_of_inputs(program))) <= MOST


def _choices_of_inputs(program: Program) -> list[list[tuple[str, str]]]:
    """Return the distinguishable values of each tested input."""
    known = distinguished(program)
    tested = [declared for declared in program.inputs if declared.name in known]
    return [[(declared.name, text) for text in _fitting(declared, known[declared.name])] for declared in tested]
