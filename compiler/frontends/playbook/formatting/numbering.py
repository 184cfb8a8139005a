"""Renumber steps 1, 2, 3 … and sub-steps a, b, c … in document order (P4, P14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import ascii_lowercase

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.playbook.lines import Line
from compiler.frontends.playbook.syntax import Branch, Playbook, Step


class Numbering(Struct, frozen=True):
    """The renumbered playbook; `labels` maps heading lines to labels."""

    playbook: Playbook
    labels: Mapping[int, str]
    changes: tuple[tuple[str, str], ...] = ()

    def label(self, heading: Line) -> str:
        """Return a heading's new label."""
        return self.labels[heading.number]


def keep_numbers(playbook: Playbook) -> Numbering:
    """Return the numbering that keeps all numbers."""
    return Numbering(playbook, {step.span.line: step.label for step in _labeled(playbook)})


def new_numbers(playbook: Playbook) -> Numbering:
    """Return the new numbering; if a step has more sub-steps than letters, they keep their labels."""
    renumbered = replace(playbook, steps=tuple(map(_step, playbook.steps, range(1, len(playbook.steps) + 1))))
    before, after = list(_labeled(playbook)), list(_labeled(renumbered))
    labels = {step.span.line: step.label for step in after}
    pairs = ((old.label, new.label) for old, new in zip(before, after, strict=True))
    return Numbering(renumbered, labels, tuple(pair for pair in pairs if pair[0] != pair[1]))


def _labeled(playbook: Playbook) -> Iterator[Step]:
    for step in playbook.steps:
        yield step
        for branch in step.branches:
            yield from (substep for substep in branch.steps if substep.label)


def _step(step: Step, number: int) -> Step:
    count = sum(1 for branch in step.branches for substep in branch.steps if substep.label)
    letters = iter(ascii_lowercase) if count <= len(ascii_lowercase) else None

    def branch(one: Branch) -> Branch:
        return replace(one, steps=tuple(map(substep, one.steps)))

    def substep(one: Step) -> Step:
        letter = (next(letters) if letters else one.label[-1]) if one.label else ""
        return replace(one, number=number, label=f"{number}{letter}" if letter else "")

    return replace(step, number=number, label=str(number), branches=tuple(map(branch, step.branches)))
