"""The options of the github target: what surrounds the units, such as triggers, runner and secrets."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from backends.github.scalar import Expression

_OWN_VARIABLES = re.compile(
    r"(?i)(GITHUB|RUNNER|ACTIONS|RDC|COMMAND|MESSAGE|PROMPT|UNIT)_.*|CI|PATH|HOME|BASH_ENV|ENV|IFS"
)


_ALLOWED = re.compile(
    r"\$\{\{ *(github\.(actor|event_name|ref|ref_name|repository|run_attempt|run_id|run_number|sha|workflow|workspace)"
    r"|runner\.(arch|os|temp)) *\}\}"
)


def _literal(value: JsonValue) -> JsonValue:
    """A value without expressions: secrets are given by name, and nothing else needs one."""
    if isinstance(value, str) and "${{" in value:
        raise ValueError("an expression `${{ … }}` is not allowed here; secrets are named by the option `secrets`")
    if isinstance(value, list):
        return [_literal(item) for item in value]
    if isinstance(value, dict):
        return {_checked_key(key): _literal(item) for key, item in value.items()}
    return value


def _harmless(value: str) -> str:
    """A text whose expressions, if any, only name facts about the run that nobody outside can choose freely."""
    rest = _ALLOWED.sub("", value)
    if "${{" in rest:
        raise ValueError(
            "of expressions only facts such as `${{ github.ref }}` are allowed here; see the option `secrets`"
        )
    return Expression(value) if rest != value else value


def _checked_key(key: str) -> str:
    _literal(key)
    return key


def _free_variable(name: str) -> str:
    if _OWN_VARIABLES.fullmatch(name):
        raise ValueError(f"the variable {name} belongs to GitHub, to the shell or to rdc; take another name")
    return name


Text = Annotated[str, StringConstraints(min_length=1), AfterValidator(_literal)]
Mixed = Annotated[str, AfterValidator(_harmless)]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
VariableName = Annotated[Identifier, AfterValidator(_free_variable)]
Json = Annotated[JsonValue, AfterValidator(_literal)]
Access = Literal["read", "write", "none"]
Scope = Literal[
    "actions", "artifact-metadata", "attestations", "checks", "contents", "deployments", "discussions", "id-token",
    "issues", "models", "packages", "pages", "pull-requests", "repository-projects", "security-events", "statuses",
]  # fmt: skip


def _events(value: JsonValue) -> JsonValue:
    """The events that start a workflow: one, a list, or a mapping from each to its filters."""
    names = [value] if isinstance(value, str) else list(value) if isinstance(value, (list, dict)) else []
    if not names or not all(isinstance(name, str) and re.fullmatch("[a-z_]+", name) for name in names):
        raise ValueError("the events that start the workflow are a name, a list of names, or a mapping")
    if isinstance(value, dict) and not all(item is None or isinstance(item, (dict, list)) for item in value.values()):
        raise ValueError("what is said of an event is a mapping, a list (for `schedule`), or nothing")
    return value


def _read_only() -> dict[Scope, Access]:
    return {"contents": "read"}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=False)


class Concurrency(_Model):
    """Which runs may not overlap, and whether a new one ends an older."""

    group: Annotated[Mixed, StringConstraints(min_length=1)]
    cancel_in_progress: bool = Field(default=False, alias="cancel-in-progress")


class SetupStep(_Model):
    """A step before the runbook, as GitHub has it: an action (`uses`) or a script (`run`)."""

    name: Text | None = None
    uses: Annotated[Text, StringConstraints(pattern=r"^(\./|docker://|[\w.-]+/[\w.-]+(/[^@\s]*)?@)[^\s]*$")] | None = (
        None
    )
    inputs: dict[Text, Mixed | int | float | bool] = Field(default_factory=dict, alias="with")
    run: Text | None = None
    shell: Text | None = None
    env: dict[VariableName, Mixed | int | float | bool] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_of_two(self) -> SetupStep:
        if (self.uses is None) == (self.run is None):
            raise ValueError("a setup step has either `uses` or `run`")
        return self


class GithubOptions(_Model):
    """The options of the github target; the defaults make a workflow that is started by hand."""

    on: Annotated[Json, AfterValidator(_events)] = "workflow_dispatch"
    runs_on: Text | list[Text] = Field(default="ubuntu-latest", alias="runs-on")
    timeout_minutes: Annotated[int, Field(ge=1, le=50_400)] = Field(default=360, alias="timeout-minutes")
    env: dict[VariableName, Mixed | int | float | bool] = Field(default_factory=dict)
    secrets: list[VariableName] | dict[VariableName, Identifier] = Field(default_factory=list)
    permissions: dict[Scope, Access] = Field(default_factory=_read_only)
    checkout: bool = True
    setup: list[SetupStep] = Field(default_factory=list)
    concurrency: Concurrency = Field(
        default_factory=lambda: Concurrency(group="${{ github.workflow }}-${{ github.ref }}")
    )
    environment: Text | None = None
    approval_environment: Text = Field(default="approval", alias="approval-environment")
    prompts: Literal["answers", "environment", "agent"] = "answers"
    agent: Text | None = None
    summary: bool = True

    @model_validator(mode="after")
    def _agent_for_agents(self) -> GithubOptions:
        if self.prompts == "agent" and self.agent is None:
            raise ValueError("`prompts: agent` needs the option `agent`, the command that answers prompts")
        return self

    def secret_names(self) -> dict[str, str]:
        """The secret that each variable gets."""
        return self.secrets if isinstance(self.secrets, dict) else {name: name for name in self.secrets}

    def triggers(self) -> dict[str, Any]:
        """What starts the workflow, by event."""
        if isinstance(self.on, str):
            return {self.on: None}
        if isinstance(self.on, list):
            return {str(event): None for event in self.on}
        return dict(self.on) if isinstance(self.on, dict) else {}
