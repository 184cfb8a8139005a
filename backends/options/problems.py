"""Problems with the options of a target, as messages: one for each option."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from compiler.source import KeyPath

_SHORT = 40


class Problem(Struct, frozen=True):
    """A problem with an option. The path to the option is empty for a problem with all of them."""

    path: KeyPath
    text: str


class OptionsError(ValueError):
    """Unknown options or invalid values, with all problems and their messages."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem.text for problem in self.problems))


class Flaw(Struct, frozen=True):
    """Why one alternative of a type does not accept a value, or a name in a mapping.

    It has either a `wish`, which completes "the option should", or the `reason` from a check, or a `sentence`, which is
    the whole message.
    """

    path: KeyPath
    value: object = None
    wish: str = ""
    reason: str = ""
    sentence: str = ""
    is_name: bool = False


def problems(flaws: Iterable[Flaw]) -> Iterator[Problem]:
    """Yield a problem for each option with flaws."""
    groups: dict[tuple[KeyPath, bool], list[Flaw]] = {}
    for flaw in flaws:
        groups.setdefault((flaw.path, flaw.is_name), []).append(flaw)
    outer = {path[:length] for path, _ in groups for length in range(1, len(path))}
    for (path, _), same in groups.items():
        # Each alternative of a union has flaws. The one that got furthest is the intended one.
        if path not in outer:
            yield Problem(path, _words(path, same))


def _words(path: KeyPath, flaws: Sequence[Flaw]) -> str:
    """Return the message for one option."""
    first = flaws[0]
    if first.sentence:
        return first.sentence
    name = f"the name `{path[-1]}` in `{'.'.join(path[:-1])}`" if first.is_name else f"`{'.'.join(path)}`"
    reasons = [flaw.reason for flaw in flaws if flaw.reason]  # from the alternative that got furthest
    if reasons:
        return "; ".join(reasons) if not path else f"{name}: {'; '.join(reasons)}"
    wishes = dict.fromkeys(flaw.wish for flaw in flaws if flaw.wish)
    instead = "" if first.is_name else _instead(first.value)
    return f"{name} should {' or '.join(wishes).replace(' or be ', ' or ')}{instead}"


def _instead(value: object) -> str:
    """Return the actual value for a message, if it is short; true, false and null as in YAML and TOML."""
    if isinstance(value, str):
        return f", not {value!r}" if len(value) <= _SHORT else ""
    return f", not {json.dumps(value)}" if value is None or isinstance(value, (int, float)) else ""
