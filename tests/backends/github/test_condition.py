"""Conditions: what simplifies them never changes what they mean."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from backends.scheduling.condition import (
    FALSE,
    TRUE,
    All,
    Condition,
    Literal,
    Some,
    every,
    expression,
    literals,
    negation,
    some,
)

STEPS = ("a", "b", "c")
PASSED = st.sampled_from(STEPS).map(lambda step: Literal(step, "outcome", "==", "success"))
LITERALS = st.one_of(PASSED, PASSED.map(negation))
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    LITERALS,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(lambda found: All(tuple(found))),
        st.lists(parts, max_size=3).map(lambda found: Some(tuple(found))),
    ),
    max_leaves=8,
)


def holds(condition: Condition, outcomes: Mapping[str, bool]) -> bool:
    match condition:
        case Literal(step, _, operator, _):
            return outcomes[step] == (operator == "==")
        case All(parts):
            return all(holds(part, outcomes) for part in parts)
        case Some(parts):
            return any(holds(part, outcomes) for part in parts)


def table(condition: Condition) -> list[bool]:
    rows = itertools.product([False, True], repeat=len(STEPS))
    return [holds(condition, dict(zip(STEPS, row, strict=True))) for row in rows]


@given(parts=st.lists(CONDITIONS, max_size=4))
def test_every_and_some_mean_what_they_say(parts: list[Condition]) -> None:
    assert table(every(*parts)) == table(All(tuple(parts)))
    assert table(some(*parts)) == table(Some(tuple(parts)))


@given(condition=CONDITIONS)
def test_negation(condition: Condition) -> None:
    assert table(negation(condition)) == [not value for value in table(condition)]
    assert table(some(condition, negation(condition))) == table(TRUE)
    assert table(every(condition, negation(condition))) == table(FALSE)


@given(condition=CONDITIONS)
def test_an_expression_means_the_condition(condition: Condition) -> None:
    """`&&` binds closer than `||`, in GitHub's expressions as in Python's."""
    text = expression(condition, lambda literal: f"({literal.step} {literal.operator} True)")
    python = text.replace("&&", "and").replace("||", "or").replace("true", "True").replace("false", "False")
    rows = itertools.product([False, True], repeat=len(STEPS))
    assert [bool(eval(python, {}, dict(zip(STEPS, row, strict=True)))) for row in rows] == table(condition)


def test_what_all_have_in_common_is_written_once() -> None:
    a, b, c = (Literal(step, "outcome", "==", "success") for step in STEPS)
    assert some(every(a, b), every(a, c)) == All((a, Some((b, c))))
    assert some(a, every(a, b)) == a
    assert list(literals(every(a, some(b, c)))) == [a, b, c]
