"""Edges: their tests, effects and labels (I17 to I20)."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Literal

from msgspec import Struct

from compiler.text.source import Span


class Origin(Struct, frozen=True, gc=False):
    """The position of a node or edge: the path as its source shows it, and the span."""

    path: str
    span: Span


class OutcomeTest(Struct, frozen=True):
    """True if the outcome of the node's task is this word."""

    word: str
    kind: Literal["outcome"] = "outcome"


class CounterTest(Struct, frozen=True):
    """True if comparing a counter with a number succeeds."""

    register: str
    operator: Literal["<", ">=", "="]
    value: int
    kind: Literal["counter"] = "counter"


class SlotTest(Struct, frozen=True):
    """True if a slot equals a string exactly, or differs from it. An unset slot is an empty string."""

    slot: str
    operator: Literal["==", "!="]
    text: str
    kind: Literal["slot"] = "slot"


Test = OutcomeTest | CounterTest | SlotTest


class Set(Struct, frozen=True):
    """Set a counter to a value."""

    register: str
    value: int
    kind: Literal["set"] = "set"


class Add(Struct, frozen=True):
    """Add a number or the value of another counter to a counter."""

    register: str
    amount: int | str
    kind: Literal["add"] = "add"


class AtLeast(Struct, frozen=True):
    """Raise a counter to a value if it is lower."""

    register: str
    value: int
    kind: Literal["at_least"] = "at_least"


class Reset(Struct, frozen=True):
    """Reset all counters of a scope and of the scopes inside it to their initial values."""

    scope: str
    kind: Literal["reset"] = "reset"


class Keep(Struct, frozen=True):
    """Store the text of the outcome, or a named output, in a slot.

    `extract` stores only this field of an answer that is a JSON object. `options` are the expected answers; a run shows
    that another one came, and continues.
    """

    slot: str
    of: Literal["answer", "output"] = "answer"
    name: str = ""
    extract: str | None = None
    options: tuple[str, ...] = ()
    kind: Literal["keep"] = "keep"


class Clear(Struct, frozen=True):
    """Unset a slot."""

    slot: str
    kind: Literal["clear"] = "clear"


CounterEffect = Set | Add | AtLeast | Reset
SlotEffect = Keep | Clear
Effect = CounterEffect | SlotEffect


def counter_effects(effects: Iterable[Effect]) -> list[CounterEffect]:
    """Return the effects that change counters."""
    # isinstance takes several times as long, and mypy can't narrow by `in`.
    return [effect for effect in effects if effect.kind != "keep" and effect.kind != "clear"]  # noqa: PLR1714


def feeding(effects: Iterable[Iterable[Effect]]) -> dict[str, set[str]]:
    """Return the counters that some effects add to each counter."""
    found: dict[str, set[str]] = {}
    for effect in (effect for some in effects for effect in some):
        if isinstance(effect, Add) and isinstance(effect.amount, str):
            found.setdefault(effect.register, set()).add(effect.amount)
    return found


class Written(Struct, frozen=True):
    """The transition that an author wrote for a step's outcome, such as `GOTO 4`.

    `step` and `outcome` are empty for the edge's own step. `action` is empty if a later edge decides the action.
    """

    action: str = ""
    step: str = ""
    outcome: str = ""

    def __str__(self) -> str:
        """Return `GOTO 4`, `1 FAIL: STOP` or `1 FAIL`."""
        return ": ".join(filter(None, (f"{self.step} {self.outcome.upper()}".strip(), self.action)))


class StepOutcome(Struct, frozen=True):  # I33
    """The outcome of a step with other steps inside: `pass` or `fail` of a group or of a step with stages."""

    step: str
    word: str


class Edge(Struct, frozen=True, gc=False):
    """A transition from a node. All tests of the guard must be true; effects apply in order.

    `written` has the labels from the document, the step's own action first. `origins` are their positions; defaults
    have none. `settles` are the outcomes of the steps around the node that the transition decides, inner ones first.
    """

    guard: tuple[Test, ...]
    effects: tuple[Effect, ...]
    target: str
    written: tuple[Written, ...] = ()
    origins: tuple[Origin, ...] = ()
    settles: tuple[StepOutcome, ...] = ()

    @property
    def label(self) -> str:
        """The label from the document, such as `CONTINUE, 1 FAIL: STOP`."""
        written = self.written
        if not written:
            return ""
        if len(written) == 1 and not written[0].step:  # the usual case
            return written[0].action
        return "".join(f"{part}{', ' if part.action else ': '}" for part in written)[:-2]


def may_follow(edge: Edge, word: str | None) -> bool:
    """Return whether an edge can be taken after an outcome, for some values of the registers."""
    return all(test.word == word for test in edge.guard if isinstance(test, OutcomeTest))


class Following:
    """The edges of a node by the outcome that they test. Looking at all edges for each outcome is quadratic."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        self._any: list[tuple[int, Edge]] = []
        self._tested: dict[str, list[tuple[int, Edge]]] = {}
        for place, edge in enumerate(edges):
            words = {test.word for test in edge.guard if isinstance(test, OutcomeTest)}
            if len(words) < 2:
                (self._tested.setdefault(words.pop(), []) if words else self._any).append((place, edge))

    def after(self, word: str | None) -> list[tuple[int, Edge]]:
        """Return the edges that can be taken after an outcome, with their places, in order."""
        return sorted([*self._tested.get(word or "", ()), *self._any], key=itemgetter(0))


def is_plain_for(edge: Edge, word: str | None) -> bool:
    """Return whether an edge can be taken after an outcome, for all values of the registers."""
    return all(isinstance(test, OutcomeTest) and test.word == word for test in edge.guard)


def words_of(edges: Iterable[Edge]) -> tuple[str, ...]:
    """Return the outcomes that edges test, without duplicates."""
    found: dict[str, None] = {}
    for edge in edges:
        for test in edge.guard:
            if test.kind == "outcome":
                found[test.word] = None
    return tuple(found)


def output_names(edges: Iterable[Edge]) -> tuple[str, ...]:
    """Return the names of the outputs that edges store, without duplicates (I9)."""
    found: dict[str, None] = {}
    for edge in edges:
        for effect in edge.effects:
            if effect.kind == "keep" and effect.of == "output":
                found[effect.name] = None
    return tuple(found)


def register_tests(edge: Edge) -> list[CounterTest | SlotTest]:
    """Return an edge's tests of registers."""
    return [test for test in edge.guard if test.kind != "outcome"]  # the outcome was already compared


def counter_tests(edge: Edge) -> list[CounterTest]:
    """Return an edge's tests of counters, for targets that don't support tests of slots.

    Raises:
        ValueError: The edge tests a slot. The target should have rejected the program.
    """
    found: list[CounterTest] = []
    for test in register_tests(edge):
        if test.kind == "slot":
            raise ValueError("the target does not support tests of slots")
        found.append(test)
    return found
