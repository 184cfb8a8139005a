"""Number steps and substeps 1, 2, 3 … in document order, and update the references to them (V2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from msgspec.structs import replace

from compiler.frontends.rundown.syntax import (
    Goto,
    Identifier,
    Runbook,
    Step,
    Substep,
    Target,
    Transition,
    spell,
)
from compiler.scenarios import Event, Scenario
from compiler.scenarios import Goto as Jump

Label = tuple[Identifier, Identifier | None]
"""A step, or one of its substeps."""


class UnclearError(Exception):
    """A reference is ambiguous, or would only match a step after renumbering."""

    def __init__(self, label: str, meant: Iterable[str]) -> None:
        super().__init__(label)
        self.label = label
        self.meant = tuple(meant)


class Numbering:
    """The new identifiers of a document's steps, by position and by old reference."""

    def __init__(self, runbook: Runbook) -> None:
        self.steps: list[tuple[Identifier, list[Identifier]]] = [
            (step, list(_numbered(substep.id for substep in old.substeps)))
            for old, step in zip(runbook.steps, _numbered(step.id for step in runbook.steps), strict=True)
        ]
        self._meant: defaultdict[Label, list[Label]] = defaultdict(list)
        for old, (step, children) in zip(runbook.steps, self.steps, strict=True):
            self._meant[old.id, None].append((step, None))
            for substep, child in zip(old.substeps, children, strict=True):
                self._meant[old.id, substep.id].append((step, child))
        self._by_label = {_spelled(label): new for label, new in self._meant.items()}
        self._labels = {_spelled(label) for new in self._meant.values() for label in new}

    def labels(self) -> Iterator[Label]:
        """Yield the new identifiers of all steps in document order."""
        for step, children in self.steps:
            yield step, None
            yield from ((step, child) for child in children)

    @property
    def changes(self) -> tuple[tuple[str, str], ...]:
        """The steps that get a new number, as pairs of old and new, in document order."""
        found = ((_spelled(old), _spelled(new)) for old, meant in self._meant.items() for new in meant)
        return tuple((old, new) for old, new in found if old != new)

    def target(self, target: Target) -> Target:
        """Return the new target of a GOTO; raise `UnclearError` if it is ambiguous."""
        if target.step is None:
            return target
        meant = self._meant.get((target.step, target.child), [])
        if len(meant) != 1:
            raise UnclearError(str(target).removeprefix("NEXT "), map(_spelled, meant))
        step, child = meant[0]
        return replace(target, step=step, child=child)

    def label(self, label: str) -> str:
        """Return the new ID of a `rd goto`; an unknown ID stays. Raise `UnclearError` if it is ambiguous."""
        meant = self._by_label.get(label, [])
        if len(meant) > 1 or (not meant and label in self._labels):
            raise UnclearError(label, map(_spelled, meant))
        return _spelled(meant[0]) if meant else label

    def path(self, step: str) -> str:
        """Return the new path of a step, such as `2/lint.runbook.md/1`; raise `UnclearError` if it is ambiguous."""
        label, slash, rest = step.partition("/")
        return self.label(label) + slash + rest

    def runbook(self, runbook: Runbook) -> Runbook:
        """Return the renumbered syntax tree; raise `UnclearError` for an ambiguous reference."""
        steps = tuple(self._step(step, *new) for step, new in zip(runbook.steps, self.steps, strict=True))
        nodes = tuple(replace(said, step=self.path(said.step)) for said in runbook.declared.steps)
        declared = replace(runbook.declared, steps=nodes)
        scenarios = tuple(map(self._scenario, runbook.scenarios))
        return replace(runbook, steps=steps, scenarios=scenarios, declared=declared)

    def _step(self, old: Step, step: Identifier, children: list[Identifier]) -> Step:
        substeps = tuple(
            replace(substep, parent=step, id=child, transitions=self._transitions(substep))
            for substep, child in zip(old.substeps, children, strict=True)
        )
        return replace(old, id=step, substeps=substeps, transitions=self._transitions(old))

    def _transitions(self, step: Step | Substep) -> tuple[Transition, ...]:
        return tuple(map(self.transition, step.transitions))

    def transition(self, transition: Transition) -> Transition:
        """Return the renumbered transition; raise `UnclearError` if its target is ambiguous."""
        action = transition.action
        return replace(transition, action=Goto(self.target(action.target))) if isinstance(action, Goto) else transition

    def _scenario(self, scenario: Scenario) -> Scenario:
        return replace(scenario, replies=tuple(map(self.event, scenario.replies)))

    def event(self, event: Event) -> Event:
        """Return the renumbered event of a scenario; raise `UnclearError` if its target is ambiguous."""
        return replace(event, step=self.label(event.step)) if isinstance(event, Jump) else event


def has_doubled_names(runbook: Runbook) -> bool:
    """Return whether steps share a name, so that renumbering cannot distinguish them (V5)."""
    families: list[Sequence[Step | Substep]] = [runbook.steps, *(step.substeps for step in runbook.steps)]
    named = [[node.id for node in family if not isinstance(node.id, int)] for family in families]
    return any(len(names) > len(set(names)) for names in named)


def _numbered(identifiers: Iterable[Identifier]) -> Iterator[Identifier]:
    numbers = count(1)
    return (next(numbers) if isinstance(identifier, int) else identifier for identifier in identifiers)


def _spelled(label: Label) -> str:
    step, child = label
    return spell(step) if child is None else f"{spell(step)}.{spell(child)}"
