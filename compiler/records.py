"""The records of a run of a step specification (B14): the models of its files, and their JSON Schemas.

A run may write more fields than these. `runtime_shim/run_records.py` writes them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

_VERSION = "https://json-schema.org/draft/2020-12/schema"

Time = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$",
        description="A time in UTC, ISO 8601.",
    ),
]
RunId = Annotated[
    str, Field(pattern=r"^run-[0-9]{14}-[0-9a-f]{8}$", description="The run: when it began, and a number.")
]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Level = Literal["L0", "L1", "L2"]
EventType = Literal[
    "WorkflowStarted",
    "WorkflowStepStarted",
    "WorkflowStepCompleted",
    "WorkflowStepFailed",
    "WorkflowBlocked",
    "WorkflowResumed",
    "WorkflowCompleted",
    "WorkflowFailed",
    "ArtifactReady",
    "ValidationPassed",
    "ValidationFailed",
    "EvidenceRecorded",
    "HumanGateRequired",
    "HumanGateApproved",
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class Violation(_Part):
    """What a guardrail has found."""

    rule: str = Field(description="The word or pattern that is not allowed.")
    where: str = Field(description="Where it stands: a field of the specification, or a file.")


class GuardrailReport(_Part):
    """What the guardrails on the inputs or outputs of a step have found."""

    stage: Literal["input", "output"]
    status: Literal["passed", "failed"]
    checked_at: Time
    violations: list[Violation]


class Guardrails(_Part):
    """The reports of both guardrails; null where none are configured, or where the step did not come so far."""

    input: GuardrailReport | None
    output: GuardrailReport | None


class ToolCall(_Part):
    """A call of a tool."""

    name: str
    args: dict[str, Any]
    status: Literal["completed", "failed", "skipped"]
    required: bool
    risk: Literal["low", "medium", "high"]
    started_at: Time
    ended_at: Time


class RunStep(_Part):
    """A step as it stands in a run."""

    step_id: str
    name: str
    status: Literal["pending", "running", "blocked", "failed", "completed"]
    attempts: int = Field(ge=0, description="How often it was tried, over all resumes, since its gate was passed.")
    started_at: Time | None
    ended_at: Time | None
    error: str | None
    inputs: dict[str, Any]
    outputs: list[str]
    tools: list[ToolCall] = Field(description="The calls of tools of its last attempt.")
    telis_context: Any = Field(description="What the context command answered; null without one.")
    guardrails: Guardrails


class Manifest(_Part):
    """A run as a whole. It is written last of all files."""

    run_id: RunId
    workflow: dict[str, Any]
    status: Literal["running", "blocked", "failed", "completed"]
    step_specs: list[dict[str, Any]] = Field(description="The specifications of the steps, placeholders filled in.")
    steps: list[RunStep]
    current_step: str | None
    created_at: Time
    updated_at: Time


class Payload(_Part):
    """What an event tells; each kind has more fields."""

    run_id: RunId
    timestamp: Time


class Event(_Part):
    """Something that happened."""

    event_type: EventType
    run_id: RunId
    step_id: str | None
    timestamp: Time
    payload: Payload


class Gate(_Part):
    """A gate that the run has come to."""

    gate_id: str
    step_id: str
    phase: str | None
    workflow: str | None
    status: Literal["pending", "approved", "rejected"]
    reason: str
    requested_at: Time
    approved_by: str | None = None
    approved_at: Time | None = None
    note: str | None = None
    earlier: list[dict[str, Any]] = Field(
        default=[], description="Where it was rejected and asked for again: each time."
    )


class Approval(_Part):
    """An approval: who let the run through a gate."""

    gate_id: str
    step_id: str
    approved_by: str
    approved_at: Time
    note: str


class ToolResult(ToolCall):
    """A call of a tool, with the step and the attempt that made it."""

    step_id: str
    attempt: int = Field(ge=1)


class Artifact(_Part):
    """An output of a completed step."""

    path: str = Field(description="Relative to the folder in which the run was begun.")
    sha256: Sha256
    step_id: str
    evidence_ids: list[str]
    recorded_at: Time


class Evidence(_Part):
    """A record of evidence for what a step claims."""

    id: str
    claim: str
    level: Level
    source: str
    date: Time
    valid_until: Time
    congruence: Literal["CL1", "CL2", "CL3"]
    reliability: float = Field(ge=0, le=1)
    wlnk: float = Field(ge=0, le=1)
    carrier_ref: str | None


class Rationale(_Part):
    """A design rationale record as an executor has handed it over."""

    step_id: str
    recorded_at: Time


class Entry(_Part):
    """An entry of the timeline."""

    kind: Literal["event", "gate", "tool", "artifact", "evidence", "drr"]
    timestamp: Time
    step_id: str | None
    details: dict[str, Any]


class Timeline(_Part):
    """Everything that the records tell, in the order of time."""

    run_id: RunId
    generated_at: Time
    entries: list[Entry]


RECORDS: dict[str, Any] = {
    "manifest": Manifest,
    "events": list[Event],
    "gates": list[Gate],
    "approvals": list[Approval],
    "tool_results": list[ToolResult],
    "artifacts": list[Artifact],
    "evidence": list[Evidence],
    "drrs": list[Rationale],
    "timeline": Timeline,
}
"""What stands in each file of a run's folder, by its name without `.json`."""


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a file of a run."""
    return {"$schema": _VERSION, **TypeAdapter(RECORDS[name]).json_schema()}
