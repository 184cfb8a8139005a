"""The options of the github target: triggers, runner, secrets and everything else around the steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from backends.base import CompanionPath
from backends.github.option_values import (
    ACTION,
    INTERPRETER,
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
from backends.github.pins import checked_pins
from backends.github.triggers import AUTHORED, PREFIX, checked_events, problem_with
from backends.options.fields import Check, Options
from runtime_shim.tasks.recipes import RECIPES, called, is_recipe, mistyped

USUAL_PYTHON = "/usr/bin/python3"
"""The path of Python on GitHub's runners, except Windows."""


def _read_only() -> dict[Scope, Access]:
    return {"contents": "read"}


class Bound(Options, frozen=True):
    """A command that prints the value of an input."""

    run: Annotated[Script, "The command. It runs once before the run starts, and its output is the value."]


def _source(value: str) -> str:
    if value.startswith(PREFIX) and (problem := problem_with(value.removeprefix(PREFIX))):
        raise ValueError(problem)
    if "\0" in value:
        raise ValueError("a value must not contain a NUL character")
    return value


Source = Annotated[str, Check(_source)] | bool | int | float | Bound


class Concurrency(Options, frozen=True):
    """Which runs may not overlap, and whether a new run cancels an older one.

    GitHub keeps only the newest waiting run of a group and cancels the others. With `queue: max`, up to 100 runs wait.
    """

    group: Annotated[Mixed, Check(not_empty), "Runs with the same group never overlap."]
    cancel_in_progress: Annotated[bool, "Whether a new run cancels the one in progress."] = False
    queue: Annotated[
        Literal["single", "max"] | None, "How many runs may wait: `single` (only the newest) or `max` (up to 100)."
    ] = None

    def check(self) -> None:
        """Reject a queue together with `cancel-in-progress`."""
        if self.queue == "max" and self.cancel_in_progress:
            raise ValueError("`queue: max` and `cancel-in-progress` exclude each other; remove one of them")


class SetupStep(Options, frozen=True):
    """A step before the runbook, as in GitHub's syntax: an action (`uses`) or a script (`run`)."""

    name: Annotated[Text | None, "The name that GitHub shows for the step."] = None
    uses: Annotated[
        Text | None,
        ACTION,
        "An action: `owner/name@commit`, `./folder` or `docker://image`. A step has either `uses` or `run`.",
    ] = None
    inputs: Annotated[Inputs, "The inputs of the action."] = field(name="with", default={})
    run: Annotated[Script | None, "A script. A step has either `uses` or `run`."] = None
    shell: Annotated[Text | None, "The shell that runs the script."] = None
    env: Annotated[Variables, "Environment variables of this step."] = {}

    def check(self) -> None:
        """Require either an action or a script."""
        if (self.uses is None) == (self.run is None):
            raise ValueError("a setup step needs either `uses` or `run`")


class Called(Options, frozen=True):
    """A command, the secrets that it gets, and the steps that install it."""

    run: Annotated[Script, "The command, for `sh -c`."]
    secrets: Annotated[
        list[VariableName], "The variables of the option `secrets` that it gets. A plain command gets all."
    ] = []
    setup: Annotated[list[SetupStep], "Steps that install it. They run only in jobs that call it."] = []


Caller = Script | Called


def command_of(caller: Caller | None) -> str:
    """Return the command, which is the recipe's for an agent that is called by name; "" for none."""
    command = named_command(caller)
    return called(command, "") if is_recipe(command) else command


def named_command(caller: Caller | None) -> str:
    """Return the command as the options have it. It may be the name of a recipe."""
    return caller.run if isinstance(caller, Called) else caller or ""


class StepSettings(Options, frozen=True):
    """The settings of a step."""

    secrets: Annotated[
        list[VariableName] | None,
        "The secrets that the step gets. If any step has this setting, each step gets only the secrets that it names.",
    ] = None
    environment: Annotated[Text | None, "The environment of the step's job. The step then has a separate job."] = None
    approval_environment: Annotated[Text | None, "The environment whose reviewers answer this question."] = None


class GithubOptions(Options, frozen=True):
    """The options of the github target. By default, a person starts the workflow."""

    on: Annotated[
        Json,
        Check(checked_events),
        "What starts the workflow: an event, a list of events, or a mapping as in GitHub's syntax.",
    ] = "workflow_dispatch"
    if_author: Annotated[
        list[Literal["OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR"]],
        "Who may start a run by a comment, review, issue, discussion or pull request: only its author, if GitHub "
        "associates them with the repository in one of these ways. Other events start runs as before.",
    ] = []
    runs_on: Annotated[Text | list[Text], "The label of the runner, or a list of labels."] = "ubuntu-24.04"
    timeout_minutes: Annotated[
        int | None,
        Meta(ge=1, le=50_400),
        "The time limit of a job in minutes. GitHub then cancels it. By default, it is 60, or 360 if the workflow "
        "calls the program: a canceled job loses its state.",
    ] = None
    env: Annotated[Variables, "Environment variables of all steps."] = {}
    secrets: Annotated[
        list[VariableName] | dict[VariableName, Identifier],
        "Secrets that commands get: a list of names, or a mapping of variables to secrets.",
    ] = []
    steps: Annotated[
        dict[Name, StepSettings],
        "Settings of single steps by their ids, or `*` for all. In a document, write it directly under `rdc`.",
    ] = {}
    bind: Annotated[
        dict[Name, Source],
        "Values of inputs, unless the run is given others: `event.` and a field of the event, a fixed value, or "
        "`{run: COMMAND}`.",
    ] = {}
    permissions: Annotated[
        dict[Scope, Access],
        Check(checked_permissions),
        "The permissions of the job's token, by scope. The workflow itself has none.",
    ] = field(default_factory=_read_only)
    checkout: Annotated[bool, "Whether to check out the repository first."] = True
    actions: Annotated[
        dict[str, str],
        Check(checked_pins),
        'Other commits for the actions that rdc uses: `"actions/checkout" = "COMMIT # v7.0.1"`. Set it in rdc.toml.',
    ] = {}
    setup: Annotated[
        list[SetupStep], "Steps before the runbook. They run in each job, and again in a run that continues another."
    ] = []
    concurrency: Annotated[
        Concurrency | None, "Which runs may not overlap. By default, one run at a time for each workflow and branch."
    ] = None
    environment: Annotated[Text | None, "The environment of the jobs, with its secrets and protection rules."] = None
    approval_environment: Annotated[
        Text, "The environment whose reviewers decide: they answer native questions, and approve gates."
    ] = "approval"
    decide_within: Annotated[
        int, Meta(ge=1, le=30), "How many days GitHub keeps the workspace while a question waits for a decision."
    ] = 7
    carry: Annotated[
        Carried | bool,
        "The part of the workspace that the steps after a question get: everything (the default), a list of paths, "
        "or `false` for nothing. With a list or `false`, they check out the repository again.",
    ] = True
    prompts: Annotated[
        Literal["answers", "environment", "agent"] | None,
        "Who answers questions: people in the input `answers` (`answers`), the reviewers of an environment "
        "(`environment`), or an agent (`agent`). By default, reviewers do if the workflow needs no program for that.",
    ] = None
    agent: Annotated[
        Caller | None, "The command that calls agents. With `prompts: agent`, it also answers questions."
    ] = None
    agents: Annotated[dict[Name, Caller], "Commands for single agent types."] = {}
    tools: Annotated[dict[Name, Caller], "The command that calls tools, for each connection."] = {}
    agent_model: Annotated[Text | None, "The model, for an agent that is called by name."] = None
    agent_timeout: Annotated[
        str | int | None, Check(in_seconds), "The time limit for a call of an agent, such as `10m`."
    ] = None
    agent_retries: Annotated[
        int, Meta(ge=0, le=10), "How often to retry a call of an agent that returns no answer."
    ] = 0
    agent_calls: Annotated[int | None, Meta(ge=1), "The most calls of agents that a run may make."] = None
    max_steps: Annotated[
        int | None,
        Meta(ge=0),
        "The most steps that a run may take, instead of the document's limit. 0 means no limit.",
    ] = None
    executor: Annotated[
        Caller | None,
        "For specifications: the command that does the work of a step. It reads the step as JSON from standard "
        "input. It overrides the command of the configuration.",
    ] = None
    program: Annotated[
        CompanionPath | None,
        PROGRAM,
        "For specifications: the compiled Python file that the steps call, relative to `.github/workflows`. "
        "The default is `../rdc/NAME.py`.",
    ] = None
    publish: Annotated[
        Publication | list[Publication],
        Check(listed_once),
        "Where to publish the last output: `summary`, `artifact`, `comment`, `pull-request`, or a list of them. "
        "If the document keeps no output, `pull-request` publishes the agents' changes in the workspace. "
        "A job without agents and secrets publishes it.",
    ] = []
    publish_file: Annotated[
        Text | None,
        Check(repository_path),
        "The file that `publish: pull-request` writes. By default, it is in the root folder, named after the document.",
    ] = None
    parallel: Annotated[
        Literal["step", "matrix"],
        "Where the agents of a parallel step run: in one step, or in separate jobs (`matrix`, not in loops).",
    ] = "step"
    summary: Annotated[
        bool, "Whether the run summary has a table of the steps that ran, and a picture of the flow."
    ] = False

    runtime: Annotated[
        Literal["shared", "inline"],
        "Where to put the program that a workflow calls: in files beside the workflow (`shared`), or in the "
        "workflow itself (`inline`). Use `inline` if other repositories call the workflow.",
    ] = "shared"
    python: Annotated[Text, INTERPRETER, "The absolute path of Python 3.9 or newer on the runner."] = USUAL_PYTHON
    transcript: Annotated[
        bool, "Whether to keep prompts and answers of agents and tools in the artifact `rdc-transcript`."
    ] = True
    retention_days: Annotated[
        int, Meta(ge=1, le=400), "How many days GitHub keeps the artifacts of a run. A decision may take 30."
    ] = 30

    def check(self) -> None:
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
        value = self.bind.get(name)
        return isinstance(value, str) and value.startswith(PREFIX)

    def is_fixed(self, name: str) -> bool:
        """Return whether an input is bound to a fixed value."""
        return name in self.bind and not isinstance(self.bind[name], Bound) and not self.is_of_event(name)

    def fixed(self, name: str) -> str:
        """Return the fixed value that an input is bound to, as a string."""
        value = self.bind[name]
        return value if isinstance(value, str) else json.dumps(value)

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
        named = (name for said in self.steps.values() for name in said.secrets or ())
        return {**{name: name for name in named}, **self.secret_names()}

    def triggers(self) -> dict[str, Any]:
        """Return the events that start the workflow, with their settings."""
        if isinstance(self.on, str):
            return {self.on: None}
        if isinstance(self.on, list):
            return {str(event): None for event in self.on}
        return dict(self.on) if isinstance(self.on, dict) else {}
