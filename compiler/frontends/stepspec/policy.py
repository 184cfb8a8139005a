"""Decide whether a person must approve a step, and why (B8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from compiler.frontends.stepspec.runtime import Policy
from compiler.frontends.stepspec.syntax import StepSpec


class Subject(Struct, frozen=True):
    """The properties that policies look at: the step's phase and the workflow's id."""

    phase: str
    workflow: str


def reason_to_block(step: StepSpec, about: Subject, policy: Policy) -> str:
    """Return why a person must approve a step, or "". The first matching rule decides."""
    if about.phase in (policy.required_phases or ()):
        return f"phase {about.phase} is in required_phases"
    if word := _word(policy.high_risk_keywords, about):
        return f"workflow {about.workflow} contains the word {word} from high_risk_keywords"
    if step.human_gate == "required":
        return "human_gate: required"
    if step.human_gate == "conditional" and policy.conditional_required:
        return next(_conditions(about, policy), "")
    if step.human_gate == "recommended" and policy.recommended_required:
        return "human_gate: recommended, and recommended_required is set"
    return ""


def _conditions(about: Subject, policy: Policy) -> Iterator[str]:
    if about.phase in (policy.conditional_phases or ()):
        yield f"human_gate: conditional, and phase {about.phase} is in conditional_phases"
    if word := _word(policy.conditional_keywords, about):
        words = f"the word {word} from conditional_keywords"
        yield f"human_gate: conditional, and workflow {about.workflow} contains {words}"


def _word(words: list[str] | None, about: Subject) -> str:
    """Return the first word that is part of the workflow's id, or ""."""
    return next((word for word in words or () if word and word in about.workflow), "")


def unmet_rules(
    steps: Sequence[tuple[StepSpec, Subject]], policy: Policy, *, applies: bool, is_shared: bool
) -> Iterator[tuple[str, int, str]]:
    """Yield the key, number and problem of each conditional rule that no step can meet (B8).

    Other documents may need the rules of a shared policy, so only one that differs in case from a name here counts.
    """
    abouts = [about for step, about in steps if step.human_gate == "conditional"]
    off = "" if applies else "`conditional_required` is not true"
    off = off if abouts else "no step has `human_gate: conditional`"
    for key, words in (("phases", policy.conditional_phases), ("keywords", policy.conditional_keywords)):
        names = {about.phase if key == "phases" else about.workflow for about in abouts}
        for number, word in enumerate(words or ()):
            is_met = word in names if key == "phases" else any(word and word in name for name in names)
            near = next((name for name in names if word and word.casefold() in name.casefold()), "")
            if (off or not is_met) and (not is_shared or (near and not is_met)):
                hint = f"case matters in `{near}`" if near else f"no conditional step has this {key[:-1]}"
                yield f"conditional_{key}", number, off or hint
