"""What a configuration is: the models of its parts, and the settings that come of it (B7 to B12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from compiler.frontends.stepspec.syntax import LARGEST_NUMBER, Count, Document, Part, Risk

_VERSION = "https://json-schema.org/draft/2020-12/schema"

Seconds = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]


class Policy(Part):
    """When a person must let a step start, beside what the step itself says (B8)."""

    required_phases: list[str] | None = Field(None, description="Phases, all of whose steps need an approval.")
    high_risk_keywords: list[str] | None = Field(
        None, description="Where one of these stands in the id of the workflow, all steps need an approval."
    )
    conditional_phases: list[str] | None = Field(
        None, description="Phases whose steps with `human_gate: conditional` need an approval."
    )
    conditional_keywords: list[str] | None = Field(None, description="The same for words in the id of the workflow.")
    conditional_required: bool | None = Field(None, description="Whether the two conditional rules hold.")
    recommended_required: bool | None = Field(
        None, description="Whether steps with `human_gate: recommended` need an approval."
    )


class Hitl(Part):
    """What people decide."""

    policy: Policy | None = Field(None, description="When a person must let a step start.")


class ToolCommand(Part):
    """A tool that is a command."""

    command: str = Field(description="The command: it gets the call as JSON, and gives the result.")
    arguments: dict[str, Any] | None = Field(None, description="A JSON Schema of the arguments.")
    risk: Risk | None = Field(None, description="The risk of every call that does not say a higher one.")
    timeout_seconds: Seconds | None = Field(None, description="How long a call may take; 30 where nothing is said.")


class Guardrail(Part):
    """What must not stand in texts. All of it matches whole words."""

    blocklist: list[str] | None = Field(None, description="Words.")
    patterns: list[str] | None = Field(None, description="Regular expressions.")


class Guardrails(Part):
    """What must not stand in inputs and outputs."""

    input: Guardrail | None = Field(None, description="What must not stand in inputs.")
    output: Guardrail | None = Field(None, description="What must not stand in outputs.")


class Runtime(Part):
    """How steps are run."""

    step_timeout_seconds: Seconds | None = Field(None, description="How long an attempt may take; 1800 by default.")
    max_retries: Count | None = Field(None, description="The further attempts of steps that do not say how many.")
    hitl: Hitl | None = Field(None, description="What people decide.")
    executor: str | None = Field(None, description="The command that does the work of a step.")
    context: str | None = Field(None, description="The command that looks up the context of a step.")
    tools: dict[str, ToolCommand] | None = Field(None, description="The tools that are commands, by their names.")
    guardrails: Guardrails | None = Field(None, description="What must not stand in inputs and outputs.")
    variables: dict[str, str] | None = Field(None, description="The values of placeholders.")

    @property
    def policy(self) -> Policy:
        """When a person must let a step start."""
        return (self.hitl and self.hitl.policy) or NO_POLICY

    @property
    def values(self) -> dict[str, str]:
        """The values of placeholders."""
        return self.variables or {}


NO_POLICY = Policy.model_validate({})
NO_RUNTIME = Runtime.model_validate({})


class Configuration(Runtime):
    """A configuration: settings, under `runtime` or at the top."""

    runtime: Runtime | None = Field(None, description="Runtime, as they may stand at the top.")


def schema() -> dict[str, Any]:
    """The JSON Schema of specifications. It knows no key but those that mean something; rdc only warns of others."""
    found = Document.model_json_schema()
    config = Configuration.model_json_schema(ref_template="#/$defs/{model}")
    parts = config.pop("$defs")
    definitions = {**found.pop("$defs"), **parts, "Configuration": config}
    about = found["properties"]["config"]
    about["anyOf"] = [{"type": "string"}, {"$ref": "#/$defs/Configuration"}, {"type": "null"}]
    steps = {"type": "array", "items": {"$ref": "#/$defs/StepSpec"}, "minItems": 1}
    definitions["Document"] = found
    return {"$schema": _VERSION, "$defs": definitions, "anyOf": [{"$ref": "#/$defs/Document"}, steps]}


def with_values(runtime: Runtime, given: Mapping[str, str]) -> Runtime:
    """A configuration with values of placeholders that override its own (B3)."""
    return runtime.model_copy(update={"variables": {**runtime.values, **given}})
