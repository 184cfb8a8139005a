"""Models and JSON Schemas for the files of a step specification's run (B14).

A run may write more fields. `runtime_shim/stepspec/records.py` writes them.
"""

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
    str, Field(pattern=r"^run-[0-9]{14}-[0-9a-f]{8}$", description="The run's ID: start time and a random number.")
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
    """A violation of a guardrail."""

    rule: str = Field(description="The forbidden word or pattern.")
    where: str = Field(description="The place: a field of the specification, or a file.")


class GuardrailReport(_Part):
    """The results of a step's guardrails on its inputs or outputs."""

    stage: Literal["input", "output"]
    status: Literal["passed", "failed"]
    checked_at: Time
    violations: list[Violation]


class Guardrails(_Part):
    """The reports of both guardrails; null if none are configured or the step did not get that far."""

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
    """The state of a step in a run."""

    step_id: str
    name: str
    status: Literal["pending", "running", "blocked", "failed", "completed"]
    attempts: int = Field(ge=0, description="The number of attempts since the gate's approval, over all resumes.")
    started_at: Time | None
    ended_at: Time | None
    error: str | None
    inputs: dict[str, Any]
    outputs: list[str]
    tools: list[ToolCall] = Field(description="The tool calls of the last attempt.")
    telis_context: Any = Field(description="The answer of the context command; null without one.")
    guardrails: Guardrails


class Manifest(_Part):
    """A run as a whole; this file is written last."""

    run_id: RunId
    workflow: dict[str, Any]
    status: Literal["running", "blocked", "failed", "completed"]
    step_specs: list[dict[str, Any]] = Field(description="The step specifications with placeholders filled in.")
    steps: list[RunStep]
    current_step: str | None
    created_at: Time
    updated_at: Time


class Payload(_Part):
    """The details of an event; each event type has more fields."""

    run_id: RunId
    timestamp: Time


class Event(_Part):
    """Something that happened in the run."""

    event_type: EventType
    run_id: RunId
    step_id: str | None
    timestamp: Time
    payload: Payload


class Gate(_Part):
    """A gate that the run has reached."""

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
        default=[], description="Earlier rejections, if the gate was rejected and requested again."
    )


class Approval(_Part):
    """The approval of a gate by a person."""

    gate_id: str
    step_id: str
    approved_by: str
    approved_at: Time
    note: str


class ToolResult(ToolCall):
    """A tool call with its step and attempt."""

    step_id: str
    attempt: int = Field(ge=1)


class Artifact(_Part):
    """An output of a completed step."""

    path: str = Field(description="The path, relative to the folder where the run started.")
    sha256: Sha256
    step_id: str
    evidence_ids: list[str]
    recorded_at: Time


class Evidence(_Part):
    """A record of evidence for a claim of a step."""

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
    """A design rationale record from an executor."""

    step_id: str
    recorded_at: Time


class Entry(_Part):
    """An entry of the timeline."""

    kind: Literal["event", "gate", "tool", "artifact", "evidence", "drr"]
    timestamp: Time
    step_id: str | None
    details: dict[str, Any]


class Timeline(_Part):
    """All records of a run in chronological order."""

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
"""The model of each file in a run's folder, by file name without `.json`."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a file in a run's folder."""
    return {"$schema": _VERSION, **TypeAdapter(RECORDS[name]).json_schema()}
