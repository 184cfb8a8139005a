"""Whether a person must let a step start, and why (B8)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compiler.frontends.stepspec.runtime import Policy
from compiler.frontends.stepspec.syntax import StepSpec


class Subject(Struct, frozen=True):
    """What policies look at: the phase of a step, and the id of its workflow."""

    phase: str
    workflow: str


def reason_to_block(step: StepSpec, about: Subject, policy: Policy) -> str:
    """Why a person must let a step start, "" where nobody must. The first rule that applies decides."""
    if about.phase in (policy.required_phases or ()):
        return f"the phase {about.phase} is among required_phases"
    if word := _word(policy.high_risk_keywords, about):
        return f"the workflow {about.workflow} has the word {word} of high_risk_keywords"
    if step.human_gate == "required":
        return "human_gate: required"
    if step.human_gate == "conditional" and policy.conditional_required:
        return next(_conditions(about, policy), "")
    if step.human_gate == "recommended" and policy.recommended_required:
        return "human_gate: recommended, and recommended_required holds"
    return ""


def _conditions(about: Subject, policy: Policy) -> Iterator[str]:
    if about.phase in (policy.conditional_phases or ()):
        yield f"human_gate: conditional, and the phase {about.phase} is among conditional_phases"
    if word := _word(policy.conditional_keywords, about):
        yield f"human_gate: conditional, and the workflow {about.workflow} has the word {word} of conditional_keywords"


def _word(words: list[str] | None, about: Subject) -> str:
    """The first of some words that stands in the id of the workflow, "" for none."""
    return next((word for word in words or () if word and word in about.workflow), "")
