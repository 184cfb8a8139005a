"""The tools of steps with their risks, the gates that steps need, and their checks (B9)."""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, get_args

from msgspec import Struct

from compiler.diagnostics.issues import SourceMap
from compiler.diagnostics.model import DataPath, Diagnostic
from compiler.frontends.stepspec.placeholders import json_text, with_json_references
from compiler.frontends.stepspec.syntax import (
    RISKS,
    STEPS,
    Called,
    Document,
    Policy,
    Risk,
    Runtime,
    StepSpec,
    ToolCall,
    stages,
)
from compiler.ir.program import SpecifiedStep, StepSpecs
from compiler.ir.tasks import Check
from compiler.ir.texts import Text
from runtime_shim.stepspec.step_builder import checks_of as checks_named
from runtime_shim.stepspec.step_builder import installed, language_of


class Asked(Struct, frozen=True):
    """A gate that a step needs, and the reason."""

    gate: str
    reason: str


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
        if about.phase in (policy.conditional_phases or ()):
            return f"human_gate: conditional, and phase {about.phase} is in conditional_phases"
        if word := _word(policy.conditional_keywords, about):
            words = f"the word {word} from conditional_keywords"
            return f"human_gate: conditional, and workflow {about.workflow} contains {words}"
    if step.human_gate == "recommended" and policy.recommended_required:
        return "human_gate: recommended, and recommended_required is set"
    return ""


def _word(words: list[str] | None, about: Subject) -> str:
    """Return the first word that is part of the workflow's id, or ""."""
    return next((word for word in words or () if word and word in about.workflow), "")


def unmet_rules(
    steps: Sequence[tuple[StepSpec, Subject]], policy: Policy, *, applies: bool, is_shared: bool
) -> Iterator[tuple[str, int, str]]:
    """Yield key, number and problem of each unmet conditional rule; of a shared policy, only wrong case counts."""
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


Table = dict[str, Any]


def stepspec_of(document: Document, called: Called, runtime: Runtime) -> StepSpecs:
    """Return the contract of a specification without errors."""
    about = document.workflow.model_dump(exclude_none=True) if document.workflow else {}
    workflow = {**about, "module": called.module, "workflow": called.workflow}
    steps = tuple(
        SpecifiedStep(spec.id, _spec(spec, phase_of(spec, document), runtime)) for spec in document.step_specs
    )
    about_workflow, config = (json.dumps(value, ensure_ascii=False) for value in (workflow, _config(runtime)))
    return StepSpecs(about_workflow, steps, config)


def phase_of(spec: StepSpec, document: Document) -> str:
    """Return the phase of a step. It defaults to the phase of the workflow."""
    return spec.phase or (document.workflow and document.workflow.phase) or ""


def _spec(spec: StepSpec, phase: str, runtime: Runtime) -> Text:
    output = spec.retries
    most = output.max if output and output.max is not None else runtime.max_retries
    stored = [spec.id, spec.title, phase, spec.validation, *(f"{call.name}{call.gate}" for call in spec.tools or ())]
    is_filled_at_once = not any("{" in text for text in stored if text)  # the usual case, and several times as fast
    filled = (lambda value: value) if is_filled_at_once else with_json_references
    table = {
        "id": spec.id,
        "name": spec.title,
        "description": filled(spec.description or ""),
        "phase": phase,
        "inputs": filled(spec.inputs or {}),
        "outputs": filled(spec.outputs or []),
        "templates": filled(spec.templates or []),
        "tools": [
            {
                "name": call.name,
                "args": filled(call.args or {}),
                "required": bool(call.required),
                "risk": risk_of(call, runtime),
                **({"gate": call.gate} if call.gate else {}),
            }
            for call in spec.tools or ()
        ],
        "validation": spec.validation or "",
        "evidence": spec.level or "none",
        "human_gate": spec.human_gate or "optional",
        "retries": {"max": most or 0, "backoff_seconds": (output and output.backoff_seconds) or 0},
    }
    return with_json_references(table) if is_filled_at_once else json_text(table)


def _config(runtime: Runtime) -> Table:
    both = runtime.guardrails
    sides = {"input": both.input, "output": both.output} if both else {}
    found: Table = {
        "step_timeout_seconds": runtime.step_timeout_seconds,
        "executor": runtime.executor,
        "context": runtime.context,
        "guardrails": {
            side: {"blocklist": output.blocklist or [], "patterns": output.patterns or []}
            for side, output in sides.items()
            if output
        },
        "tools": {name: tool.model_dump(exclude_none=True) for name, tool in (runtime.tools or {}).items()},
    }
    return {key: value for key, value in found.items() if value}


LONGEST_NAME = 100  # in characters; names become parts of file names

_LIMITS = {
    "step id": ", without `/`, and without `-` at the start",
    "gate name": ", without `-` at the start",
    "module name": ", without `-` at the start",
}
"""Extra limits of names that are arguments of commands, where a leading `-` marks an option."""


def name_findings(document: Document, called: Called, places: SourceMap) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a specification's names."""
    for at, name, what in _names(document):
        if problem := _unfit(name, what):
            remedy = f"use a short name on one line{_LIMITS.get(what, '')}"
            yield places.diagnostic("RD856", at, f"{problem} is not a valid {what}", remedy)
    yield from _unique(document, places)
    yield from _gates(document, called, places)


def _names(document: Document) -> Iterator[tuple[DataPath, str, str]]:
    about = document.workflow
    if about:
        yield from (
            (("workflow", key), name, f"{key} name")
            for key, name in (("module", about.module), ("workflow", about.workflow))
            if name is not None
        )
    for number, step in enumerate(document.step_specs):
        at: DataPath = (STEPS, number)
        yield (*at, "id"), step.id, "step id"
        for place, call in enumerate(step.tools or ()):
            yield (*at, "tools", place, "name"), call.name, "tool name"
            if call.gate is not None:
                yield (*at, "tools", place, "gate"), call.gate, "gate name"


def _unfit(name: str, what: str) -> str:
    is_fit = name and name == name.strip() and name.isprintable() and len(name) <= LONGEST_NAME
    if what in _LIMITS:
        is_fit = is_fit and not name.startswith("-")
    if what == "step id":
        is_fit = is_fit and "/" not in name and name not in (".", "..")
    shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    return "" if is_fit else (f"`{shown}`" if name.strip() else "an empty string")


def _unique(document: Document, places: SourceMap) -> Iterator[Diagnostic]:
    first: dict[str, int] = {}
    for number, step in enumerate(document.step_specs):
        before = first.setdefault(step.id.casefold(), number)
        if not step.id or before == number:
            continue
        other = document.step_specs[before].id
        here, there = (STEPS, number, "id"), ((STEPS, before, "id"), "the first one")
        if other == step.id:
            problem = f"two steps have the id `{step.id}`"
            yield places.diagnostic("RD857", here, problem, "change one of them", there)
        else:
            problem = f"the ids `{other}` and `{step.id}` differ only in case, so they would use the same file"
            yield places.diagnostic("RD858", here, problem, "change one of them", there)


def _gates(document: Document, called: Called, places: SourceMap) -> Iterator[Diagnostic]:
    """Check that gates share a name only on purpose, because gates with one name share one approval."""
    made: dict[str, tuple[str, str]] = {}
    spelled: dict[str, str] = {}
    gates = sorted(_written_gates(document, called), key=lambda gate: gate.origin is None)
    has_slash = any("/" in gate.name for gate in gates)  # all stage ids except the step's id have a slash
    named = (stages(step) if has_slash else (step.id,) for step in document.step_specs)
    taken = {stage.casefold(): stage for names in named for stage in names}
    for gate in gates:
        folded = gate.name.casefold()
        other = taken.get(folded) or spelled.setdefault(folded, gate.name)
        if folded in taken or (other != gate.name and gate.origin is None):
            problem = f"the gate `{gate.name}` clashes with `{other}`"
            yield places.diagnostic("RD858", gate.at, problem, "rename one of them")
        elif gate.origin and made.setdefault(gate.name, gate.origin) != gate.origin:
            problem = f"the gate `{gate.name}` also belongs to another tool or step"
            yield places.diagnostic("RD858", gate.at, problem, "set `gate` of the tool to a different name")


class _Gate(Struct, frozen=True):
    """A gate that may be needed. `origin` is its tool and step, None if the document names the gate."""

    name: str
    at: DataPath
    origin: tuple[str, str] | None = None


def _written_gates(document: Document, called: Called) -> Iterator[_Gate]:
    for number, step in enumerate(document.step_specs):
        yield _Gate(called.gate(step.id), (STEPS, number, "id"), ("", step.id))
        for place, call in enumerate(step.tools or ()):
            at: DataPath = (STEPS, number, "tools", place)
            if call.gate:
                yield _Gate(call.gate, (*at, "gate"))
            else:
                yield _Gate(tool_gate(call, step), (*at, "name"), (call.name, step.id))
