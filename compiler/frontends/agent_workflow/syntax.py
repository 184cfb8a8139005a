"""What a workflow is: the models of its parts, and the JSON Schema that editors get (W1 to W4)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

TASK_DONE = "TASK_DONE"
"""The keyword that ends a workflow early: the task needs no (more) work (W10)."""

FILE_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""What can be the name of a step or a report: it becomes the name of files (W1, W3)."""

_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_VERSION = "https://json-schema.org/draft/2020-12/schema"


def _truth(value: object) -> object:
    """Values are read as they are written, so that the keyword YES stays a text; here YAML's words are booleans."""
    return _TRUTHS.get(value.lower(), value) if isinstance(value, str) else value


Truth = Annotated[bool, BeforeValidator(_truth)]
Name = Annotated[str, Field(json_schema_extra={"pattern": f"^{FILE_NAME}$"})]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Condition(_Part):
    """Another step to go on with if the answer has a keyword."""

    keyword: str = Field(description="The verdict: a word that stands by itself in the answer of the step.")
    goto: str = Field(description="The step to go on with. It gets the answer of this step with its prompt.")


class Report(_Part):
    """What is expected of the answer of a step, and where the answer is kept."""

    name: Name = Field(description="The name of the file for the answers, without suffix: reports/NAME.md.")
    format: str = Field(description="A Markdown template, which is given to the agent as guidance. It is not checked.")
    validation: str | None = Field(
        None,
        description="A regular expression that must match somewhere in the answer, ignoring case. Otherwise the run "
        "ends with STOP.",
    )


class Entry(_Part):
    """One of the agents that a parallel step calls at the same time."""

    agent: str = Field(description="The type of the agent.")
    prompt: str = Field(description="The instructions for the agent.")


class Step(_Part):
    """A step: one agent, or several at the same time."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["prompt"]}, {"required": ["parallel"], "not": {"required": ["agent"]}}]
        }
    )

    name: Name = Field(description="The name of the step, which no other step has.")
    agent: str | None = Field(None, description="The type of the agent. Without one, the common agent does the step.")
    prompt: str | None = Field(None, description="The instructions for the agent.")
    parallel: list[Entry] | None = Field(None, description="Agents that are called at the same time.")
    check: Literal["all", "any"] | None = Field(
        None,
        description="Of a parallel step: with `all` a failing verdict wins, with `any` the first one that passes.",
    )
    report: Report | None = Field(None, description="What is expected of the answer, and where it is kept.")
    human: Truth | None = Field(None, description="Whether the step waits until a person lets it start.")
    next: str | None = Field(None, description="The step to go on with if no condition applies.")
    end: Truth | None = Field(None, description="Whether the workflow is complete if no condition applies.")
    conditions: list[Condition] | None = Field(None, description="Steps to go on with by the verdict of the answer.")

    @property
    def report_name(self) -> str:
        """The name of the file for its answers, without suffix (W7)."""
        return self.report.name if self.report else self.name


class Workflow(_Part):
    """A workflow of steps that agents do. The first step is the entry."""

    name: str = Field(description="The name of the workflow, which every agent is told.")
    description: str | None = Field(None, description="What it is for. It is the task of a run that is given none.")
    steps: list[Step] = Field(description="The steps. A run begins with the first one.", min_length=1)
    rdc: dict[str, Any] | None = Field(
        None, description="Options of rdc: secrets, max-steps, steps, and a table a target."
    )
    scenarios: dict[str, Any] | None = Field(None, description="Runs with the end that they must have, for `rdc test`.")


def schema() -> dict[str, Any]:
    """The JSON Schema of workflows. It knows no key but those that mean something; rdc only warns of others."""
    return {"$schema": _VERSION, **Workflow.model_json_schema()}
