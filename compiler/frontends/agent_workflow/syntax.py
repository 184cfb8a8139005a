"""The models of a workflow's parts, and their JSON Schema for editors."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from compiler.frontends.common.limits import MOST_VISITS, number_of

TASK_DONE = "TASK_DONE"
"""The keyword that ends a workflow early because the task is done."""

FILE_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""The form of step and report names, which become file names (W3)."""

_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_VERSION = "https://json-schema.org/draft/2020-12/schema"


def _truth(value: object) -> object:
    """Turn YAML's boolean words into booleans. Values are read as strings, so that the keyword YES stays one."""
    return _TRUTHS.get(value.lower(), value) if isinstance(value, str) else value


Truth = Annotated[bool, BeforeValidator(_truth)]
Visits = Annotated[int, Field(ge=1, le=MOST_VISITS), BeforeValidator(number_of)]
Name = Annotated[str, Field(json_schema_extra={"pattern": f"^{FILE_NAME}$"})]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Condition(_Part):
    """A step to continue with if the answer has a keyword."""

    keyword: str = Field(description="The keyword: a word on its own in the step's answer.")
    goto: str = Field(description="The next step. Its prompt includes the answer of this step.")


class Report(_Part):
    """The expected form of a step's answer, and the file that stores it."""

    name: Name = Field(description="The name of the report file without its extension: reports/NAME.md.")
    format: str = Field(description="A Markdown template for the answer. The agent sees it; rdc does not check it.")
    validation: str | None = Field(
        None,
        description="A regular expression that must match somewhere in the answer, ignoring case. Otherwise the run "
        "ends with STOP.",
    )


class Entry(_Part):
    """One of the agents that a parallel step runs at the same time."""

    agent: str = Field(description="The type of the agent.")
    prompt: str = Field(description="The instructions for the agent.")


class Step(_Part):
    """A step with one agent, or with several that run at the same time."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["prompt"]}, {"required": ["parallel"], "not": {"required": ["agent"]}}]
        }
    )

    name: Name = Field(description="The name of the step. It must be unique.")
    agent: str | None = Field(None, description="The type of the agent. Without it, the default agent runs the step.")
    prompt: str | None = Field(None, description="The instructions for the agent.")
    parallel: list[Entry] | None = Field(None, description="Agents that run at the same time.")
    check: Literal["all", "any"] | None = Field(
        None, description="In a parallel step: with `all`, a failing verdict wins; with `any`, the first passing one."
    )
    report: Report | None = Field(None, description="The expected form of the answer, and its file.")
    human: Truth | None = Field(None, description="Whether a person must approve the step before it starts.")
    max_visits: Visits | None = Field(None, description="How often a run may visit the step.")
    then: str | None = Field(
        None, description='What happens instead of one more visit: `STOP` or `STOP "message"`. The default is `STOP`.'
    )
    next: str | None = Field(None, description="The next step if no condition applies.")
    end: Truth | None = Field(None, description="Whether the workflow ends here if no condition applies.")
    conditions: list[Condition] | None = Field(None, description="The next step for each keyword in the answer.")

    @property
    def report_name(self) -> str:
        """The name of the report file, without its extension (W7)."""
        return self.report.name if self.report else self.name


class Workflow(_Part):
    """A workflow whose steps are done by agents. A run starts with the first step."""

    name: str = Field(description="The name of the workflow. Every agent sees it.")
    description: str | None = Field(None, description="The purpose of the workflow. It is the default task of a run.")
    steps: list[Step] = Field(description="The steps. A run starts with the first one.", min_length=1)
    rdc: dict[str, Any] | None = Field(
        None, description="Options of rdc: secrets, max-steps, steps, rules, and a table for each target."
    )
    scenarios: dict[str, Any] | None = Field(None, description="Test runs with their expected results, for `rdc test`.")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of workflows. It rejects unknown keys, though rdc only warns about them."""
    return {"$schema": _VERSION, **Workflow.model_json_schema()}
