"""Rules that every run of a program respects, and the events that they are about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.edges import Edge


class Event(Struct, frozen=True):
    """Something that happens in a run.

    With an empty `word`, the step starts an attempt; `step` is then a node with a task. Otherwise the step, group or
    entry gets that outcome. The end of the run is the outcome `complete` or `stop` of the step "".
    """

    step: str
    word: str = ""


class Rule(Struct, frozen=True, dict=True):
    """A rule as a machine: a lock with one bit, or a count if `most` is set.

    A guarded event breaks the rule while the lock is closed, or when it happens for the `most` + 1st time. For one
    event, a run checks first, then closes, then opens (P-5). `sentence` is the rule as written, and `needs` is the part
    that opens it. `scope` is the group of the inclusion that the rule belongs to: each start of it starts the rule
    again; "" is the whole run. `persons` are the questions and gates that only a person may answer (P-9). `override` is
    true if an operator can let one event pass (P-16).
    """

    name: str
    sentence: str
    guards: tuple[Event, ...]
    opens: tuple[Event, ...] = ()
    closes: tuple[Event, ...] = ()
    is_open: bool = False
    most: int | None = None
    needs: str = ""
    why: str = ""
    scope: str = ""
    persons: tuple[str, ...] = ()
    override: bool = True

    @property
    def initial(self) -> int:
        """The value at the start: 1 for an open lock, 0 for a closed lock or for a count."""
        return int(self.is_open and self.most is None)

    @cached_property
    def _guarded(self) -> frozenset[Event]:
        return frozenset(self.guards)

    @cached_property
    def _moving(self) -> dict[Event, int]:
        return dict.fromkeys(self.closes, 0) | dict.fromkeys(self.opens, 1)  # an event that does both opens

    def about(self, steps: Collection[str]) -> Rule:
        """Return the rule without events of other steps, which never happen."""
        guards, opens, closes = (
            tuple(event for event in events if event.step in steps) for events in (self.guards, self.opens, self.closes)
        )
        persons = tuple(step for step in self.persons if step in steps)
        return replace(self, guards=guards, opens=opens, closes=closes, persons=persons)

    def breaks(self, value: int, event: Event) -> bool:
        """Return whether an event breaks the rule at a value."""
        return event in self._guarded and (value == 0 if self.most is None else value >= self.most)

    def after(self, value: int, event: Event) -> int:
        """Return the value after an event."""
        if self.most is not None:
            return min(value + 1, self.most + 1) if event in self._guarded else value
        return self._moving.get(event, value)


def events_after(step: str, word: str | None, edges: Iterable[Edge]) -> Iterator[Event]:
    """Yield the events of a step's outcome and of the outcomes that its transition settles, inner ones first (P-6)."""
    if word is not None:
        yield Event(step, word)
    for edge in edges:
        for settled in edge.settles:
            yield Event(settled.step, settled.word)
