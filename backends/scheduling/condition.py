"""Conditions on earlier steps, as values that can be simplified."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

_OPPOSITE = {"==": "!=", "!=": "==", ">=": "<", "<": ">="}


class Literal(Struct, frozen=True):
    """A comparison of a step's property, such as its outcome, with a value."""

    step: str
    property: str
    operator: str
    value: str | int


class All(Struct, frozen=True):
    """True if all parts are true, and if there are no parts."""

    parts: tuple[Condition, ...]


class Some(Struct, frozen=True):
    """True if any part is true. Without parts, it is false."""

    parts: tuple[Condition, ...]


Condition = Literal | All | Some

TRUE: Condition = All(())
FALSE: Condition = Some(())


def every(*parts: Condition) -> Condition:
    """Return the conjunction, flat and without repetition."""
    found = _flat(parts, All)
    if any(part == FALSE or negation(part) in found for part in found):
        return FALSE
    return next(iter(found)) if len(found) == 1 else All(tuple(found))


def some(*parts: Condition) -> Condition:
    """Return the disjunction, flat and without repetition. Common terms are written once."""
    found = _flat(parts, Some)
    if any(part == TRUE or negation(part) in found for part in found):
        return TRUE
    if len(found) == 1:
        return next(iter(found))
    conjunctions = [(part.parts if isinstance(part, All) else (part,)) for part in found]
    common = [part for part in conjunctions[0] if all(part in others for others in conjunctions)] if found else []
    if not common:
        return Some(tuple(found))
    rests = [every(*(part for part in parts if part not in common)) for parts in conjunctions]
    return every(*common, some(*rests))


def negation(condition: Condition) -> Condition:
    """Return the negation of a condition."""
    match condition:
        case Literal(step, name, operator, value):
            return Literal(step, name, _OPPOSITE[operator], value)
        case All(parts):
            return Some(tuple(negation(part) for part in parts))
        case Some(parts):
            return All(tuple(negation(part) for part in parts))


def literals(condition: Condition) -> Iterable[Literal]:
    """Yield the comparisons in a condition, in order."""
    if isinstance(condition, Literal):
        yield condition
        return
    for part in condition.parts:
        yield from literals(part)


def expression(condition: Condition, show: Callable[[Literal], str]) -> str:
    """Return a condition as an expression with `&&` and `||`. `show` writes a comparison."""
    match condition:
        case Literal():
            return show(condition)
        case All(()):
            return "true"
        case Some(()):
            return "false"
        case All(parts):
            return " && ".join(_operand(part, show) for part in parts)
        case Some(parts):
            return " || ".join(expression(part, show) for part in parts)


def _operand(part: Condition, show: Callable[[Literal], str]) -> str:
    text = expression(part, show)
    return f"({text})" if isinstance(part, Some) else text


def _flat(parts: Iterable[Condition], kind: type[All | Some]) -> dict[Condition, None]:
    flat: dict[Condition, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, kind) else (part,)))
    return flat
