"""The models of a configuration, and the settings from it (B7 to B12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from compiler.frontends.stepspec.syntax import LARGEST_NUMBER, RISKS, Count, Document, Part, Risk, Safe

_VERSION = "https://json-schema.org/draft/2020-12/schema"

Seconds = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]


class Policy(Part):
    """When a person must approve a step, in addition to the step's own `human_gate`."""

    required_phases: Safe[list[str]] = Field(None, description="Phases in which every step needs approval.")
    high_risk_keywords: Safe[list[str]] = Field(
        None, description="If the workflow id contains one of these words, every step needs approval."
    )
    conditional_phases: Safe[list[str]] = Field(
        None, description="Phases in which conditional steps (`human_gate: conditional`) need approval."
    )
    conditional_keywords: Safe[list[str]] = Field(
        None, description="If the workflow id contains one of these words, conditional steps need approval."
    )
    conditional_required: Safe[bool] = Field(None, description="Whether the conditional rules apply.")
    recommended_required: Safe[bool] = Field(
        None, description="Whether steps with `human_gate: recommended` need approval."
    )


class Hitl(Part):
    """Rules for human approval."""

    policy: Safe[Policy] = Field(None, description="When a person must approve a step.")


class ToolCommand(Part):
    """A tool that is a command."""

    command: str = Field(description="The command. It reads the call as JSON and prints the result.")
    arguments: dict[str, Any] | None = Field(None, description="A JSON Schema for the arguments.")
    risk: Safe[Risk] = Field(None, description="The minimum risk of every call.")
    timeout_seconds: Seconds | None = Field(None, description="The time limit of a call; 30 by default.")


class Guardrail(Part):
    """Forbidden words and patterns. They match whole words."""

    blocklist: Safe[list[str]] = Field(None, description="Forbidden words.")
    patterns: Safe[list[str]] = Field(None, description="Forbidden regular expressions.")


class Guardrails(Part):
    """Forbidden words and patterns in inputs and outputs."""

    input: Safe[Guardrail] = Field(None, description="Forbidden in inputs.")
    output: Safe[Guardrail] = Field(None, description="Forbidden in outputs.")


class Runtime(Part):
    """Settings for running steps."""

    step_timeout_seconds: Seconds | None = Field(None, description="The time limit of an attempt; 1800 by default.")
    max_retries: Count | None = Field(None, description="The number of retries of steps without `retries`.")
    hitl: Safe[Hitl] = Field(None, description="Rules for the approval of steps.")
    executor: str | None = Field(None, description="The command that does a step's work.")
    context: str | None = Field(None, description="The command that looks up a step's context.")
    tools: dict[str, ToolCommand] | None = Field(None, description="Tools that are commands, by name.")
    guardrails: Safe[Guardrails] = Field(None, description="Words and patterns that inputs and outputs can't have.")
    variables: dict[str, str] | None = Field(None, description="Values of placeholders.")

    @property
    def policy(self) -> Policy:
        """The approval policy."""
        return (self.hitl and self.hitl.policy) or NO_POLICY

    @property
    def values(self) -> dict[str, str]:
        """The values of placeholders."""
        return self.variables or {}


NO_POLICY = Policy.model_validate({})
NO_RUNTIME = Runtime.model_validate({})


class Configuration(Runtime):
    """A configuration. Settings are under `runtime` or at the top level."""

    runtime: Runtime | None = Field(None, description="The same settings as at the top level.")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of specifications. It rejects unknown keys, though rdc only warns about them."""
    found = Document.model_json_schema()
    config = Configuration.model_json_schema(ref_template="#/$defs/{model}")
    parts = config.pop("$defs")
    definitions = {**found.pop("$defs"), **parts, "Configuration": config}
    about = found["properties"]["config"]
    about["anyOf"] = [{"type": "string"}, {"$ref": "#/$defs/Configuration"}, {"type": "null"}]
    steps = {"type": "array", "items": {"$ref": "#/$defs/StepSpec"}, "minItems": 1}
    definitions["Document"] = found
    return {"$schema": _VERSION, "$defs": definitions, "anyOf": [{"$ref": "#/$defs/Document"}, steps]}


def has_safeguards(site: Runtime) -> bool:
    """Return whether settings have rules for approval, guardrails or risks."""
    risks = [tool.risk for tool in (site.tools or {}).values() if tool.risk]
    return bool(site.hitl or site.guardrails or risks)


def layered(own: Runtime, site: Runtime, *, is_whole: bool) -> Runtime:
    """Return the settings of a document with those of its project (B8).

    Rules for approval, guardrails and risks add up. Of the other settings, the document's own win; unless `is_whole`,
    the project's are left out.
    """
    mine, theirs = own.model_dump(exclude_none=True), site.model_dump(exclude_none=True)
    found = {**(theirs if is_whole else {}), **mine}
    found |= {key: _added(theirs.get(key, {}), mine.get(key, {})) for key in ("hitl", "guardrails")}
    for key in ("tools", "variables"):
        found[key] = {**(theirs.get(key, {}) if is_whole else {}), **mine.get(key, {})}
    for name, tool in found["tools"].items():
        risks = [layer.get("tools", {}).get(name, {}).get("risk", RISKS[0]) for layer in (mine, theirs)]
        found["tools"][name] = {**tool, "risk": max(risks, key=RISKS.index)}
    return Runtime.model_validate(found)


def _added(one: Any, other: Any) -> Any:  # noqa: ANN401 (any setting)
    """Return two settings as one: all items of lists, and true if one of them is true."""
    if isinstance(one, dict):
        return {**one, **other, **{key: _added(one[key], other[key]) for key in one if key in other}}
    return list(dict.fromkeys([*one, *other])) if isinstance(one, list) else one or other


def with_values(runtime: Runtime, given: Mapping[str, str]) -> Runtime:
    """Return a configuration with other values of placeholders (B3)."""
    return runtime.model_copy(update={"variables": {**runtime.values, **given}})
