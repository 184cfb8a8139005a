"""The option `steps`: secrets and environments of nodes."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import assert_never

from backends.base import about_option
from backends.github.options.model import Called, Caller, GithubOptions, StepSettings
from backends.github.yaml.scalar import Expression
from compiler.diagnostics.model import Diagnostic
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool, agents_of
from compiler.text.regex import Regex
from compiler.text.source import KeyPath
from compiler.text.suggestions import did_you_mean

ALL = "*"

_OF_GITHUB = Regex(r"(?i)(GITHUB|RUNNER|ACTIONS)_.*|CI|NODE_OPTIONS")
"""Variables that GitHub sets or rejects. A secret cannot have such a name."""


def agent_types(node: Node) -> list[str]:
    """Return the agent types that a node calls."""
    return [agent.agent for agent in agents_of(node.task)]


def callers_of(node: Node, options: GithubOptions) -> Iterator[Caller]:
    """Yield the callers of a node, each with its command."""
    task = node.task
    found = [options.caller_of(agent) for agent in agent_types(node)]
    found += [options.tools.get(task.connection)] if isinstance(task, Tool) else []
    found += [options.agent] if isinstance(task, Ask) and options.prompts == "agent" else []
    return (caller for caller in found if caller is not None)


def _said(node: Node, options: GithubOptions, parents: Mapping[str, str]) -> Iterator[StepSettings]:
    """Yield a node's settings: its own, then those of the steps and runbooks around it, then those of all nodes."""
    names, group = [node.id], node.group
    while group:
        names.append(group)
        group = parents[group]
    return (options.steps[name] for name in (*names, ALL) if name in options.steps)


def setting_of(node: Node, program: Program, options: GithubOptions, name: str) -> str:
    """Return a node's own setting, or the one of the steps and runbooks around it; "" for none."""
    if not options.steps:
        return ""
    found = (getattr(setting, name) for setting in _said(node, options, program.parents))
    return next((value for value in found if value), "")


def environments_of(program: Program, options: GithubOptions) -> dict[str, str]:
    """Return the environments of nodes by their ids."""
    nodes = (node for node in program.nodes if not isinstance(node.task, (Branch, End)))
    found = {node.id: setting_of(node, program, options, "environment") for node in nodes}
    return {name: environment for name, environment in found.items() if environment}


def variables(node: Node) -> dict[str, str]:
    """Return the variables that a node sets (I25), and its id and title if its command uses them."""
    found = {constant.name: constant.value for constant in node.constants}
    if isinstance(node.task, Shell):
        facts = {"RDC_STEP": node.id, "RDC_TITLE": " ".join(str(node.title).split())}
        found |= {name: text for name, text in facts.items() if name in str(node.task.command)}
    return found


class StepSecrets:
    """The secrets of nodes, as expressions by their variables. If `steps` names none, each node gets all."""

    def __init__(self, program: Program, options: GithubOptions) -> None:
        self._program = program
        self._options = options
        self._parents = program.parents

    @cached_property
    def stored(self) -> Mapping[str, str]:
        """Their names on GitHub, by their variables."""
        return {**{name: name for name in self._program.secrets}, **self._options.all_secrets()}

    @cached_property
    def all(self) -> Mapping[str, str]:
        """The secrets of all nodes."""
        return {name: Expression(f"${{{{ secrets.{secret} }}}}") for name, secret in self.stored.items()}

    def of(self, *nodes: Node) -> dict[str, str]:
        """Return the secrets that some nodes get. A node that people answer gets none."""
        if not self.all:  # true for most documents
            return {}
        wanted = {name for node in nodes for name in self._names(node)}
        return {name: value for name, value in self.all.items() if name in wanted}

    def masked(self, *nodes: Node) -> dict[str, str]:
        """Return the variable with the names of the secrets that values must not contain (I26)."""
        names = [name for name in self.of(*nodes) if name in self._program.secrets]
        return {"RDC_SECRETS": " ".join(names)} if names else {}

    def of_entry(self, node: Node, index: int) -> dict[str, str]:
        """Return the secrets that one entry of a parallel node gets."""
        wanted = self._of_caller(node, self._options.caller_of(agent_types(node)[index]))
        return {name: value for name, value in self.all.items() if name in wanted}

    def _names(self, node: Node) -> Iterable[str]:
        options = self._options
        match node.task:
            case Shell():
                return self._of_caller(node, None)
            case Agent() | Parallel():
                callers = [options.caller_of(agent) for agent in agent_types(node)]
                return {name for caller in callers for name in self._of_caller(node, caller)}
            case Tool(connection):
                return self._of_caller(node, options.tools.get(connection))
            case Ask():
                return self._of_caller(node, options.agent) if options.prompts == "agent" else ()
            case Stage("execute"):
                return self._of_caller(node, options.executor)
            case Stage("tool", subject=tool):
                return self._of_caller(node, options.tools[tool]) if tool in options.tools else ()
            case Stage("context"):
                return self._of_caller(node, None)
            case Stage() | Gate() | Branch() | End():
                return ()
            case _:
                assert_never(node.task)

    def _of_caller(self, node: Node, caller: Caller | None) -> list[str]:
        """Return the secrets that a node gets when it calls a command: the node's own, and the command's."""
        named = [name for setting in _said(node, self._options, self._parents) for name in setting.secrets or ()]
        if isinstance(caller, Called):
            return [*caller.secrets, *named]
        names_some = any(setting.secrets is not None for setting in self._options.steps.values())
        return named if names_some else [*self._program.secrets, *self._options.secret_names()]


def unfit_nodes(program: Program, options: GithubOptions, *, native: bool = False) -> Iterator[Diagnostic]:
    """Report settings for unknown nodes, and settings that a node cannot use. Reviewers answer `native` questions."""
    yield from _unknown(program, options)
    approved = Gate | Ask if native else Gate
    if any(isinstance(node.task, approved) for node in program.nodes):
        yield from _shared(program, options)
    for node in program.nodes:
        setting = options.steps.get(node.id)
        if setting and setting.approval_environment and not (native and isinstance(node.task, Ask)):
            problem = f"`steps` sets an `approval-environment` for step {node.id}, which reviewers don't answer"
            yield about_option(program, ("steps", node.id), "RD013", problem, "remove it")
        asks_people = isinstance(node.task, Gate) or (isinstance(node.task, Ask) and options.prompts != "agent")
        if setting is None or not asks_people:
            continue
        if setting.secrets:
            problem = f"`steps` gives secrets to step {node.id}, which only asks people and runs no command"
            yield about_option(program, ("steps", node.id), "RD013", problem, "move them to the step that follows")
        if setting.environment and isinstance(node.task, approved):
            problem = f"`steps` sets an environment for step {node.id}, but people approve it in `approval-environment`"
            remedy = "move it to the step that follows, or use `approval-environment`"
            yield about_option(program, ("steps", node.id), "RD013", problem, remedy)


def unfit_secrets(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report secrets that GitHub cannot have, secrets that are also variables, and secrets that are not declared."""
    known = StepSecrets(program, options).stored
    for name in program.secrets:
        if _OF_GITHUB.fullmatch(name):
            problem = f"GitHub reserves the name of the secret {name}"
            yield Diagnostic("RD013", program.sources[0].path, None, problem, "choose another name")
        elif name in options.env:
            problem = f"`env` sets the variable {name}, which the document declares as a secret"
            yield about_option(program, ("env", name), "RD013", problem, "remove one of them")
    for option, caller in options.callers():
        for name in caller.secrets if isinstance(caller, Called) else ():
            if name not in known:
                problem = f"a command uses the secret {name}, which the option `secrets` does not name"
                yield about_option(program, option, "RD013", problem, "add it there, or to the document")


def _shared(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report other jobs in the approval environment: a review that starts such a job would also approve a gate."""
    deciding = {
        options.approval_environment,
        *(setting.approval_environment or "" for setting in options.steps.values()),
    }
    approves = {name.casefold() for name in deciding}
    named: dict[KeyPath, str | None] = {("environment",): options.environment}
    named |= {("steps", name): setting.environment for name, setting in options.steps.items()}
    for option, environment in named.items():
        if environment and environment.casefold() in approves:
            problem = f"other jobs would run in {environment}, the environment for decisions"
            yield about_option(
                program, option, "RD013", problem, "choose another environment, or another `approval-environment`"
            )


def _unknown(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    nodes = (node.id for node in program.nodes if not isinstance(node.task, (Branch, End)))
    known = dict.fromkeys([*nodes, *(group.id for group in program.groups)])
    for name in options.steps:
        if name != ALL and name not in known:
            problem = f"there is no step `{name}`{did_you_mean(name, known)}"
            yield about_option(program, ("steps", name), "RD013", problem, "write the id of a step, or `*` for all")
