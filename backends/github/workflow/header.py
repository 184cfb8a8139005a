"""The facts at the top of each workflow: runner, secrets, token, calls with their number, and who decides what."""

import re
from collections.abc import Iterable, Iterator, Sequence

from backends.common.remarks import WIDTH, most_calls, of_rules, times, wrapped
from backends.common.specification import Specification
from backends.github.options.model import Caller, GithubOptions, named_command
from backends.github.options.steps import agent_types, callers_of, environments_of
from backends.github.yaml.model import Job
from backends.github.yaml.scalar import Expression, comment
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Gate, Stage, Tool
from runtime_shim.tasks.recipes import called, is_recipe

_SECRET = re.compile(r"\bsecrets\.(\w+)")
_LONGEST = 100  # characters of a command; the steps have the whole command


def facts(program: Program, options: GithubOptions, jobs: Sequence[Job], approved: Iterable[str]) -> Iterator[str]:
    """Yield the lines about a workflow's jobs. Reviewers of an environment decide about the `approved` nodes."""
    output = [
        *_surroundings(program, options, jobs),
        *_calls(program, options),
        *_decisions(program, options, frozenset(approved)),
    ]
    if len(jobs) == 1 and not any("inputs.resume" in step.condition for step in jobs[0].steps):
        output.append("A re-run starts from the beginning.")
    yield from wrapped(output)
    yield from (comment(line, WIDTH) for line in of_rules(program))


def _surroundings(program: Program, options: GithubOptions, jobs: Sequence[Job]) -> Iterator[str]:
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
    stepspec = Specification(program)
    needed, optional = stepspec.needed, stepspec.optional
    if needed or optional:
        skips = " A check without its program is skipped, and its step can pass." if optional else ""
        yield f"Uses on the runner: {', '.join([*needed, *optional])}.{skips}"
    if any(agent_types(node) for node in program.nodes):
        yield "Agents have the rights of their step: its secrets, its workspace and its network."


def _expressions(job: Job) -> Iterator[str]:
    for step in job.steps:
        yield step.condition
        yield from (text for text in (*step.env.values(), *step.inputs.values()) if isinstance(text, Expression))
    yield from (text for text in job.env.values() if isinstance(text, Expression))


def _calls(program: Program, options: GithubOptions) -> Iterator[str]:
    config, found = Specification(program).config, list[str]()

    def commands(node: Node) -> list[str]:
        task = node.task
        if isinstance(task, Stage):  # an option overrides the configuration
            known = {
                "execute": config.get("executor"),
                "tool": config.get("tools", {}).get(task.subject, {}).get("command"),
            }
            given = {"execute": options.executor, "tool": options.tools.get(task.subject)}
            callers = [given.get(task.stage) or known.get(task.stage) or ""]
        else:
            callers = [*callers_of(node, options)] * (1 if isinstance(task, Tool) else options.agent_retries + 1)
        return [_shown(caller, options) for caller in callers if caller]

    tools = {_shown(caller, options) for caller in options.tools.values()}
    for command, most in most_calls(program, commands).items():
        limits = [number for number in (most, None if command in tools else options.agent_calls) if number is not None]
        found.append(f"{command} {times(min(limits, default=None))}")
    if found:
        yield f"Calls {', '.join(found)}."
    if options.agent_calls is not None and program.stepspec is None:
        yield f"It calls agents at most {options.agent_calls} times."


def _shown(caller: Caller, options: GithubOptions) -> str:
    command = named_command(caller).strip()
    first, more, _ = (called(command, options.agent_model or "") if is_recipe(command) else command).partition("\n")
    shown = comment(first + (" …" if more else ""), _LONGEST)
    return f"`{shown}`" if " " in shown else shown


def _decisions(program: Program, options: GithubOptions, approved: frozenset[str]) -> Iterator[str]:
    """Yield who decides what: reviewers of an environment, people who answer, or an agent."""
    found: dict[str, list[str]] = {}
    for node in program.nodes:
        if isinstance(node.task, Ask | Gate):
            is_agent = isinstance(node.task, Ask) and options.prompts == "agent"
            who = "A person decides" if node.id in approved else "The agent decides" if is_agent else "A person answers"
            found.setdefault(who, []).append(comment(node.id))
    yield from (f"{who}: {', '.join(names)}." for who, names in found.items())
