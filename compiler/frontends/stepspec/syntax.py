"""What a specification is: the models of its parts, and the JSON Schema that editors get (B1, B2)."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from compiler.regex import Regex

LARGEST_NUMBER = 1_000_000
"""Of attempts and of seconds: what every target can count to."""

STEPS = "step_specs"
"""The key of the steps, for which a document that is a list stands."""

Risk = Literal["low", "medium", "high"]
HumanGate = Literal["required", "conditional", "optional", "recommended"]
Level = Literal["none", "L0", "L1", "L2"]

LEVELS: tuple[Level, ...] = ("none", "L0", "L1", "L2")
_SEVERAL = Regex(r"L[0-2](?:/L[0-2])*")

Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]


class Part(BaseModel):
    """A part of a document; values are taken as they are written, and keys that there are not are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ToolCall(Part):
    """A call of a tool, before the executor does the work of the step."""

    name: str = Field(description="The name of the tool: a built-in one, or one of the configuration.")
    args: dict[str, Any] | None = Field(None, description="The arguments; placeholders in their strings are filled in.")
    required: bool | None = Field(None, description="Whether the attempt fails where the tool does.")
    risk: Risk | None = Field(None, description="How much can go wrong. High risk needs an approval.")
    gate: str | None = Field(None, description="The name of the gate whose approval the tool needs, at any risk.")


class Retries(Part):
    """What happens where an attempt fails."""

    max: Count | None = Field(None, description="How many further attempts there are at most.")
    backoff_seconds: Count | None = Field(None, description="How many seconds there are between two attempts.")


class StepSpec(Part):
    """A step and its contract."""

    id: str = Field(description="The id of the step, which no other step has.")
    name: str | None = Field(None, description="A short name.")
    description: str | None = Field(None, description="What the step is for.")
    phase: str | None = Field(None, description="The phase that it belongs to; without one, that of the workflow.")
    inputs: dict[str, Any] | None = Field(
        None, description="What the executor is given. Paths among it must exist when the step starts."
    )
    outputs: list[str] | None = Field(
        None, description="The files that the step makes, in {output_folder} or {bmb_creations_output_folder}."
    )
    templates: list[str] | None = Field(
        None, description="Files that the step uses; template:NAME is one of {template_folder}."
    )
    tools: list[ToolCall] | None = Field(None, description="The tools that are called, in order.")
    validation: str | None = Field(None, description="The policy of the validation, such as `AST + type + lint`.")
    evidence: str | None = Field(
        None,
        description="The level of the evidence that is recorded: none, L0, L1 or L2.",
        json_schema_extra={"pattern": f"^(none|{_SEVERAL.pattern})$"},
    )
    human_gate: HumanGate | None = Field(None, description="When a person must let the step start.")
    retries: Retries | None = Field(None, description="What happens where an attempt fails.")

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name or self.id

    @property
    def level(self) -> Level | None:
        """The level of its evidence, of several the lowest; None for a word that is no level."""
        return _level(self.evidence or "none")

    @property
    def targets(self) -> tuple[str, ...]:
        """The files that its validation looks at, beside the outputs."""
        found = (self.inputs or {}).get("validation_targets") or ()
        return tuple(one for one in found if isinstance(one, str)) if isinstance(found, (list, tuple)) else ()


@lru_cache(maxsize=16)
def _level(evidence: str) -> Level | None:
    """Most steps say one of a few words, and several rules ask for it."""
    written = evidence.strip()
    if written.lower() == "none":
        return "none"
    found = written.upper().replace(" ", "")
    return min(found.split("/"), key=LEVELS.index) if _SEVERAL.fullmatch(found) else None  # type: ignore[arg-type]


class Workflow(Part):
    """The workflow that the steps belong to. Further keys are kept."""

    model_config = ConfigDict(extra="allow")

    module: str | None = Field(None, description="The module that the workflow belongs to.")
    workflow: str | None = Field(None, description="The id of the workflow, which policies look at.")
    phase: str | None = Field(None, description="The phase of all steps that have none.")


class Document(Part):
    """A specification: steps that are done in the order given."""

    workflow: Workflow | None = Field(None, description="The workflow that the steps belong to.")
    step_specs: list[StepSpec] = Field(description="The steps, in their order.", min_length=1)
    config: Any = Field(None, description="The configuration: a mapping, or the path of a file with one.")
    rdc: dict[str, Any] | None = Field(None, description="Options of rdc: secrets, steps, and a table a target.")
    scenarios: dict[str, Any] | None = Field(None, description="Runs with the end that they must have, for `rdc test`.")
