"""The models of specifications and configurations, and their JSON Schema for editors (B7 to B12)."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from compiler.text.regex import Regex

LARGEST_NUMBER = 1_000_000  # for attempts and seconds; every target can count this far

STEPS = "step_specs"
"""The key of the steps. A document that is only a list has this key implicitly."""

Risk = Literal["low", "medium", "high"]
HumanGate = Literal["required", "conditional", "optional", "recommended"]
Level = Literal["none", "L0", "L1", "L2"]

RISKS: tuple[Risk, ...] = ("low", "medium", "high")
LEVELS: tuple[Level, ...] = ("none", "L0", "L1", "L2")
_SEVERAL = Regex(r"L[0-2](?:/L[0-2])*")

Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]


if TYPE_CHECKING:
    Item = TypeVar("Item")
    Safe = Optional[Item]  # noqa: UP045 (mypy takes only this as a generic alias here)
else:

    class Safe:
        """The type of a safeguard: None if its key is missing, but a key without a value is an error (B2)."""

        def __class_getitem__(cls, item: object) -> object:
            return item


class Part(BaseModel):
    """A part of a document. Values keep their types, and unknown keys are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ToolCall(Part):
    """A tool call. It runs before the executor does the step's work."""

    name: str = Field(description="The name of a built-in tool, or of a tool in the configuration.")
    args: dict[str, Any] | None = Field(None, description="The arguments. Strings may contain placeholders.")
    required: Safe[bool] = Field(None, description="Whether a failed call fails the attempt.")
    risk: Safe[Risk] = Field(None, description="The risk of the call. High risk needs approval.")
    gate: Safe[str] = Field(None, description="A gate that must be approved before the call, at any risk.")


class Retries(Part):
    """What happens after a failed attempt."""

    max: Count | None = Field(None, description="The maximum number of retries.")
    backoff_seconds: Count | None = Field(None, description="The delay between two attempts, in seconds.")


class StepSpec(Part):
    """A step and its contract."""

    id: str = Field(description="The id of the step. It must be unique.")
    name: str | None = Field(None, description="A short name.")
    description: str | None = Field(None, description="The purpose of the step.")
    phase: str | None = Field(None, description="The step's phase. It defaults to the phase of the workflow.")
    inputs: dict[str, Any] | None = Field(
        None, description="The inputs for the executor. Paths in them must exist when the step starts."
    )
    outputs: list[str] | None = Field(
        None, description="The files that the step creates, in {output_folder} or {bmb_creations_output_folder}."
    )
    templates: list[str] | None = Field(
        None, description="Files that the step uses. template:NAME is a file in {template_folder}."
    )
    tools: list[ToolCall] | None = Field(None, description="The tool calls, in order.")
    validation: str | None = Field(None, description="The validation policy, such as `AST + type + lint`.")
    evidence: str | None = Field(
        None,
        description="The level of recorded evidence: none, L0, L1 or L2.",
        json_schema_extra={"pattern": f"^(none|{_SEVERAL.pattern})$"},
    )
    human_gate: Safe[HumanGate] = Field(None, description="When a person must approve the step.")
    retries: Retries | None = Field(None, description="What happens after a failed attempt.")

    @property
    def title(self) -> str:
        """The name that people see."""
        return self.name or self.id

    @property
    def level(self) -> Level | None:
        """The evidence level. Of several levels the lowest, None for an invalid one."""
        return _level(self.evidence or "none")

    @property
    def targets(self) -> tuple[str, ...]:
        """The files that the validation checks in addition to the outputs."""
        found = (self.inputs or {}).get("validation_targets") or ()
        return tuple(one for one in found if isinstance(one, str)) if isinstance(found, (list, tuple)) else ()


@lru_cache(maxsize=16)
def _level(evidence: str) -> Level | None:
    """Cached, because most steps have one of a few levels and several rules ask for it."""
    written = evidence.strip()
    if written.lower() == "none":
        return "none"
    found = written.upper().replace(" ", "")
    return min(found.split("/"), key=LEVELS.index) if _SEVERAL.fullmatch(found) else None  # type: ignore[arg-type]


class Workflow(Part):
    """The workflow that the steps belong to. Other keys are kept."""

    model_config = ConfigDict(extra="allow")

    module: str | None = Field(None, description="The module that the workflow belongs to.")
    workflow: str | None = Field(None, description="The id of the workflow. Policies look for words in it.")
    phase: str | None = Field(None, description="The default phase of the steps.")


class Document(Part):
    """A specification: steps that run in the given order."""

    workflow: Workflow | None = Field(None, description="The workflow that the steps belong to.")
    step_specs: list[StepSpec] = Field(description="The steps, in order.", min_length=1)
    config: Any = Field(None, description="The configuration: a mapping, or the path of a file.")
    rdc: dict[str, Any] | None = Field(None, description="Options of rdc: secrets, steps, and a table for each target.")
    scenarios: dict[str, Any] | None = Field(None, description="Test runs with their expected results, for `rdc test`.")


STAGES = ("inputs", "context", "guardrails", "validation", "outputs", "failed", "rejected")
"""Stages that are not tools, and the two ends of a failed step."""


class Called(Struct, frozen=True):
    """The names of a workflow and its module, and the stem of its file."""

    stem: str
    module: str
    workflow: str

    def gate(self, step: str) -> str:
        """Return the name of a step's gate."""
        return f"{self.module}:{self.workflow}:{step}:hitl"


def called(document: Document, stem: str) -> Called:
    """Return the names of a document's workflow. The stem of the file replaces missing ones."""
    about = document.workflow
    return Called(stem, (about and about.module) or stem, (about and about.workflow) or stem)


def part(step: str, name: str) -> str:
    """Return the id of a stage of a step."""
    return f"{step}/{name}"


def tool_stages(step: StepSpec) -> Iterator[str]:
    """Yield the stages that call a step's tools, in order. Duplicate names get a number."""
    taken = set(STAGES)
    for call in step.tools or ():
        name, number = call.name, 1
        while name.casefold() in taken:
            number += 1
            name = f"{call.name}~{number}"
        taken.add(name.casefold())
        yield part(step.id, name)


def stages(step: StepSpec) -> Iterator[str]:
    """Yield all stages that a step can have, without gates."""
    yield step.id
    yield from (part(step.id, name) for name in STAGES)
    yield from tool_stages(step)


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
    definitions = {**found.pop("$defs"), **config.pop("$defs"), "Configuration": config}
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
    """Return the settings of a document with those of its project.

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
    """Return a configuration with other values of placeholders."""
    return runtime.model_copy(update={"variables": {**runtime.values, **given}})
