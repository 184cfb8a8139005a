"""The facts at the top of each workflow: runner, secrets, token, calls with their number, and who decides what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from backends.github.options import Caller, GithubOptions, named_command
from backends.github.scalar import Expression, comment
from backends.github.settings import agent_types, environments_of
from backends.github.step import Job
from backends.remarks import most_calls, times, wrapped
from backends.specification import Specification
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Gate, Stage, Tool
from runtime_shim.tasks.recipes import called, is_recipe

_SECRET = re.compile(r"\bsecrets\.(\w+)")
_LONGEST = 120
"""Characters of a command. The steps have the whole command."""


def facts(program: Program, options: GithubOptions, jobs: Sequence[Job], approved: Iterable[str]) -> Iterator[str]:
    """Yield the lines about a workflow's jobs. Reviewers of an environment decide about the `approved` nodes."""
    said = [
        *_surroundings(program, options, jobs),
        *_calls(program, options),
        *_decisions(program, options, frozenset(approved)),
    ]
    if len(jobs) == 1 and not any("inputs.resume" in step.condition for step in jobs[0].steps):
        said.append("A re-run starts from the beginning.")
    yield from wrapped(said)


def _surroundings(program: Program, options: GithubOptions, jobs: Sequence[Job]) -> Iterator[str]:
    """Yield the runner, the environments, the secrets and the token."""
    labels = [options.runs_on] if isinstance(options.runs_on, str) else options.runs_on
    yield f"Runs on: {', '.join(map(comment, labels))}."
    environments = dict.fromkeys([options.environment or "", *environments_of(program, options).values()])
    if named := [comment(name) for name in environments if name]:
        yield f"{'Environments' if named[1:] else 'Environment'}: {', '.join(named)}."
    found = {name for job in jobs for text in _expressions(job) for name in _SECRET.findall(text)}
    yield f"Secrets: {', '.join(sorted(found)) or 'none'}."
    token: dict[str, str] = {}
    for scope, access, _ in (permission for job in jobs for permission in job.permissions):
        token[scope] = "write" if "write" in (access, token.get(scope)) else access
    yield f"Token: {', '.join(f'{scope} {access}' for scope, access in token.items()) or 'none'}."


def _expressions(job: Job) -> Iterator[str]:
    """Yield the expressions of a job."""
    for step in job.steps:
        yield step.condition
        yield from (text for text in (*step.env.values(), *step.inputs.values()) if isinstance(text, Expression))
    yield from (text for text in job.env.values() if isinstance(text, Expression))


# --- Calls ------------------------------------------------------------------------------------------------------------


def _calls(program: Program, options: GithubOptions) -> Iterator[str]:
    """Yield the commands of agents and tools, each with the number of its calls."""
    found = [] if program.contract else [*_of_agents(program, options), *_of_tools(program, options)]
    if program.contract:
        found = [*_of_contract(program, options)]
    if found:
        yield f"Calls {', '.join(f'{command} {times(number)}' for command, number in found)}."
    if options.agent_calls is not None and program.contract is None:
        yield f"It calls agents at most {options.agent_calls} times."


def _shown(caller: Caller | None, model: str = "") -> str:
    """Return the command that is called, on one line."""
    command = named_command(caller)
    return _quoted(called(command, model) if is_recipe(command) else command)


def _quoted(command: str) -> str:
    first, more, _ = command.strip().partition("\n")
    shown = comment(first + (" …" if more else ""), _LONGEST)
    return f"`{shown}`" if " " in shown else shown


def _of_agents(program: Program, options: GithubOptions) -> Iterator[tuple[str, int | None]]:
    tries, budget = options.agent_retries + 1, options.agent_calls

    def commands(node: Node) -> list[str]:
        asks = isinstance(node.task, Ask) and options.prompts == "agent"
        callers = [options.agent] if asks else [options.caller_of(name) for name in agent_types(node)]
        return [_shown(caller, options.agent_model or "") for caller in callers if caller is not None]

    for command, number in most_calls(program, commands).items():
        most = None if number is None else number * tries
        yield command, min((each for each in (most, budget) if each is not None), default=None)


def _of_tools(program: Program, options: GithubOptions) -> Iterator[tuple[str, int | None]]:
    def commands(node: Node) -> list[str]:
        caller = options.tools.get(node.task.connection) if isinstance(node.task, Tool) else None
        return [] if caller is None else [_shown(caller)]

    yield from most_calls(program, commands).items()


def _of_contract(program: Program, options: GithubOptions) -> Iterator[tuple[str, int | None]]:
    """Yield the executor and the tools of a specification. An option overrides the configuration."""
    config = Specification(program).config
    tools: Mapping[str, Mapping[str, str]] = config.get("tools", {})

    def commands(node: Node) -> list[str]:
        task = node.task
        if not isinstance(task, Stage) or task.stage not in ("execute", "tool"):
            return []
        if task.stage == "execute":
            return [_shown(options.executor or config.get("executor"))]
        command = _shown(options.tools.get(task.subject) or tools.get(task.subject, {}).get("command"))
        return [command] if command else []

    yield from most_calls(program, commands).items()


# --- Decisions --------------------------------------------------------------------------------------------------------


def _decisions(program: Program, options: GithubOptions, approved: frozenset[str]) -> Iterator[str]:
    """Yield who decides what: reviewers of an environment, people who answer, or an agent."""
    asking = [node for node in program.nodes if isinstance(node.task, Ask | Gate)]
    if decided := [node.id for node in asking if node.id in approved]:
        yield f"A person decides: {', '.join(map(comment, decided))}."
    others = [node for node in asking if node.id not in approved]
    by_agent = [node.id for node in others if isinstance(node.task, Ask) and options.prompts == "agent"]
    if by_agent:
        yield f"The agent decides: {', '.join(map(comment, by_agent))}."
    if answered := [node.id for node in others if node.id not in by_agent]:
        yield f"A person answers: {', '.join(map(comment, answered))}."
