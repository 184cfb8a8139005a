"""What a walk consists of: visits to leaf units, their outcomes, and an end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .model import Leaf

End = tuple[str, str]
Instances = tuple[int | None, int | None]


@dataclass(frozen=True)
class Visit:
    """One attempt at a leaf unit; `file` is the path of the nested runbook that holds it, else empty.

    `said` is what its command must be given as arguments.
    """

    label: str
    attempt: int
    step_instance: int | None
    substep_instance: int | None
    index: int
    file: str = ""
    is_command: bool = False
    said: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The unit's name within its own file."""
        return self.label.rpartition("/")[2]


OutcomeOf = Callable[[Visit], bool]


@dataclass(frozen=True)
class Walk:
    """The visits with their outcomes, and the end; None where the walk was cut off at its limit."""

    visits: tuple[tuple[Visit, bool], ...]
    end: End | None


class CutOffError(Exception):
    """The walk would need one visit more than its limit allows."""


@dataclass
class Recorder:
    """Asks for outcomes and keeps the walk."""

    outcome_of: OutcomeOf
    limit: int
    visits: list[tuple[Visit, bool]] = field(default_factory=list)

    def ask(self, leaf: Leaf, label: str, attempt: int, instances: Instances, file: str) -> bool:
        """Visit a leaf, whose placeholders are filled, and give its outcome."""
        if len(self.visits) >= self.limit:
            raise CutOffError
        visit = Visit(label, attempt, *instances, len(self.visits), file, leaf.is_command, leaf.said)
        passed = self.outcome_of(visit)
        self.visits.append((visit, passed))
        return passed
