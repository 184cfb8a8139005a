"""What a path consists of: visits to leaf steps, their outcomes, and an end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.programs.values import values_of

End = tuple[str, str]
Instances = tuple[int | None, int | None]


@dataclass(frozen=True)
class Beyond:
    """What rules E1 to E10 add to a visit; a document that declares nothing has nothing of it.

    A command `sees` variables, is given a file for values if `keeps`, and `writes` to it: `values`, in which secrets
    are masked, unless `is_broken` says that what it writes makes it fail. `timeout` and `waits` are in seconds. The
    text of a prompt is `shown`, if it may have a reference to a value.
    """

    sees: tuple[tuple[str, str], ...] = ()
    keeps: bool = False
    writes: str = ""
    values: tuple[tuple[str, str], ...] = ()
    is_broken: bool = False
    timeout: int | None = None
    waits: int = 0
    shown: str = ""

    @property
    def given(self) -> tuple[tuple[str, str], ...]:
        """The values as they are written, for a person who gives them."""
        return tuple(values_of(self.writes, [name for name, _ in self.values]).items()) if self.values else ()

    @property
    def hangs(self) -> bool:
        """Whether the command goes on until its time is over."""
        return self.timeout == SHORTEST


SHORTEST = 1
"""The timeout that is always reached, in seconds."""

NOTHING = Beyond()


@dataclass(frozen=True)
class Visit:
    """One attempt at a leaf step; `file` is the path of the nested runbook that holds it, else empty.

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
    beyond: Beyond = NOTHING

    @property
    def step(self) -> str:
        """The step's name within its own file."""
        return self.label.rpartition("/")[2]


OutcomeOf = Callable[[Visit], bool]


@dataclass(frozen=True)
class Jump:
    """An operator's jump (E6), made after so many visits: from a prompt that waits, or after a STOP, to a step."""

    index: int
    waiting: str
    """The step that is asked about; "" if the run has ended by STOP."""
    step: str


@dataclass(frozen=True)
class Given:
    """What a run is given, and what its commands write: `writes` chooses that, 0 for nothing."""

    inputs: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    writes: int = 0


@dataclass(frozen=True)
class Trace:
    """The visits with their outcomes, and the end; None where the path was cut off at its limit."""

    visits: tuple[tuple[Visit, bool], ...]
    end: End | None
    given: Given = Given()
    jumps: tuple[Jump, ...] = ()

    @property
    def seconds(self) -> int:
        """How long the path waits for timeouts and between attempts."""
        return sum(visit.beyond.waits + visit.beyond.hangs for visit, _ in self.visits)


class CutOffError(Exception):
    """The path would need one visit more than its limit allows."""


@dataclass
class Recorder:
    """Asks for outcomes and keeps the path."""

    outcome_of: OutcomeOf
    limit: int
    visits: list[tuple[Visit, bool]] = field(default_factory=list)
    jumps: list[Jump] = field(default_factory=list)

    def ask(self, visit: Visit) -> bool:
        """Visit a leaf, whose placeholders are filled, and give its outcome."""
        if len(self.visits) >= self.limit:
            raise CutOffError
        beyond = visit.beyond
        passed = not (beyond.hangs or beyond.is_broken) and self.outcome_of(visit)
        self.visits.append((visit, passed))
        return passed
