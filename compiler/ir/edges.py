"""Edges: how a run goes on from a node. Tests, effects, and what the author wrote (I17 to I20)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from compiler.source import Span


class Origin(Struct, frozen=True, gc=False):
    """Where a node or edge was written: the path as its source shows it, and the span there."""

    path: str
    span: Span


# --- Tests -----------------------------------------------------------------------------------------------------------


class OutcomeTest(Struct, frozen=True):
    """Holds if the node's task had this word."""

    word: str
    kind: Literal["outcome"] = "outcome"


class CounterTest(Struct, frozen=True):
    """Holds if a counter compares so with a number."""

    register: str
    operator: Literal["<", ">=", "="]
    value: int
    kind: Literal["counter"] = "counter"


class SlotTest(Struct, frozen=True):
    """Holds if a slot equals a text or does not, exactly; an unset slot is the empty text."""

    slot: str
    operator: Literal["==", "!="]
    text: str
    kind: Literal["slot"] = "slot"


Test = OutcomeTest | CounterTest | SlotTest


# --- Effects ---------------------------------------------------------------------------------------------------------


class Set(Struct, frozen=True):
    """Give a counter a value."""

    register: str
    value: int
    kind: Literal["set"] = "set"


class Add(Struct, frozen=True):
    """Add a number, or the value of another counter, to a counter."""

    register: str
    amount: int | str
    kind: Literal["add"] = "add"


class AtLeast(Struct, frozen=True):
    """Raise a counter to a value if it is below."""

    register: str
    value: int
    kind: Literal["at_least"] = "at_least"


class Reset(Struct, frozen=True):
    """Give every counter of a scope, and of the scopes within it, its initial value."""

    scope: str
    kind: Literal["reset"] = "reset"


class Keep(Struct, frozen=True):
    """Keep the text of the outcome in a slot, or the output of a name (I19).

    `extract` is the field of a JSON object in an answer that is kept instead of the whole.
    """

    slot: str
    of: Literal["answer", "output"] = "answer"
    name: str = ""
    extract: str | None = None
    kind: Literal["keep"] = "keep"


class Clear(Struct, frozen=True):
    """Make a slot unset."""

    slot: str
    kind: Literal["clear"] = "clear"


CounterEffect = Set | Add | AtLeast | Reset
SlotEffect = Keep | Clear
Effect = CounterEffect | SlotEffect


def counter_effects(effects: Iterable[Effect]) -> list[CounterEffect]:
    """Those of some effects that change counters."""
    # isinstance would take several times as long, and `in` would tell mypy nothing.
    return [effect for effect in effects if effect.kind != "keep" and effect.kind != "clear"]  # noqa: PLR1714


# --- Edges -----------------------------------------------------------------------------------------------------------


class Written(Struct, frozen=True):
    """What an author wrote for the outcome of a step: `GOTO 4`. The edge's own step has no name and no outcome here.

    An `action` is "" where the step's action is decided further on.
    """

    action: str = ""
    step: str = ""
    outcome: str = ""

    def __str__(self) -> str:
        """`GOTO 4`, `1 FAIL: STOP` or `1 FAIL`."""
        return ": ".join(filter(None, (f"{self.step} {self.outcome.upper()}".strip(), self.action)))


class Edge(Struct, frozen=True, gc=False):
    """A transition from a node. The guard is a conjunction, empty for always; effects apply in order.

    `written` is what the author wrote for it, the step's own action first; `origins` are the places of that, a default
    (M6) has none.
    """

    guard: tuple[Test, ...]
    effects: tuple[Effect, ...]
    target: str
    written: tuple[Written, ...] = ()
    origins: tuple[Origin, ...] = ()

    @property
    def label(self) -> str:
        """What the author wrote, as a reader sees it: `CONTINUE, 1 FAIL: STOP`."""
        written = self.written
        if not written:
            return ""
        if len(written) == 1 and not written[0].step:  # nearly all others are so
            return written[0].action
        said = "".join(f"{part}{', ' if part.action else ': '}" for part in written)
        return said[:-2]


def may_follow(edge: Edge, word: str | None) -> bool:
    """Whether an edge can be taken after an outcome, its registers aside."""
    return all(test.word == word for test in edge.guard if isinstance(test, OutcomeTest))


def is_plain_for(edge: Edge, word: str | None) -> bool:
    """Whether an edge can be taken after an outcome whatever else holds."""
    return all(isinstance(test, OutcomeTest) and test.word == word for test in edge.guard)


def words_of(edges: Iterable[Edge]) -> tuple[str, ...]:
    """The words that edges test, each once."""
    found: dict[str, None] = {}
    for edge in edges:
        for test in edge.guard:
            if test.kind == "outcome":
                found[test.word] = None
    return tuple(found)


def output_names(edges: Iterable[Edge]) -> tuple[str, ...]:
    """The names of the outputs that edges keep, each once: those that a command may give (I9)."""
    found: dict[str, None] = {}
    for edge in edges:
        for effect in edge.effects:
            if effect.kind == "keep" and effect.of == "output":
                found[effect.name] = None
    return tuple(found)


def register_tests(edge: Edge) -> list[CounterTest | SlotTest]:
    """What an edge asks of registers."""
    return [test for test in edge.guard if test.kind != "outcome"]  # the edges of an outcome are chosen before


def counter_tests(edge: Edge) -> list[CounterTest]:
    """What an edge asks of counters, for a target that does not carry tests on slots.

    Raises:
        ValueError: The edge asks for a slot; the target should have refused the program.
    """
    found: list[CounterTest] = []
    for test in register_tests(edge):
        if test.kind == "slot":
            raise ValueError(f"a test of the kind {test.kind} cannot be expressed")
        found.append(test)
    return found
