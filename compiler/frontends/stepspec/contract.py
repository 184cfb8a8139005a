"""Build the contract of a program: the fields of its steps, and the configuration that runs need (I32)."""

from __future__ import annotations

import json
from typing import Any

from compiler.frontends.stepspec.placeholders import json_text, with_json_references
from compiler.frontends.stepspec.runtime import Guardrail, Runtime
from compiler.frontends.stepspec.syntax import Called, Document, StepSpec
from compiler.frontends.stepspec.tools import risk_of
from compiler.ir.program import Contract, ContractStep
from compiler.ir.texts import Text

Table = dict[str, Any]


def contract_of(document: Document, called: Called, runtime: Runtime) -> Contract:
    """Return the contract of a specification without errors."""
    about = document.workflow.model_dump(exclude_none=True) if document.workflow else {}
    workflow = {**about, "module": called.module, "workflow": called.workflow}
    steps = tuple(ContractStep(spec.id, _spec(spec, phase_of(spec, document), runtime)) for spec in document.step_specs)
    return Contract(_dumped(workflow), steps, _dumped(_config(runtime)))


def phase_of(spec: StepSpec, document: Document) -> str:
    """Return the phase of a step. It defaults to the phase of the workflow."""
    return spec.phase or (document.workflow and document.workflow.phase) or ""


def _dumped(value: Table) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spec(spec: StepSpec, phase: str, runtime: Runtime) -> Text:
    said = spec.retries
    most = said.max if said and said.max is not None else runtime.max_retries
    kept = [spec.id, spec.title, phase, spec.validation, *(f"{call.name}{call.gate}" for call in spec.tools or ())]
    is_filled_at_once = not any("{" in text for text in kept if text)  # the usual case, and several times as fast
    filled = _as_it_is if is_filled_at_once else with_json_references
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
        "retries": {"max": most or 0, "backoff_seconds": (said and said.backoff_seconds) or 0},
    }
    return with_json_references(table) if is_filled_at_once else json_text(table)


def _as_it_is(value: object) -> object:
    return value


def _config(runtime: Runtime) -> Table:
    """Return the settings that runs need, without empty ones."""
    found: Table = {
        "step_timeout_seconds": runtime.step_timeout_seconds,
        "executor": runtime.executor,
        "context": runtime.context,
        "guardrails": _guardrails(runtime),
        "tools": {name: tool.model_dump(exclude_none=True) for name, tool in (runtime.tools or {}).items()},
    }
    return {key: value for key, value in found.items() if value}


def _guardrails(runtime: Runtime) -> Table:
    both = runtime.guardrails
    sides = {"input": both.input, "output": both.output} if both else {}
    return {side: _guardrail(said) for side, said in sides.items() if said}


def _guardrail(said: Guardrail) -> Table:
    return {"blocklist": said.blocklist or [], "patterns": said.patterns or []}
