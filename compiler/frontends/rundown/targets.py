"""Check the targets of GOTOs (V10)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

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

    path: str
    target: Target
    step: Step
    substep: Substep | None

    def finding(self, code: str, problem: str, remedy: str, meant: str = "") -> Diagnostic:
        """Return a diagnostic at the target, with the fix that names the intended one."""
        fix = Fix.respelling(self.target.span, str(self.target), meant)
        return Diagnostic(code, self.path, self.target.span, problem, remedy, fix=fix)


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
    for place in _places(source, runbook):
        if problem := _problem(place, known, suggests=found < MOST_SUGGESTED):
            found += 1
            yield problem


def _places(source: Source, runbook: Runbook) -> Iterator[Place]:
    for step in runbook.steps:
        for substep in (None, *step.substeps):
            for transition in (substep or step).transitions:
                if isinstance(transition.action, Goto):
                    yield Place(source.path, transition.action.target, step, substep)


def _problem(place: Place, known: Known, *, suggests: bool) -> Diagnostic | None:
    target = place.target
    if target.step is None:
        return _bare_next(place)
    step = known.steps.get(target.step)
    if step is None:
        # The unreadable header could be the target.
        return None if UNKNOWN in known.steps else _no_step(place, known, suggests=suggests)
    if target.child is not None and (step.id, target.child) not in known.children:
        return None if (step.id, UNKNOWN) in known.children else _no_child(place, step)
    if target.next:
        return _next(place)
    if target.step is Dynamic.STEP and target.child not in {None, Dynamic.SUBSTEP} and place.step is not step:
        text = f"`GOTO {target}` goes into the current instance of {{N}} from outside"
        return place.finding("RD205", text, "use `GOTO {N}` to start the current instance again")
    return _itself(place, step)


def _bare_next(place: Place) -> Diagnostic | None:
    in_substep = place.substep is not None and place.substep.id is Dynamic.SUBSTEP
    if in_substep or place.step.id is Dynamic.STEP:
        return None
    text = "`GOTO NEXT` needs a dynamic step, but this step is not dynamic"
    return place.finding(
        "RD206", text, "name a step (`GOTO 2`, `GOTO NEXT {N}`), or use CONTINUE for the following step"
    )


def _no_step(place: Place, known: Known, *, suggests: bool) -> Diagnostic:
    target = place.target
    if target.step is Dynamic.STEP:
        text = f"`GOTO {target}` needs a dynamic step, but there is none"
        return place.finding("RD204", text, f"the steps are {known.listed}")
    meant = _meant(target, known.names) if suggests else ""
    own = "" if target.next else meant
    remedy = f"did you mean `GOTO {meant}`? The steps are {known.listed}" if meant else f"the steps are {known.listed}"
    if target.step in known.prose:
        remedy = f"the section `{target.step}` is text by the option `prose`; remove it from the option, or: {remedy}"
    return place.finding("RD201", f"there is no step `{spell(target.step or '')}`", remedy, own)


def _meant(target: Target, names: dict[str, str]) -> str:
    """Return the step that a misspelled name or a title's first word probably means, or ""."""
    wanted = spell(target.step or "").casefold()
    if target.child is not None or wanted.isdigit():
        return ""
    return names.get(nearest_name(wanted, names), "")


def _no_child(place: Place, step: Step) -> Diagnostic:
    target = place.target
    known = ", ".join(f"{spell(step.id)}.{spell(substep.id)}" for substep in step.substeps[:12])
    remedy = f"the substeps of step {spell(step.id)} are {known}" if known else f"step {spell(step.id)} has no substeps"
    if target.child is Dynamic.SUBSTEP:
        return place.finding(
            "RD204", f"`GOTO {target}` needs a dynamic substep, but step {spell(step.id)} has none", remedy
        )
    if any(substep.id is Dynamic.SUBSTEP for substep in step.substeps):
        text = f"`GOTO {target}`: the substeps of step {spell(step.id)} are instances of {{n}}"
        dynamic = f"{spell(step.id)}.{{n}}"
        remedy = f"use `GOTO {dynamic}` for the current instance or `GOTO NEXT {dynamic}` for the next"
        return place.finding("RD202", text, remedy)
    return place.finding("RD201", f"there is no step `{target}`", remedy)


def _next(place: Place) -> Diagnostic | None:
    target = place.target
    if target.child is Dynamic.SUBSTEP or (target.step is Dynamic.STEP and target.child is None):
        return None
    plain = str(target).removeprefix("NEXT ")
    return place.finding(
        "RD207",
        f"`GOTO {target}` needs a dynamic step, but step {plain} is not dynamic",
        f"write `GOTO {plain}`",
        plain,
    )


def _itself(place: Place, step: Step) -> Diagnostic | None:
    """Report a static step that jumps to itself, because nothing limits the loop."""
    own = (place.step.id, place.substep.id if place.substep else None)
    if own != (step.id, place.target.child) or Dynamic.SUBSTEP in own or own == (Dynamic.STEP, None):
        return None
    remedy = "use RETRY, which limits the loop: `RETRY 3 STOP`"
    return place.finding("RD203", f"`GOTO {place.target}` jumps to its own step", remedy)
