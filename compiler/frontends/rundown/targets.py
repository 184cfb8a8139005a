"""Check the targets of GOTOs (V10)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from compiler.diagnostic import Diagnostic, Fix
from compiler.frontends.rundown.syntax import UNKNOWN, Dynamic, Goto, Identifier, Runbook, Step, Substep, Target, spell
from compiler.regex import Regex
from compiler.source import Source
from compiler.suggestions import nearest_name

WORD = Regex(r"\W")
"""Matches the end of the name at the start of a heading."""


MOST_SUGGESTED = 100
"""The most unknown steps per document that get a suggestion: comparing names is slow."""


class Place(Struct, frozen=True):
    """A GOTO with its step, and its substep unless the transition belongs to the step."""

    target: Target
    step: Step
    substep: Substep | None


class Known(Struct, frozen=True, dict=True):
    """The possible targets of a GOTO: steps, substeps by step, and prose sections."""

    steps: dict[Identifier, Step]
    children: set[tuple[Identifier, Identifier]]
    prose: set[str]

    @cached_property
    def listed(self) -> str:
        """The first steps, for messages."""
        return ", ".join(spell(identifier) for identifier in list(reversed(self.steps))[:12])

    @cached_property
    def names(self) -> dict[str, str]:
        """The steps by name and by the first word of their title, to find misspelled names."""
        named = {spell(name).casefold(): spell(name) for name in self.steps if not isinstance(name, int)}
        words = ((word, step) for step in self.steps.values() for word in WORD.split(step.title, maxsplit=1)[:1])
        return named | {
            word.casefold(): spell(step.id) for word, step in words if word and word.casefold() not in named
        }


def check_targets(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report each GOTO whose target doesn't exist or cannot be reached from its place."""
    known = Known(
        {step.id: step for step in reversed(runbook.steps)},
        {(step.id, substep.id) for step in runbook.steps for substep in step.substeps},
        {WORD.split(heading, maxsplit=1)[0] for heading in runbook.prose},
    )
    found = 0
    for place in _places(runbook):
        problem = _problem(place, known, suggests=found < MOST_SUGGESTED)
        if problem:
            found += 1
            fix = Fix.respelling(place.target.span, str(place.target), problem.meant)
            yield Diagnostic(problem.code, source.path, place.target.span, problem.text, problem.remedy, fix=fix)


def _places(runbook: Runbook) -> Iterator[Place]:
    for step in runbook.steps:
        for substep in (None, *step.substeps):
            for transition in (substep or step).transitions:
                if isinstance(transition.action, Goto):
                    yield Place(transition.action.target, step, substep)


class Problem(NamedTuple):
    """A code, the problem, the remedy, and the intended target or ""."""

    code: str
    text: str
    remedy: str
    meant: str = ""


def _problem(place: Place, known: Known, *, suggests: bool) -> Problem | None:
    target = place.target
    if target.step is None:
        return _bare_next(place)
    step = known.steps.get(target.step)
    if step is None:
        # The unreadable header could be the target.
        return None if UNKNOWN in known.steps else _no_step(target, known, suggests=suggests)
    if target.child is not None and (step.id, target.child) not in known.children:
        return None if (step.id, UNKNOWN) in known.children else _no_child(target, step)
    if target.next:
        return _next(target)
    if target.step is Dynamic.STEP and target.child not in {None, Dynamic.SUBSTEP} and place.step is not step:
        text = f"`GOTO {target}` goes into the current instance of {{N}} from outside"
        return Problem("RD205", text, "use `GOTO {N}` to start the current instance again")
    return _itself(place, step)


def _bare_next(place: Place) -> Problem | None:
    in_substep = place.substep is not None and place.substep.id is Dynamic.SUBSTEP
    if in_substep or place.step.id is Dynamic.STEP:
        return None
    text = "`GOTO NEXT` needs a dynamic step, but this step is not dynamic"
    return Problem("RD206", text, "name a step (`GOTO 2`, `GOTO NEXT {N}`), or use CONTINUE for the following step")


def _no_step(target: Target, known: Known, *, suggests: bool) -> Problem:
    if target.step is Dynamic.STEP:
        text = f"`GOTO {target}` needs a dynamic step, but there is none"
        return Problem("RD204", text, f"the steps are {known.listed}")
    meant = _meant(target, known.names) if suggests else ""
    own = "" if target.next else meant
    remedy = f"did you mean `GOTO {meant}`? The steps are {known.listed}" if meant else f"the steps are {known.listed}"
    if target.step in known.prose:
        remedy = f"the section `{target.step}` is text by the option `prose`; remove it from the option, or: {remedy}"
    return Problem("RD201", f"there is no step `{spell(target.step or '')}`", remedy, own)


def _meant(target: Target, names: dict[str, str]) -> str:
    """Return the step that a misspelled name or a title's first word probably means, or ""."""
    wanted = spell(target.step or "").casefold()
    if target.child is not None or wanted.isdigit():
        return ""
    return names.get(nearest_name(wanted, names), "")


def _no_child(target: Target, step: Step) -> Problem:
    known = ", ".join(f"{spell(step.id)}.{spell(substep.id)}" for substep in step.substeps[:12])
    remedy = f"the substeps of step {spell(step.id)} are {known}" if known else f"step {spell(step.id)} has no substeps"
    if target.child is Dynamic.SUBSTEP:
        return Problem("RD204", f"`GOTO {target}` needs a dynamic substep, but step {spell(step.id)} has none", remedy)
    if any(substep.id is Dynamic.SUBSTEP for substep in step.substeps):
        text = f"`GOTO {target}`: the substeps of step {spell(step.id)} are instances of {{n}}"
        dynamic = f"{spell(step.id)}.{{n}}"
        remedy = f"use `GOTO {dynamic}` for the current instance or `GOTO NEXT {dynamic}` for the next"
        return Problem("RD202", text, remedy)
    return Problem("RD201", f"there is no step `{target}`", remedy)


def _next(target: Target) -> Problem | None:
    if target.child is Dynamic.SUBSTEP or (target.step is Dynamic.STEP and target.child is None):
        return None
    place = str(target).removeprefix("NEXT ")
    return Problem(
        "RD207",
        f"`GOTO {target}` needs a dynamic step, but step {place} is not dynamic",
        f"write `GOTO {place}`",
        place,
    )


def _itself(place: Place, step: Step) -> Problem | None:
    """Report a static step that jumps to itself, because nothing limits the loop."""
    own = (place.step.id, place.substep.id if place.substep else None)
    if own != (step.id, place.target.child) or Dynamic.SUBSTEP in own or own == (Dynamic.STEP, None):
        return None
    remedy = "use RETRY, which limits the loop: `RETRY 3 STOP`"
    return Problem("RD203", f"`GOTO {place.target}` jumps to its own step", remedy)
