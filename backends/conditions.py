"""The guards of edges in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import assert_never

from compiler.ir.edges import Add, CounterTest, Edge, OutcomeTest, SlotTest, Test

Shorten = Callable[[str], str]
"""Makes the name of a counter as short as the place allows."""

MOST_NAMED = 6
"""Of units in one condition; of more the first and the last are named."""

_MARK = re.compile(r"(?P<unit>.+) (?P<past>failed|passed)(?: before)?", re.DOTALL)

_PLAIN = re.compile(r"CONTINUE|COMPLETE|STOP|GOTO (?!NEXT\b).*|RETRY \d+|\S+ (PASS|FAIL)", re.DOTALL)
"""Parts of a label that a picture says otherwise: by where the arrow leads, or from the count of a RETRY."""


def retry_limit(edge: Edge) -> int | None:
    """How often an edge may be taken, if it counts that; such an edge is a RETRY."""
    counted = {effect.register for effect in edge.effects if isinstance(effect, Add) and effect.amount == 1}
    limits = (t.value for t in edge.guard if isinstance(t, CounterTest) and t.operator == "<" and t.register in counted)
    return next(limits, None)


def action(edge: Edge) -> str:
    """What an author wrote for an edge beyond where it leads: `RETRY 3`, `NEXT {N}`."""
    limit = retry_limit(edge)
    said = [] if limit is None else [f"RETRY {limit}"]
    said += [part.removeprefix("GOTO ") for part in re.split(r"[:,] ", edge.label) if not _PLAIN.fullmatch(part)]
    return " · ".join(filter(None, said))


def has_condition(edge: Edge) -> bool:
    """Whether more than the outcome decides if an edge is taken; the count of a RETRY is no more."""
    return bool(_conditions(edge))


def past_of_marks(edge: Edge) -> set[str]:
    """`failed` or `passed` if the edge asks only what became of earlier units, else nothing."""
    found = [_mark(test) for test in _conditions(edge)]
    return {mark["past"] for mark in found if mark} if all(found) else set()


def condition(edges: Sequence[Edge], shorten: Shorten) -> str:
    """In words when one of the edges is taken, outcomes left aside; empty if one has no condition."""
    guards = [_conditions(edge) for edge in edges]
    if not all(guards):
        return ""
    marks = [_mark(test) for guard in guards for test in guard]
    if all(marks) and len(marks) == len(edges):
        return _any_of([mark for mark in marks if mark], shorten)
    return " or ".join(dict.fromkeys(" and ".join(_words(test, shorten) for test in guard) for guard in guards))


def _conditions(edge: Edge) -> list[Test]:
    is_retry = retry_limit(edge) is not None
    outside = (OutcomeTest, CounterTest) if is_retry else OutcomeTest
    return [test for test in edge.guard if not isinstance(test, outside)]


def _mark(test: Test) -> re.Match[str] | None:
    """The parts of a test whether a unit failed or passed before."""
    if isinstance(test, CounterTest) and (test.operator, test.value) == (">=", 1):
        return _MARK.fullmatch(test.register)
    return None


def _any_of(marks: Sequence[re.Match[str]], shorten: Shorten) -> str:
    """Several marks in one phrase; the earlier instances of a unit are the same unit."""
    units = list(dict.fromkeys(shorten(mark["unit"]) for mark in marks))
    past = marks[0]["past"]
    if len(units) == 1:
        return f"{units[0]} {past}" if len(marks) == 1 else f"any {units[0]} {past}"
    shown = ", ".join(units) if len(units) <= MOST_NAMED else f"{units[0]} … {units[-1]}"
    return f"any of {shown} {past}"


def _words(test: Test, shorten: Shorten) -> str:
    match test:
        case OutcomeTest(word):
            return word
        case SlotTest(slot, operator, text):
            return f"{shorten(slot)} {'=' if operator == '==' else '≠'} “{text}”"
        case CounterTest(register, operator, value):
            name = shorten(register)
            return name if _mark(test) else f"{name} {'≥' if operator == '>=' else operator} {value}"
        case _:
            assert_never(test)
