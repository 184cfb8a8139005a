"""What declarations mean, by rules E1, E2, E3, E9 and E10: slots, what is visible where, settings, values, secrets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.equivalence.model import Declared, Leaf, Settings
from tests.equivalence.texts import VALUES
from tests.equivalence.visits import SHORTEST, Beyond, Given
from tests.programs.values import MalformedError, values_of

ALL = "*"

Numbers = Mapping[str, int | None]
"""The numbers of the instances that a step is in, by `N` and `n`."""


@dataclass
class Slots:
    """What a run holds: the text of each slot, None where it is unset. `given` is what the run was given."""

    given: Given
    held: dict[str, str | None] = field(default_factory=dict)

    def masked(self, text: str) -> str:
        """E10: without the values of secrets and their lines, in one pass, the longest first."""
        whole = [secret for _, secret in self.given.secrets]
        hidden = {part for secret in whole for part in (secret, *secret.splitlines()) if part.strip()}
        if not hidden:
            return text
        longest_first = sorted(hidden, key=lambda part: -len(part))
        return re.sub("|".join(map(re.escape, longest_first)), "***", text)


Said = tuple[tuple[str, Settings], ...]


@dataclass(frozen=True)
class Scope:
    """What the steps of one inclusion of a runbook have from declarations.

    `names` are the slots of what its texts and commands see, `values` the names that commands may write. `said` has
    the settings by full names of steps, those of outer documents first; `around` are the names of what stands around.
    """

    slots: Slots
    names: Mapping[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    said: Said = ()
    around: tuple[str, ...] = ()

    def include(self, declared: Declared, prefix: str, around: tuple[str, ...]) -> Scope:
        """The scope of a runbook that begins (E9): names of both are the same, others are its own, and new."""
        names = {name: self.names.get(name, prefix + name) for name in declared.names}
        given = {} if prefix else dict(self.slots.given.inputs)
        for item in declared.inputs:
            if item.name not in self.names:
                self.slots.held[names[item.name]] = given.get(item.name, item.default)
        for name in declared.outputs:
            if name not in self.names:
                self.slots.held[names[name]] = None
        said = tuple((prefix.rstrip("/") if step == ALL else prefix + step, says) for step, says in declared.steps)
        return Scope(self.slots, names, declared.outputs, self.said + said, around)

    def filled(self, text: str, numbers: Numbers) -> str:
        """M5, E1: a text with the placeholders of its step replaced, in one pass; one of an unset value stays."""
        held = {f"{{{{{name}}}}}": self.slots.held[slot] for name, slot in self.names.items()}
        values = {written: written if value is None else value for written, value in held.items()}
        return _replaced(text, {**values, **_shown(numbers)})

    def settings(self, around: Sequence[str]) -> Settings:
        """E3: what holds for a step within others; the nearest counts, of two documents the one that includes."""
        found = Settings()
        env: dict[str, str] = {}
        for name in ("", *around):
            for step, says in reversed(self.said):
                if step == name:
                    numbers = {key: getattr(says, key) for key in ("timeout", "delay", "backoff")}
                    found = replace(found, **{key: number for key, number in numbers.items() if number is not None})
                    env |= says.env
        return replace(found, env=tuple(env.items()))

    def visit(self, leaf: Leaf, around: Sequence[str], attempt: int, index: int, shown: str) -> Beyond:
        """What there is beyond the rules of paths in a visit."""
        settings = self.settings(around)
        waits = (settings.delay or 0) * (settings.backoff or 1) ** (attempt - 2) if attempt > 1 else 0
        if not leaf.is_command:
            return Beyond(waits=waits, shown=shown)
        held = {name: self.slots.held[slot] for name, slot in self.names.items()}
        sees = {**dict(settings.env), **{name: value for name, value in held.items() if value is not None}}
        is_quiet = settings.timeout == SHORTEST or not self.values
        text = "" if is_quiet else written(self.slots.given, index, self.values)
        values = values_in(text, self.values)
        return Beyond(
            tuple(sorted(sees.items())),
            keeps=bool(self.values),
            writes=text,
            values=tuple((name, self.slots.masked(value)) for name, value in (values or {}).items()),
            is_broken=values is None,
            timeout=settings.timeout,
            waits=waits,
        )

    def keep(self, values: Sequence[tuple[str, str]]) -> None:
        """E2: what a command wrote is known from the next step on."""
        for name, value in values:
            self.slots.held[self.names[name]] = value


def with_numbers(text: str, numbers: Numbers) -> str:
    """M5: the text of a command with the numbers of instances; values are never text in it (E1)."""
    return _replaced(text, _shown(numbers))


def _shown(numbers: Numbers) -> dict[str, str]:
    return {f"{{{name}}}": str(number) for name, number in numbers.items() if number is not None}


def _replaced(text: str, placeholders: Mapping[str, str]) -> str:
    if not placeholders:
        return text
    pattern = "|".join(map(re.escape, placeholders))
    return re.sub(rf"(?<!\$)(?:{pattern})", lambda match: placeholders[match[0]], text)


def values_in(text: str, names: Sequence[str]) -> dict[str, str] | None:
    """The values in what a command wrote; None if it is malformed."""
    try:
        return values_of(text, names)
    except MalformedError:
        return None


# --- What commands write ----------------------------------------------------------------------------------------------


def written(given: Given, index: int, names: Sequence[str]) -> str:
    """What the command of a visit writes: nothing, values in both forms, seldom something else."""
    if not given.writes:
        return ""
    chances = _chances(f"{given.writes}/{index}")
    kind = next(chances) % 16
    if kind < 5:
        return ""
    if kind == 15:
        return _broken(chances, names)
    lines = [_line(chances, names[next(chances) % len(names)], given) for _ in range(1 + (kind > 11))]
    return "".join(lines)[: -1 if kind == 6 else None]


def _line(chances: Iterator[int], name: str, given: Given) -> str:
    number = next(chances)
    value = VALUES[(number * 256 + next(chances)) % len(VALUES)]
    if given.secrets and number % 4 == 0:
        value = f"a{given.secrets[number % len(given.secrets)][1]}{value}"
    if "\n" in value or number % 3 == 0:
        return f"{name}<<END_OF_VALUE\n{value}\nEND_OF_VALUE\n"
    return f"{name}={value}\n"


def _broken(chances: Iterator[int], names: Sequence[str]) -> str:
    first = f"{names[0]}=lost\n"
    return (
        "undeclared=1\n",
        f"{first}{names[0]}\n",
        f"{first}\n",
        f"{names[0]}<<END\nno end\n",
        f"{names[0]}<<\n\n",
        f"{first}PATH=/nowhere\n",
        f" {names[0]}=space\n",
        f"{names[0]}={'x' * 65_537}\n",
        f"{first}export {names[0]}=1\n",
    )[next(chances) % 9]


def _chances(text: str) -> Iterator[int]:
    """Numbers below 256 that look random, always the same for a text."""
    yield from hashlib.sha256(text.encode()).digest()
