"""The tools of steps with their risks, the gates that steps need, and their checks (B8, B9, B11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import get_args

from msgspec import Struct

from compiler.frontends.stepspec.runtime import Policy, Runtime
from compiler.frontends.stepspec.syntax import RISKS, Risk, StepSpec, ToolCall
from compiler.ir.tasks import Check
from runtime_shim.contract.step_builder import checks_of as checks_named
from runtime_shim.contract.step_builder import installed, language_of
from runtime_shim.contract.tool_schemas import BUILT_IN


class Asked(Struct, frozen=True):
    """A gate that a step needs, and the reason."""

    gate: str
    reason: str


def known_tools(runtime: Runtime) -> list[str]:
    """Return the names of all tools."""
    return [*BUILT_IN, *(runtime.tools or {})]


def risk_of(call: ToolCall, runtime: Runtime) -> Risk:
    """Return the risk of a call: the higher of its own risk and its tool's risk."""
    own = (runtime.tools or {}).get(call.name)
    return max(call.risk or "low", (own and own.risk) or "low", key=RISKS.index)


def tool_gate(call: ToolCall, step: StepSpec) -> str:
    """Return the gate of a high-risk call without `gate`."""
    return f"tool:{call.name}:{step.id}"


def tool_gates(step: StepSpec, runtime: Runtime) -> Iterator[Asked]:
    """Yield the gates that the calls of a step need, in order and possibly with duplicates."""
    for call in step.tools or ():
        is_high = risk_of(call, runtime) == "high"
        if call.gate:
            risk = " has high risk, and" if is_high else ""
            yield Asked(call.gate, f"the tool {call.name}{risk} names this gate")
        elif is_high:
            yield Asked(tool_gate(call, step), f"the tool {call.name} has high risk")


@lru_cache(maxsize=16)  # most steps have one of a few policies, and several rules ask for it
def checks_of(policy: str) -> tuple[Check, ...]:
    """Return the checks of a validation. They always include `exists`."""
    named = checks_named(policy)
    return tuple(check for check in get_args(Check) if check in named)


def skipped_checks(policy: str, targets: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield why a run would skip a check for all targets, each with the remedy (B11)."""
    checks, languages = checks_of(policy), {language_of(path) for path in targets}
    for check, program in (("types", "mypy"), ("lint", "ruff")):
        if check in checks and "Python" in languages and not installed(program):
            yield f"{program} is not installed here, so a run here skips its check", f"install {program}"
    is_known = not any("{" in path.rpartition("/")[2] for path in targets)
    if is_known and languages == {""} and not {"ast", "types", "lint"}.isdisjoint(checks):
        problem = f"the checks of `{policy}` skip every file of this step: none is JSON, YAML or Python"
        yield problem, "remove the words that check code, or name other files in validation_targets"


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
