"""What is wrong with the options of a target, in words: one message for each option."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from compiler.source import KeyPath

_SHORT = 40


class Problem(Struct, frozen=True):
    """What is wrong with an option. The path leads to it from the options; it is empty for all of them together."""

    path: KeyPath
    text: str


class OptionsError(ValueError):
    """Options that a target does not have, or values that they cannot have: all `errors`, and their texts."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem.text for problem in self.problems))


class Flaw(Struct, frozen=True):
    """Why one alternative of a type does not take a value, or the name in a mapping that leads to it.

    It has either a `wish`, which completes "the option should", or the `reason` that a check gives, or a `sentence`,
    which is the whole message.
    """

    path: KeyPath
    value: object = None
    wish: str = ""
    reason: str = ""
    sentence: str = ""
    is_name: bool = False


def problems(flaws: Iterable[Flaw]) -> Iterator[Problem]:
    """Yield a problem for each option that has flaws."""
    groups: dict[tuple[KeyPath, bool], list[Flaw]] = {}
    for flaw in flaws:
        groups.setdefault((flaw.path, flaw.is_name), []).append(flaw)
    outer = {path[:length] for path, _ in groups for length in range(1, len(path))}
    for (path, _), same in groups.items():
        # Each alternative of a union has flaws; the one that was meant is the one that was understood furthest.
        if path not in outer:
            yield Problem(path, _words(path, same))


def _words(path: KeyPath, flaws: Sequence[Flaw]) -> str:
    """What is wrong with one option; each flaw says what it could have been."""
    first = flaws[0]
    if first.sentence:
        return first.sentence
    name = f"the name `{path[-1]}` in `{'.'.join(path[:-1])}`" if first.is_name else f"`{'.'.join(path)}`"
    reasons = [flaw.reason for flaw in flaws if flaw.reason]  # from the alternative that was understood furthest
    if reasons:
        return "; ".join(reasons) if not path else f"{name}: {'; '.join(reasons)}"
    wishes = dict.fromkeys(flaw.wish for flaw in flaws if flaw.wish)
    instead = "" if first.is_name else _instead(first.value)
    return f"{name} should {' or '.join(wishes).replace(' or be ', ' or ')}{instead}"


def _instead(value: object) -> str:
    """What stands there, if that is short; true, false and null as in YAML and TOML."""
    if isinstance(value, str):
        return f", not {value!r}" if len(value) <= _SHORT else ""
    return f", not {json.dumps(value)}" if value is None or isinstance(value, (int, float)) else ""
