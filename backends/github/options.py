"""The options of the github target: what surrounds the nodes, such as triggers, runner and secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import Meta, field
from msgspec.structs import replace

from backends.companions import CompanionPath
from backends.github.events import PREFIX, problem_with
from backends.github.option_values import (
    Access,
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
    absolute_path,
    action_name,
    in_seconds,
    listed_once,
    not_empty,
    program_path,
    repository_path,
)
from backends.github.pins import checked_pins
from backends.github.triggers import checked_events
from backends.options.fields import Check, Options
from runtime_shim.tasks.recipes import RECIPES, called, is_recipe

USUAL_PYTHON = "/usr/bin/python3"
"""Where Python is on the runners of GitHub, except those with Windows."""


def _read_only() -> dict[Scope, Access]:
    return {"contents": "read"}


class Bound(Options, frozen=True):
    """A command that says the value of an input."""

    run: Annotated[Script, "The command, run once before the run begins; its output is the value."]


def _source(value: str) -> str:
    if value.startswith(PREFIX) and (problem := problem_with(value.removeprefix(PREFIX))):
        raise ValueError(problem)
    if "\0" in value:
        raise ValueError("no value holds a NUL character")
    return value


Source = Annotated[str, Check(_source)] | bool | int | float | Bound


class Concurrency(Options, frozen=True):
    """Which runs may not overlap, and whether a new one ends an older.

    Of the runs of a group that have not begun GitHub keeps the newest alone and cancels the others, unless `queue` is
    `max`, which lets up to 100 wait.
    """

    group: Annotated[Mixed, Check(not_empty), "Runs with the same group never overlap."]
    cancel_in_progress: Annotated[bool, "Whether a new run ends the one that is running."] = False
    queue: Annotated[
        Literal["single", "max"] | None, "How many runs may wait: `single`, the newest alone, or `max`, up to 100."
    ] = None

    def check(self) -> None:
        """A queue keeps the runs that `cancel-in-progress` would end."""
        if self.queue == "max" and self.cancel_in_progress:
            raise ValueError("`queue: max` keeps runs and `cancel-in-progress` ends them; GitHub takes one of both")


class SetupStep(Options, frozen=True):
    """A step before the runbook, as GitHub has it: an action (`uses`) or a script (`run`)."""

    name: Annotated[Text | None, "The name that GitHub shows for the step."] = None
    uses: Annotated[
        Text | None,
        Check(action_name),
        "An action (`owner/name@commit`, `./folder`, `docker://image`); a step has either `uses` or `run`.",
    ] = None
    inputs: Annotated[Inputs, "The inputs of the action."] = field(name="with", default={})
    run: Annotated[Script | None, "A script. A step has either `uses` or `run`."] = None
    shell: Annotated[Text | None, "The shell that runs the script."] = None
    env: Annotated[Variables, "Environment variables of this step."] = {}

    def check(self) -> None:
        """A step has an action or a script."""
        if (self.uses is None) == (self.run is None):
            raise ValueError("a setup step has either `uses` or `run`")


class Called(Options, frozen=True):
    """A command that is called, the secrets that it gets, and the steps by which it is installed."""

    run: Annotated[Script, "The command, for `sh -c`."]
    secrets: Annotated[
        list[VariableName], "Which variables of the option `secrets` it gets; a plain command gets all."
    ] = []
    setup: Annotated[list[SetupStep], "Steps that install it, in the jobs that call it and in no other."] = []


Caller = Script | Called


def command_of(caller: Caller | None, model: str | None = None) -> str:
    """The command itself, that of the recipe where an agent is called by name; "" for none."""
    command = named_command(caller)
    return called(command, model or "") if is_recipe(command) else command


def mocked(options: GithubOptions) -> GithubOptions:
    """The options of a mock run, in which nothing is called, so that nothing is installed or has a secret."""
    return replace(options, agent=None, agents={}, tools={}, executor=None) if options.mock else options


def named_command(caller: Caller | None) -> str:
    """The command as the options have it, which may be the name of a recipe."""
    return caller.run if isinstance(caller, Called) else caller or ""


class StepSettings(Options, frozen=True):
    """The settings of a step."""

    secrets: Annotated[
        list[VariableName] | None, "The secrets that it gets. Where some step names any, each gets those alone."
    ] = None
    environment: Annotated[Text | None, "The environment of the job that it stands in, which is a job of its own."] = (
        None
    )


class GithubOptions(Options, frozen=True):
    """The options of the github target; the defaults make a workflow that is started by hand."""

    on: Annotated[
        Json,
        Check(checked_events),
        "What starts the workflow: an event, a list of events, or a mapping as GitHub has it.",
    ] = "workflow_dispatch"
    runs_on: Annotated[Text | list[Text], "The label of the runner, or a list of labels."] = "ubuntu-latest"
    timeout_minutes: Annotated[int, Meta(ge=1, le=50_400), "After how many minutes GitHub cancels a job."] = 360
    env: Annotated[Variables, "Environment variables of all steps."] = {}
    secrets: Annotated[
        list[VariableName] | dict[VariableName, Identifier],
        "Secrets that commands get: a list of names, or a mapping from variable to secret.",
    ] = []
    steps: Annotated[
        dict[Name, StepSettings],
        "Settings of single steps, by their ids; `*` for all. In a document it stands beside the targets, under `rdc`.",
    ] = {}
    bind: Annotated[
        dict[Name, Source],
        "Where an input has its value from if a run is given none: `event.` and a field of the event, "
        "a fixed value, or `{run: COMMAND}`.",
    ] = {}
    permissions: Annotated[
        dict[Scope, Access], "The permissions of the job's token, by scope; the workflow itself has none."
    ] = field(default_factory=_read_only)
    checkout: Annotated[bool, "Whether the repository is checked out first."] = True
    actions: Annotated[
        dict[str, str],
        Check(checked_pins),
        "The commits of actions that rdc uses, instead of those built in: "
        '`"actions/checkout" = "COMMIT # v7.0.1"`. It belongs in rdc.toml.',
    ] = {}
    setup: Annotated[list[SetupStep], "Steps before the runbook, in each job, and again where a run is continued."] = []
    concurrency: Annotated[
        Concurrency | None, "Which runs may not overlap; without it one run at a time for a workflow and a branch."
    ] = None
    environment: Annotated[Text | None, "The environment of the jobs, for its secrets and its protection."] = None
    approval_environment: Annotated[Text, "The environment that approves prompts with `prompts: environment`."] = (
        "approval"
    )
    prompts: Annotated[
        Literal["answers", "environment", "agent"],
        "Who answers prompts: the input `answers`, the reviewers of an environment, or a command.",
    ] = "answers"
    agent: Annotated[
        Caller | None, "The command that agents are called by, and that answers prompts with `prompts: agent`."
    ] = None
    agents: Annotated[dict[Name, Caller], "The commands of agent types that have one of their own."] = {}
    tools: Annotated[dict[Name, Caller], "The command of each connection that tools are called by."] = {}
    agent_model: Annotated[Text | None, "The model of agents that are called by name."] = None
    agent_timeout: Annotated[
        str | int | None, Check(in_seconds), "How long a call of an agent may take, such as `10m`."
    ] = None
    agent_retries: Annotated[
        int, Meta(ge=0, le=10), "How often a call of an agent without an answer is made again."
    ] = 0
    agent_calls: Annotated[int | None, Meta(ge=1), "How many calls of agents the whole run may make."] = None
    max_steps: Annotated[
        int | None,
        Meta(ge=0),
        "How many steps a run does at most, instead of what the document says; 0 for any number.",
    ] = None
    executor: Annotated[
        Caller | None,
        "For specifications: the command that does the work of a step, which it gets as JSON on standard "
        "input; it comes before the one of the configuration.",
    ] = None
    program: Annotated[
        CompanionPath | None,
        Check(program_path),
        "For specifications: the compiled Python file that the steps call, by its path from "
        "`.github/workflows`; without it `../rdc/NAME.py`.",
    ] = None
    mock: Annotated[
        Text | None,
        Check(repository_path),
        "A file of mocks in the repository, JSON or YAML, which answers instead of agents and tools: a mock run.",
    ] = None
    publish: Annotated[
        Publication | list[Publication],
        Check(listed_once),
        "Where the last output goes: `summary`, `artifact`, `comment`, `pull-request`, or a list of them; "
        "of a document that keeps none, `pull-request` takes what agents have changed in the workspace. "
        "A job that runs no agent and holds no secret writes it.",
    ] = []
    publish_file: Annotated[
        Text | None,
        Check(repository_path),
        "The file that `publish: pull-request` writes, instead of one at the root named by document and type.",
    ] = None
    parallel: Annotated[
        Literal["step", "matrix"],
        "Where the agents of a parallel step run: in one step, or outside loops each in a job of its own.",
    ] = "step"
    summary: Annotated[bool, "Whether the run summary has a table of what has run, and a picture of the flow."] = False

    runtime: Annotated[
        Literal["shared", "inline"],
        "Where the program is that a workflow calls: `shared` in files beside the workflow, or "
        "`inline` in the workflow itself, as one that other repositories call needs it.",
    ] = "shared"
    python: Annotated[
        Text, Check(absolute_path), "Where Python 3.9 or newer is on the runner, as an absolute path."
    ] = USUAL_PYTHON
    transcript: Annotated[
        bool, "Whether prompts and answers of agents and tools are kept as the artifact `rdc-transcript`."
    ] = True
    retention_days: Annotated[
        int | None,
        Meta(ge=1, le=400),
        "How many days GitHub keeps the artifacts of a run; without it, as the repository says.",
    ] = None

    def check(self) -> None:
        """Options come with those that they need, and a variable has one value."""
        if self.prompts == "agent" and self.agent is None:
            raise ValueError("`prompts: agent` needs the option `agent`, the command that answers prompts")
        if self.agent_model and not any(is_recipe(named_command(caller)) for _, caller in self.callers()):
            names = ", ".join(recipe.name for recipe in RECIPES)
            raise ValueError(f"`agent-model` needs an agent that is called by name: {names}")
        if self.program and not self.checkout:
            raise ValueError("`program` is a file of the repository, so it needs `checkout`")
        if self.mock and not self.checkout:
            raise ValueError("`mock` takes its file from the repository, so it needs `checkout`")
        for name in self.all_secrets().keys() & self.env.keys():
            raise ValueError(f"the variable {name} is given by `env` and by `secrets`; give it once")

    @property
    def agent_seconds(self) -> int | None:
        """How long a call of an agent may take."""
        return None if self.agent_timeout is None else int(self.agent_timeout)

    def callers(self) -> Iterator[tuple[tuple[str, ...], Caller]]:
        """The commands of agents and tools, each with the path to its option."""
        if self.agent is not None:
            yield ("agent",), self.agent
        if self.executor is not None:
            yield ("executor",), self.executor
        yield from ((("agents", name), caller) for name, caller in self.agents.items())
        yield from ((("tools", name), caller) for name, caller in self.tools.items())

    def is_of_event(self, name: str) -> bool:
        """Whether an input is bound to a field of events."""
        value = self.bind.get(name)
        return isinstance(value, str) and value.startswith(PREFIX)

    def is_fixed(self, name: str) -> bool:
        """Whether an input is bound to a fixed value."""
        return name in self.bind and not isinstance(self.bind[name], Bound) and not self.is_of_event(name)

    def fixed(self, name: str) -> str:
        """The fixed value that an input is bound to, as a string."""
        value = self.bind[name]
        return value if isinstance(value, str) else json.dumps(value)

    def event_field(self, name: str) -> str:
        """The field of events that an input is bound to, such as `issue.body`."""
        return str(self.bind[name]).removeprefix(PREFIX)

    def caller_of(self, agent: str) -> Caller | None:
        """The command of an agent type, if there is one for it."""
        return self.agents.get(agent) or self.agent

    def secret_names(self) -> dict[str, str]:
        """The secret that each variable gets."""
        return self.secrets if isinstance(self.secrets, dict) else {name: name for name in self.secrets}

    def all_secrets(self) -> dict[str, str]:
        """The secret that each variable gets, those among them that only nodes name."""
        named = (name for said in self.steps.values() for name in said.secrets or ())
        return {**{name: name for name in named}, **self.secret_names()}

    def triggers(self) -> dict[str, Any]:
        """What starts the workflow, by event."""
        if isinstance(self.on, str):
            return {self.on: None}
        if isinstance(self.on, list):
            return {str(event): None for event in self.on}
        return dict(self.on) if isinstance(self.on, dict) else {}
