"""Number steps and substeps 1, 2, 3 … in document order, and update the references to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from operator import ne
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Edit
from compiler.frontends.rundown.syntax import (
    Goto,
    Identifier,
    Runbook,
    Step,
    Substep,
    Target,
    Transition,
    all_steps,
    spell,
)
from compiler.rules.model import DeclaredRule
from compiler.scenarios.model import Event
from compiler.scenarios.model import Goto as Jump
from compiler.text.source import Source, Span

if TYPE_CHECKING:
    from compiler.frontends.common.marks import Marks


class Renumbering(NamedTuple):
    """The edits for new numbers, and the references to a number that several steps have, or none before renumbering."""

    edits: list[Edit]
    unclear: list[Diagnostic]


class Reference(NamedTuple):
    """A reference to steps in the frontmatter: its place, its old and new text, and the words of messages about it."""

    span: Span | None
    old: str
    new: Callable[[], str]
    shown: str
    subject: str
    remedy: str


def _references(runbook: Runbook, numbering: Numbering) -> Iterator[Reference]:
    for jump in (one for scenario in runbook.scenarios for one in scenario.jumps):
        shown, new = f"rd goto {jump.step}", partial(numbering.label, jump.step)
        remedy = f"write it as a plain string on one line: `- {shown}`"
        yield Reference(jump.span, jump.step, new, shown, f"`{shown}`", remedy)
    for one in runbook.declared.steps:
        subject, remedy = f"`{one.step}` under `steps`", f'write it as a plain key: `"{one.step}":`'
        new = partial(numbering.path, one.step)
        yield Reference(one.place().span, one.step, new, f"steps: {one.step}", subject, remedy)
    for rule in runbook.declared.rules:
        new, shown = partial(numbering.sentence, rule), f"rule {rule.name}"
        subject = f"the steps in rule `{rule.name}`"
        yield Reference(rule.place.span, rule.sentence, new, shown, subject, "write the rule on one line")


def renumbering(source: Source, runbook: Runbook, numbering: Numbering, marks: Marks) -> Renumbering:
    """Return the edits for new numbers in the frontmatter; `marks` are its references to steps, each as a whole."""
    edits: list[Edit] = []
    found = [*_unclear_targets(source, runbook, numbering)]
    for one in _references(runbook, numbering):
        try:
            new = one.new()
            inside = {mark: numbering.path(mark.name) for mark in marks if one.span and one.span.has(mark.span)}
        except AmbiguousReferenceError as error:
            found.append(_unclear(source, one.span, one.shown, error))
            continue
        own = [Edit(mark.span, name) for mark, name in inside.items() if name != mark.name]
        if len(own) != sum(map(ne, one.old.split(), new.split())):
            problem = f"rdc cannot renumber {one.subject} in this form"
            found.append(Diagnostic("RD117", source.path, one.span, problem, one.remedy))
        edits += own
    return Renumbering(edits, found)


def _unclear_targets(source: Source, runbook: Runbook, numbering: Numbering) -> Iterator[Diagnostic]:
    for step in all_steps(runbook):
        for transition in step.transitions:
            if isinstance(transition.action, Goto):
                target = transition.action.target
                try:
                    numbering.target(target)
                except AmbiguousReferenceError as error:
                    yield _unclear(source, target.span, f"GOTO {target}", error)


def _unclear(source: Source, span: Span | None, reference: str, error: AmbiguousReferenceError) -> Diagnostic:
    if error.meant:
        problem = f"rdc cannot renumber `{reference}`: several steps have the number {error.label}"
        remedy = "give the step you mean a unique number, here and in its header"
    else:
        problem = f"there is no step for `{reference}`, but there would be one after renumbering"
        remedy = "fix or remove the reference"
    return Diagnostic("RD117", source.path, span, problem, remedy)


Label = tuple[Identifier, Identifier | None]
"""A step, or one of its substeps."""


class AmbiguousReferenceError(Exception):
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
        """Return the new target of a GOTO; raises `AmbiguousReferenceError`."""
        if target.step is None:
            return target
        meant = self._meant.get((target.step, target.child), [])
        if len(meant) != 1:
            raise AmbiguousReferenceError(str(target).removeprefix("NEXT "), map(_spelled, meant))
        step, child = meant[0]
        return replace(target, step=step, child=child)

    def label(self, label: str) -> str:
        """Return the new ID of a `rd goto`; an unknown ID stays. Raise `AmbiguousReferenceError` if it is ambiguous."""
        meant = self._by_label.get(label, [])
        if len(meant) > 1 or (not meant and label in self._labels):
            raise AmbiguousReferenceError(label, map(_spelled, meant))
        return _spelled(meant[0]) if meant else label

    def path(self, step: str) -> str:
        """Return the new path of a step, such as `2/lint.runbook.md/1`; raises `AmbiguousReferenceError`."""
        label, slash, rest = step.partition("/")
        return self.label(label) + slash + rest

    def runbook(self, runbook: Runbook) -> Runbook:
        """Return the renumbered syntax tree; raise `AmbiguousReferenceError` for an ambiguous reference."""
        steps = tuple(self._step(step, *new) for step, new in zip(runbook.steps, self.steps, strict=True))
        nodes = tuple(replace(settings, step=self.path(settings.step)) for settings in runbook.declared.steps)
        rules = tuple(replace(rule, sentence=self.sentence(rule)) for rule in runbook.declared.rules)
        declared = replace(runbook.declared, steps=nodes, rules=rules)
        scenarios = tuple(replace(one, replies=tuple(map(self.event, one.replies))) for one in runbook.scenarios)
        return replace(runbook, steps=steps, scenarios=scenarios, declared=declared)

    def sentence(self, rule: DeclaredRule) -> str:
        """Return a rule's sentence with the new ids of steps; raise `AmbiguousReferenceError` if one is ambiguous."""
        from compiler.rules.sentences import renumbered  # noqa: PLC0415 (few documents have rules)

        sentence = renumbered(rule.sentence, self.path)
        return rule.sentence if sentence == " ".join(rule.sentence.split()) else sentence

    def _step(self, old: Step, step: Identifier, children: list[Identifier]) -> Step:
        substeps = tuple(
            replace(substep, parent=step, id=child, transitions=self._transitions(substep))
            for substep, child in zip(old.substeps, children, strict=True)
        )
        return replace(old, id=step, substeps=substeps, transitions=self._transitions(old))

    def _transitions(self, step: Step | Substep) -> tuple[Transition, ...]:
        return tuple(map(self.transition, step.transitions))

    def transition(self, transition: Transition) -> Transition:
        """Return the renumbered transition; raise `AmbiguousReferenceError` if its target is ambiguous."""
        action = transition.action
        return replace(transition, action=Goto(self.target(action.target))) if isinstance(action, Goto) else transition

    def event(self, event: Event) -> Event:
        """Return the renumbered event of a scenario; raise `AmbiguousReferenceError` if its target is ambiguous."""
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
