"""The transitions of a step, in words that read like the document: the text of `after_` blocks.

The author's words are in capitals (`GOTO Restore`), defaults are not (`go 2`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from backends.make.blocks import Words
from backends.make.identifiers import Identifiers, visible
from backends.make.line import retries_of
from backends.marks import Marks
from compiler.ir.edges import (
    Add,
    AtLeast,
    CounterEffect,
    CounterTest,
    Edge,
    Reset,
    Set,
    counter_effects,
    counter_tests,
)
from compiler.ir.program import Node, Program, Register, scope_members
from compiler.ir.tasks import End, alphabet
from compiler.ir.texts import Part, Reference, Text, joined
from compiler.regex import Regex

_OPERATORS = {"<": "below", ">=": "at_least", "=": "equals"}
_Transition = tuple[str, list[str]]
"""The condition of a transition ("" for none), and the words that take it."""


class Transitions(Struct, frozen=True, dict=True):
    """Writes the transitions of a program. `own` has the counter of each step that counts only its own retries."""

    program: Program
    names: Identifiers
    words: Words
    own: Mapping[str, str]

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by their ids."""
        return self.program.index()

    @cached_property
    def scopes(self) -> Mapping[str, tuple[Register, ...]]:
        """The counters that a reset of each scope changes, without those that the driver doesn't need."""
        hidden = set(self.own.values())
        members = scope_members(self.program.registers)
        return {scope: tuple(one for one in found if one.name not in hidden) for scope, found in members.items()}

    def text(self, node: Node, numbers: Numbers) -> str:
        """Return the text of a node's block."""
        words = alphabet(node.task)
        if not words:
            return "\n".join(self._arm(node, ["*"], node.edges, numbers))
        if len(words) == len(node.edges) and all(map(_is_for, node.edges, words)):  # true for almost all nodes
            done = ["; ".join(self._done(node, edge, numbers)) for edge in node.edges]
            return "\n".join([f"{word}) {each} ;;" for word, each in zip(words, done, strict=True)])
        lines: list[str] = []
        for said, edges in _by_words(node.edges, words):
            lines += self._arm(node, said, edges, numbers)
        return "\n".join(lines)

    def _arm(self, node: Node, said: list[str], edges: Sequence[Edge], numbers: Numbers) -> list[str]:
        pattern = " | ".join(said)
        first, *others = self._choice(node, edges, numbers)
        if not others:
            return [f"{pattern}) {first} ;;"]
        lines = [f"{pattern}) {first}", *(f"{' ' * (len(pattern) + 2)}{line}" for line in others)]
        lines[-1] += " ;;"
        return lines

    def _choice(self, node: Node, edges: Sequence[Edge], numbers: Numbers) -> list[str]:
        """Return the lines that take the first edge whose guard holds. The last one needs no test (I2)."""
        if not edges:
            return [self._end(node.task, numbers, "")] if node.task.kind == "end" else []
        if node.id not in self.own and _is_sure(edges[0]):  # true for almost all nodes
            return ["; ".join(self._done(node, edges[0], numbers))]
        transitions = self._transitions(node, edges, numbers)
        if len(transitions) == 1:
            return ["; ".join(transitions[0][1])]
        if len(transitions) == 2 and transitions[0][1] == [""] and len(transitions[1][1]) == 1:
            return [f"{transitions[0][0]} || {transitions[1][1][0]}"]
        lines: list[str] = []
        for index, (asked, done) in enumerate(transitions):
            word = "else" if index == len(transitions) - 1 else f"{'elif' if index else 'if'} {asked}; then"
            lines.append(f"{word} {'; '.join(done) if done != [''] else ':'}")
        return [*lines[:-1], f"{lines[-1]}; fi"]

    def _transitions(self, node: Node, edges: Sequence[Edge], numbers: Numbers) -> list[_Transition]:
        """Return the edges up to one that always holds. Neighbors with the same destination are joined."""
        found: list[_Transition] = []
        own = self.own.get(node.id, "")
        for edge in edges:
            limit = retries_of(edge, own) if own else None
            asked = self._retry(limit, edge.label) if limit is not None else self._asked(edge)
            done = [""] if limit is not None else self._done(node, edge, numbers)
            if found and found[-1][0] and asked and found[-1][1] == done and "&&" not in found[-1][0] + asked:
                found[-1] = (f"{found[-1][0]} || {asked}", done)
            else:
                found.append((asked, done))
            if not asked:
                break
        return found

    def _retry(self, limit: int, label: str) -> str:
        return f"retry {limit}" if label == f"RETRY {limit}" else f"retry {limit} {self._said(label)}"

    def _asked(self, edge: Edge) -> str:
        return " && ".join(self._test(test) for test in counter_tests(edge))

    def _test(self, test: CounterTest) -> str:
        return f"{_OPERATORS[test.operator]} {self.names.counters[test.register]} {test.value}"

    def _done(self, node: Node, edge: Edge, numbers: Numbers) -> list[str]:
        target, label = self.nodes[edge.target], edge.label
        if target.task.kind == "end" and not target.edges:
            transition = self._end(target.task, numbers, label)
        else:
            transition = self._go(self.names.nodes[edge.target], label)
        if not edge.effects:
            return [transition]
        effects = counter_effects(edge.effects)
        return [*self._effects(effects, self.own.get(node.id, "")), transition]

    def _go(self, name: str, label: str) -> str:
        if label == "CONTINUE":
            return f"CONTINUE {name}"
        if label == f"GOTO {name}":
            return f"GOTO {name}"
        return f"go {name} {self._said(label)}" if label else f"go {name}"

    def _end(self, task: End, numbers: Numbers, label: str) -> str:
        message = visible(numbers.text(task.message))
        said = f" {self.words.quoted(message)}" if message else ""
        word = {"complete": "finish", "stop": "stop"}[task.result]
        if not label:
            return f"{word}{said}"
        usual = task.result.upper()
        return f"{usual}{said}" if label == usual else f"{usual} {self.words.quoted(message)} {self._said(label)}"

    def _said(self, label: str) -> str:
        return self.words.quoted(visible(label))

    def _effects(self, effects: Iterable[CounterEffect], own: str) -> Iterator[str]:
        """Yield the words of effects. `own` is the counter of a step that counts only its own retries."""
        for effect in effects:
            if effect.kind == "reset":
                is_idle = not self.scopes.get(effect.scope)
            else:
                is_idle = effect.kind == "set" and effect.register == own and not effect.value
            if not is_idle:
                yield self._effect(effect)

    def _effect(self, effect: CounterEffect) -> str:
        counters = self.names.counters
        match effect:
            case Reset(scope):
                return f"reset {self.names.scopes[scope]}"
            case Set(register, value):
                return f"set_to {counters[register]} {value}"
            case Add(register, str(amount)):
                return f"add_counter {counters[register]} {counters[amount]}"
            case Add(register, amount):
                return f"add {counters[register]} {amount}"
            case AtLeast(register, value):
                return f"raise {counters[register]} {value}"
            case _:
                assert_never(effect)


def _is_sure(edge: Edge) -> bool:
    """Return whether an edge tests only one outcome."""
    return len(edge.guard) == 1 and edge.guard[0].kind == "outcome"


def _is_for(edge: Edge, word: str) -> bool:
    """Return whether an edge is taken for exactly this outcome."""
    guard = edge.guard
    return len(guard) == 1 and guard[0].kind == "outcome" and guard[0].word == word


def _by_words(edges: Sequence[Edge], words: Iterable[str]) -> Iterator[tuple[list[str], list[Edge]]]:
    """Yield groups of outcomes that the same edges may follow, with these edges."""
    asked = [{test.word for test in edge.guard if test.kind == "outcome"} for edge in edges]
    found: dict[tuple[int, ...], list[str]] = {}  # keyed by the numbers of edges, because hashing an edge is slow
    for word in words:
        numbers = tuple(number for number, own in enumerate(asked) if not own or own == {word})
        found.setdefault(numbers, []).append(word)
    for numbers, said in found.items():
        yield said, [edges[number] for number in numbers]


_FIT = Regex("[A-Za-z_{}<>]+")
"""The driver replaces marks one after the other. A number never creates a mark without digits."""


class Numbers:
    """The marks for counters in some strings: the author's own, if the driver can replace them."""

    def __init__(self, texts: Iterable[Text]) -> None:
        self._texts = [_bare(text) for text in texts if not text.is_plain]
        if not self._texts:
            self._written: dict[Reference, str] = {}
            return
        references = dict.fromkeys(found for text in self._texts for found in text.references)
        self._written = {found: found.written for found in references}
        lengths = count(1)
        while not self._is_clear():
            length = next(lengths)
            self._written = {found: f"{{{_letters(place) * length}}}" for place, found in enumerate(references)}

    def _is_clear(self) -> bool:
        marks = list(self._written.values())
        if not all(map(_FIT.fullmatch, marks)) or any(a != b and a in b for a in marks for b in marks):
            return False
        return set(Marks(map(self._marked, self._texts)).references) == set(marks)

    def _marked(self, text: Text) -> Text:
        """Return a string with marks instead of references."""
        parts = (part if isinstance(part, str) else replace(part, written=self._written[part]) for part in text.parts)
        return Text(tuple(parts))

    def text(self, text: Text) -> str:
        """Return a string with marks instead of counters."""
        return str(self._marked(_bare(text))) if self._written and not text.is_plain else str(text)

    @property
    def marks(self) -> Mapping[str, str]:
        """The counters by their marks."""
        return {mark: found.register for found, mark in self._written.items()}


NO_NUMBERS = Numbers(())


def _bare(text: Text) -> Text:
    """Return a string whose references contain only numbers. A counter is never unset."""
    return joined([part for each in text.parts for part in _parts(each)])


def _parts(part: Part) -> Iterator[Part]:
    if isinstance(part, str):
        yield part
        return
    yield part.before
    yield Reference(part.register, part.written)
    yield part.after


def _letters(number: int) -> str:
    return chr(ord("a") + number % 26) * (number // 26 + 1)
