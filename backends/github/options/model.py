"""The options of the github target: triggers, runner, secrets and everything else around the steps."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from backends.github.options.triggers import AUTHORED, PREFIX, checked_events, problem_with
from backends.github.options.values import (
    ACTION,
    INTERPRETER,
    PLAIN,
    PROGRAM,
    Access,
    Carried,
    Identifier,
    Inputs,
    Json,
    Mixed,
    Name,
    Publication,
    Scope,
    Script,
    Text,
    VariableName,
    Variables,
    checked_permissions,
    in_seconds,
    listed_once,
    not_empty,
    repository_path,
)
from backends.github.yaml.pins import checked_pins
from backends.options.model import CompanionPath, Options
from runtime_shim.tasks.recipes import RECIPES, called, is_recipe, mistyped

USUAL_PYTHON = "/usr/bin/python3"
"""The path of Python on GitHub's runners, except Windows."""


class Bound(Options):
    """A command that prints the value of an input."""

    run: Script = Field(description="The command. It runs once before the run starts, and its output is the value.")


def _source(value: str) -> str:
    if value.startswith(PREFIX) and (problem := problem_with(value.removeprefix(PREFIX))):
        raise ValueError(problem)
    if "\0" in value:
        raise ValueError("a value must not contain a NUL character")
    return value


Source = Annotated[str, AfterValidator(_source), PLAIN] | Bound


class Concurrency(Options):
    """Which runs may not overlap, and whether a new run cancels an older one.

    GitHub keeps only the newest waiting run of a group and cancels the others. With `queue: max`, up to 100 runs wait.
    """

    group: Annotated[Mixed, AfterValidator(not_empty)] = Field(description="Runs with the same group never overlap.")
    cancel_in_progress: bool = Field(default=False, description="Whether a new run cancels the one in progress.")
    queue: Literal["single", "max"] | None = Field(
        default=None, description="How many runs may wait: `single` (only the newest) or `max` (up to 100)."
    )

    @model_validator(mode="after")
    def check(self) -> Self:
        """Reject a queue together with `cancel-in-progress`."""
        if self.queue == "max" and self.cancel_in_progress:
            raise ValueError("`queue: max` and `cancel-in-progress` exclude each other; remove one of them")
        return self


class SetupStep(Options):
    """A step before the runbook, as in GitHub's syntax: an action (`uses`) or a script (`run`)."""

    name: Text | None = Field(default=None, description="The name that GitHub shows for the step.")
    uses: Annotated[Text, ACTION] | None = Field(
        default=None,
        description="An action: `owner/name@commit`, `./folder` or `docker://image`. A step has either `uses` or "
        "`run`.",
    )
    inputs: Inputs = Field(default={}, alias="with", description="The inputs of the action.")
    run: Script | None = Field(default=None, description="A script. A step has either `uses` or `run`.")
    shell: Text | None = Field(default=None, description="The shell that runs the script.")
    env: Variables = Field(default={}, description="Environment variables of this step.")

    @model_validator(mode="after")
    def check(self) -> Self:
        """Require either an action or a script."""
        if (self.uses is None) == (self.run is None):
            raise ValueError("a setup step needs either `uses` or `run`")
        return self


class Called(Options):
    """A command, the secrets that it gets, and the steps that install it."""

    run: Script = Field(description="The command, for `sh -c`.")
    secrets: list[VariableName] = Field(
        default=[], description="The variables of the option `secrets` that it gets. A plain command gets all."
    )
    setup: list[SetupStep] = Field(default=[], description="Steps that install it. They run only in jobs that call it.")


Caller = Script | Called


def command_of(caller: Caller | None) -> str:
    """Return the command, which is the recipe's for an agent that is called by name; "" for none."""
    command = named_command(caller)
    return called(command, "") if is_recipe(command) else command


def named_command(caller: Caller | None) -> str:
    """Return the command as the options have it. It may be the name of a recipe."""
    return caller.run if isinstance(caller, Called) else caller or ""


class StepSettings(Options):
    """The settings of a step."""

    secrets: list[VariableName] | None = Field(
        default=None,
        description="The secrets that the step gets. If any step has this setting, each step gets only the secrets "
        "that it names.",
    )
    environment: Text | None = Field(
        default=None, description="The environment of the step's job. The step then has a separate job."
    )
    approval_environment: Text | None = Field(
        default=None, description="The environment whose reviewers answer this question."
    )


class GithubOptions(Options):
    """The options of the github target. By default, a person starts the workflow."""

    on: Annotated[Json, AfterValidator(checked_events)] = Field(
        default="workflow_dispatch",
        description="What starts the workflow: an event, a list of events, or a mapping as in GitHub's syntax.",
    )
    if_author: list[Literal["OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR"]] = Field(
        default=[],
        description="Who may start a run by a comment, review, issue, discussion or pull request: only its author, "
        "if GitHub associates them with the repository in one of these ways. Other events start runs as before.",
    )
    runs_on: Text | list[Text] = Field(
        default="ubuntu-24.04", description="The label of the runner, or a list of labels."
    )
    timeout_minutes: int | None = Field(
        default=None,
        ge=1,
        le=50_400,
        description="The time limit of a job in minutes. GitHub then cancels it. By default, it is 60, or 360 if the "
        "workflow calls the program: a canceled job loses its state.",
    )
    env: Variables = Field(default={}, description="Environment variables of all steps.")
    secrets: list[VariableName] | dict[VariableName, Identifier] = Field(
        default=[], description="Secrets that commands get: a list of names, or a mapping of variables to secrets."
    )
    steps: dict[Name, StepSettings] = Field(
        default={},
        description="Settings of single steps by their ids, or `*` for all. In a document, write it directly under "
        "`rdc`.",
    )
    bind: dict[Name, Source] = Field(
        default={},
        description="Values of inputs, unless the run is given others: `event.` and a field of the event, a fixed "
        "value, or `{run: COMMAND}`.",
    )
    permissions: Annotated[dict[Scope, Access], AfterValidator(checked_permissions)] = Field(
        default={},
        description="Permissions of the jobs' tokens, by scope, besides the scopes that a job needs, such as "
        "`contents: read` to check out the repository. `none` removes one. The workflow itself has none.",
    )
    checkout: bool = Field(default=True, description="Whether to check out the repository first.")
    actions: Annotated[dict[str, str], AfterValidator(checked_pins)] = Field(
        default={},
        description='Other commits for the actions that rdc uses: `"actions/checkout" = "COMMIT # v7.0.1"`. Set it '
        "in rdc.toml.",
    )
    setup: list[SetupStep] = Field(
        default=[],
        description="Steps before the runbook. They run in each job, and again in a run that continues another.",
    )
    concurrency: Concurrency | None = Field(
        default=None,
        description="Which runs may not overlap. By default, one run at a time for each workflow and branch.",
    )
    environment: Text | None = Field(
        default=None, description="The environment of the jobs, with its secrets and protection rules."
    )
    approval_environment: Text = Field(
        default="approval",
        description="The environment whose reviewers decide: they answer native questions, and approve gates.",
    )
    decide_within: int = Field(
        default=7,
        ge=1,
        le=30,
        description="How many days GitHub keeps the workspace while a question waits for a decision.",
    )
    carry: Carried | bool = Field(
        default=True,
        description="The part of the workspace that the steps after a question get: everything (the default), a "
        "list of paths, or `false` for nothing. With a list or `false`, they check out the repository again.",
    )
    prompts: Literal["answers", "environment", "agent"] | None = Field(
        default=None,
        description="Who answers questions: people in the input `answers` (`answers`), the reviewers of an "
        "environment (`environment`), or an agent (`agent`). By default, reviewers do if the workflow needs no "
        "program for that.",
    )
    agent: Caller | None = Field(
        default=None, description="The command that calls agents. With `prompts: agent`, it also answers questions."
    )
    agents: dict[Name, Caller] = Field(default={}, description="Commands for single agent types.")
    tools: dict[Name, Caller] = Field(default={}, description="The command that calls tools, for each connection.")
    agent_model: Text | None = Field(default=None, description="The model, for an agent that is called by name.")
    agent_timeout: Annotated[str | int, AfterValidator(in_seconds)] | None = Field(
        default=None, description="The time limit for a call of an agent, such as `10m`."
    )
    agent_retries: int = Field(
        default=0, ge=0, le=10, description="How often to retry a call of an agent that returns no answer."
    )
    agent_calls: int | None = Field(default=None, ge=1, description="The most calls of agents that a run may make.")
    max_steps: int | None = Field(
        default=None,
        ge=0,
        description="The most steps that a run may take, instead of the document's limit. 0 means no limit.",
    )
    executor: Caller | None = Field(
        default=None,
        description="For specifications: the command that does the work of a step. It reads the step as JSON from "
        "standard input. It overrides the command of the configuration.",
    )
    program: Annotated[CompanionPath, PROGRAM] | None = Field(
        default=None,
        description="For specifications: the compiled Python file that the steps call, relative to "
        "`.github/workflows`. The default is `../rdc/NAME.py`.",
    )
    publish: Annotated[Publication | list[Publication], AfterValidator(listed_once)] = Field(
        default=[],
        description="Where to publish the last output: `summary`, `artifact`, `comment`, `pull-request`, or a list "
        "of them. If the document keeps no output, `pull-request` publishes the agents' changes in the workspace. "
        "A job without agents and secrets publishes it.",
    )
    publish_file: Annotated[Text, AfterValidator(repository_path)] | None = Field(
        default=None,
        description="The file that `publish: pull-request` writes. By default, it is in the root folder, named "
        "after the document.",
    )
    notify_issue: bool = Field(
        default=False,
        description="Whether a run that waits for an answer opens an issue with the question and the commands that "
        "answer it. The run that continues it closes the issue.",
    )
    parallel: Literal["step", "matrix"] = Field(
        default="step",
        description="Where the agents of a parallel step run: in one step, or in separate jobs (`matrix`, not in "
        "loops).",
    )
    summary: bool = Field(
        default=False,
        description="Whether the run summary has a table of the steps that ran, and a picture of the flow.",
    )

    runtime: Literal["shared", "inline"] = Field(
        default="shared",
        description="Where to put the program that a workflow calls: in files beside the workflow (`shared`), or "
        "in the workflow itself (`inline`). Use `inline` if other repositories call the workflow.",
    )
    python: Annotated[Text, INTERPRETER] = Field(
        default=USUAL_PYTHON, description="The absolute path of Python 3.9 or newer on the runner."
    )
    transcript: bool = Field(
        default=True,
        description="Whether to keep prompts and answers of agents and tools in the artifact `rdc-transcript`.",
    )
    retention_days: int = Field(
        default=30,
        ge=1,
        le=400,
        description="How many days GitHub keeps the artifacts of a run. A decision may take 30.",
    )

    @model_validator(mode="after")
    def check(self) -> Self:
        """Check that options have the other options that they need, and that each variable has one value."""
        if self.prompts == "agent" and self.agent is None:
            raise ValueError("`prompts: agent` needs a command in the option `agent`")
        for _, caller in self.callers():
            if hint := mistyped(named_command(caller)):
                raise ValueError(f"unknown recipe `{named_command(caller).strip()}`{hint}")
        if self.agent_model and not any(is_recipe(named_command(caller)) for _, caller in self.callers()):
            names = ", ".join(recipe.name for recipe in RECIPES)
            raise ValueError(f"`agent-model` works only with an agent that is called by name: {names}")
        if self.program and not self.checkout:
            raise ValueError("`program` is a file in the repository, so it needs `checkout: true`")
        if self.if_author and AUTHORED.keys().isdisjoint(self.triggers()):
            raise ValueError(f"`if-author` needs an event with an author in `on`: {', '.join(AUTHORED)}")
        for name in self.all_secrets().keys() & self.env.keys():
            raise ValueError(f"both `env` and `secrets` set the variable {name}; remove one of them")
        return self

    @property
    def agent_seconds(self) -> int | None:
        """The time limit for a call of an agent, in seconds."""
        return None if self.agent_timeout is None else int(self.agent_timeout)

    @property
    def carried(self) -> list[str]:
        """The paths in the workspace that later jobs get."""
        return self.carry if isinstance(self.carry, list) else ["."] * self.carry

    @property
    def is_hosted(self) -> bool:
        """Whether GitHub's own runners run the jobs, as their labels say."""
        labels = [self.runs_on] if isinstance(self.runs_on, str) else self.runs_on
        return all(label.startswith(("ubuntu-", "windows-", "macos-")) for label in labels)

    def callers(self) -> Iterator[tuple[tuple[str, ...], Caller]]:
        """Yield the commands of agents and tools, each with the path to its option."""
        if self.agent is not None:
            yield ("agent",), self.agent
        if self.executor is not None:
            yield ("executor",), self.executor
        yield from ((("agents", name), caller) for name, caller in self.agents.items())
        yield from ((("tools", name), caller) for name, caller in self.tools.items())

    def is_of_event(self, name: str) -> bool:
        """Return whether an input is bound to an event field."""
        return str(self.bind.get(name)).startswith(PREFIX)

    def is_fixed(self, name: str) -> bool:
        """Return whether an input is bound to a fixed value."""
        return name in self.bind and not isinstance(self.bind[name], Bound) and not self.is_of_event(name)

    def fixed(self, name: str) -> str:
        """Return the fixed value that an input is bound to."""
        return str(self.bind[name])

    def event_field(self, name: str) -> str:
        """Return the event field that an input is bound to, such as `issue.body`."""
        return str(self.bind[name]).removeprefix(PREFIX)

    def caller_of(self, agent: str) -> Caller | None:
        """Return the command of an agent type, or None."""
        return self.agents.get(agent) or self.agent

    def secret_names(self) -> dict[str, str]:
        """Return the secret for each variable."""
        return self.secrets if isinstance(self.secrets, dict) else {name: name for name in self.secrets}

    def all_secrets(self) -> dict[str, str]:
        """Return the secret for each variable, including secrets that only `steps` names."""
        named = (name for setting in self.steps.values() for name in setting.secrets or ())
        return {**{name: name for name in named}, **self.secret_names()}

    def triggers(self) -> dict[str, Any]:
        """Return the events that start the workflow, with their settings."""
        if isinstance(self.on, str):
            return {self.on: None}
        if isinstance(self.on, list):
            return {str(event): None for event in self.on}
        return dict(self.on) if isinstance(self.on, dict) else {}
