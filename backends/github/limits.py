"""What GitHub does not take, as diagnostics: its limits, and what a workflow cannot express."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from backends.base import OptionFinding
from backends.github.line import Line
from backends.github.options import GithubOptions, command_of
from backends.github.places import Place, retry_of
from backends.github.plan import Plan
from backends.github.prompts import Agents, Approvals, Prompts
from backends.github.routes import Routes
from backends.github.scalar import OPEN, Expression
from backends.github.settings import agent_types, environments_of
from backends.github.step import Step
from backends.github.triggers import INPUTS
from backends.github.workflow import Written
from compiler.diagnostic import Diagnostic
from compiler.ir.edges import CounterTest, Test
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, End, Gate, Parallel, Stage, Tool
from compiler.source import KeyPath
from compiler.times import spoken

LONGEST_EXPRESSION = 21_000
"""Characters of an expression, as GitHub documents it."""

MOST_STEPS = 1_000
"""Steps of a job that GitHub shows; a run whose steps cannot be seen cannot be reviewed either."""

MOST_JOBS = 256
"""Jobs of a matrix."""

LARGEST_FILE = 512 * 1024
"""Bytes of a workflow file."""

MOST_INPUTS = 25
"""Inputs of `workflow_dispatch`."""

LONGEST_INPUTS = 65_535
"""Characters of the payload that starts a workflow by hand: all inputs as JSON."""

LONGEST_VARIABLE = 128 * 1024 - 1
"""Bytes of `NAME=value` that Linux hands to a program."""

MOST_ATTEMPTS = 10
"""How often people are asked about one prompt: each time is a job."""

_PINNED = re.compile(r"\./.*|docker://.*@sha256:[0-9a-f]{64}|.*@[0-9a-f]{40}")
_SHORTEN = "put the text into a file of the repository, and name that file here"
_MEET = "let fewer steps lead to it: substeps can meet in the transition of their step"


def taken(program: Program, options: GithubOptions, names: Sequence[str]) -> Iterator[Diagnostic]:
    """Inputs of the option `on` under the names of those that the workflow needs itself."""
    own = {"workflow_dispatch": names, "workflow_call": [name for name in names if name == "answers"]}
    for event, needed in own.items():
        given = (options.triggers().get(event) or {}).get("inputs") or {}
        for name in (name for name in needed if name in given):
            what = "for its prompts" if "answers" in names else "to go on with a run"
            problem = f"the workflow has an input `{name}` {what}, and `{event}` has another of this name"
            remedy = "take another name" + (
                ", or another way to answer prompts (`prompts`)" if "answers" in names else ""
            )
            yield _about_option(program, ("on", event, "inputs", name), "RD013", problem, remedy)


def unexecuted(line: Line, options: GithubOptions) -> Iterator[Diagnostic]:
    """Steps of a specification that a person would do, inputs under names of the workflow's own, and environments."""
    contract = line.contract
    if not options.checkout:
        problem = "the steps of a specification call a program of the repository, and `checkout` is false"
        yield _about_option(line.program, ("checkout",), "RD013", problem, "leave the option out")
    if not (contract.config.get("executor") or command_of(options.executor) or options.mock):
        node = next(node for step in contract.steps.values() for node in step.stages if _executes(node))
        problem = (
            f"step {node.id} has no executor, so that a person would have to do it, which no workflow can wait for"
        )
        remedy = "give a command that reads the step as JSON from standard input: `-O executor=COMMAND`"
        yield _at(node, "RD532", problem, f"{remedy}, or name one in the configuration")
    for node_id in environments_of(line.program, options):
        problem = f"`steps` names an environment for {node_id}, but all steps of a specification share one"
        at = ("steps", node_id if node_id in options.steps else "*")
        yield _about_option(line.program, at, "RD520", problem, "take the option `environment`")


def steps_longer_than_job(line: Line, options: GithubOptions) -> Iterator[Diagnostic]:
    """Steps whose attempts may take longer than a job: GitHub ends it before they are used up."""
    longest = options.timeout_minutes * 60
    for step in line.contract.steps.values():
        if step.seconds > longest:
            problem = f"step {step.id} may take {spoken(step.seconds)}, with its attempts, its job {spoken(longest)}"
            remedy = "shorten `step_timeout_seconds` or the retries, or raise the option `timeout-minutes`"
            yield _at(step.stages[0], "RD537", problem, remedy)


def _executes(node: Node) -> bool:
    return isinstance(node.task, Stage) and node.task.stage == "execute"


def inexpressible(plan: Plan, options: GithubOptions, prompts: Prompts) -> Iterator[Diagnostic]:
    """Prompts that nobody can be asked: a job, and so an approval, happens once in a run."""
    environments = environments_of(plan.program, options)
    for place in plan.places:
        yield from _environments(environments, place, prompts)
        if not isinstance(prompts, Approvals):
            continue
        retry = retry_of(place.node) if place.kind == "step" and isinstance(place.node.task, Ask) else None
        if retry and (retry.on_fail or 0) >= MOST_ATTEMPTS:
            problem = f"step {place.node.id} may be asked {(retry.on_fail or 0) + 1} times, and each approval is a job"
            remedy = f"let RETRY ask at most {MOST_ATTEMPTS} times, or take `prompts: answers` or `prompts: agent`"
            yield _at(place.node, "RD520", problem, remedy)
        if place.kind == "loop":
            for node in place.nodes:
                if isinstance(node.task, Ask):
                    problem = f"the prompt of step {node.id} is in a loop, and an approval can be given once in a run"
                    remedy = "take `prompts: answers` or `prompts: agent`, or leave the loop before the prompt"
                    yield _at(node, "RD520", problem, remedy)


def _environments(found: Mapping[str, str], place: Place, prompts: Prompts) -> Iterator[Diagnostic]:
    """Environments of nodes that have no job of their own: in a loop (one step), and where a run waits (one job)."""
    for node in place.nodes:
        if node.id not in found or (place.kind != "loop" and not prompts.waits):
            continue
        if place.kind == "loop":
            yield _looped_environment(node)
        else:
            problem = f"the environment of step {node.id} would cut the run, and a run that may wait is one job"
            yield _at(node, "RD520", problem, "take `prompts: environment` or `prompts: agent`")


def _looped_environment(node: Node) -> Diagnostic:
    problem = f"step {node.id} is in a loop, and an environment belongs to a job"
    return _at(node, "RD520", problem, "leave the loop before the step, or take the option `environment`")


def _lacks_command(tool: Tool, options: GithubOptions) -> bool:
    """Whether no option names a command for a tool that has to have one (I13)."""
    return not tool.optional and not options.mock and not command_of(options.tools.get(tool.connection))


def unroutable(routes: Routes, options: GithubOptions) -> Iterator[Diagnostic]:
    """What cannot stand in a loop, approvals of other questions, and agents and tools without a command."""
    environments = environments_of(routes.program, options)
    for place in routes.places:
        for node in place.nodes:
            if place.kind == "loop" and node.id in environments:
                yield _looped_environment(node)
            yield from _approval(node, options, in_loop=place.kind == "loop")
    yield from _without_command(routes, options)


def _without_command(routes: Routes, options: GithubOptions) -> Iterator[Diagnostic]:
    """One finding for all agents without a command, and one for all tools: one option is enough for each."""
    nodes = list({node.id: node for place in routes.places for node in place.nodes}.values())
    types = {node.id: [name for name in agent_types(node) if not command_of(options.caller_of(name))] for node in nodes}
    if agents := [] if options.mock else [node for node in nodes if types[node.id]]:
        problem = f"{_calling(agents)} an agent, and no option names its command"
        remedy = "give a command that reads a prompt from standard input: `-O agent=COMMAND`"
        named = next((name for node in agents for name in types[node.id] if name), "")
        other = f"; for one type of agent, `-O 'agents={{{named}: COMMAND}}'`" if named else ""
        yield _at(agents[0], "RD532", problem, remedy + other)
    tools = [(node, node.task) for node in nodes if isinstance(node.task, Tool) and _lacks_command(node.task, options)]
    if tools:
        connections = sorted({tool.connection for _, tool in tools})
        problem = f"{_calling([node for node, _ in tools])} a tool, and no option names its command"
        commands = ", ".join(f"{name}: COMMAND" for name in connections)
        yield _at(tools[0][0], "RD532", problem, f"give a command for each connection: `-O 'tools={{{commands}}}'`")


def _calling(nodes: Sequence[Node]) -> str:
    """The steps that call something, in a few words."""
    if len(nodes) == 1:
        return f"step {nodes[0].id} calls"
    more = f" and {len(nodes) - 1} more" if len(nodes) > 2 else f" and {nodes[1].id}"
    return f"steps {nodes[0].id}{more} call"


def entries_apart(routes: Routes, options: GithubOptions) -> Iterator[Diagnostic]:
    """What `parallel: matrix` drops, and where it is not followed."""
    if options.parallel != "matrix":
        return
    for place in routes.places:
        for node in (node for node in place.nodes if isinstance(node.task, Parallel)):
            if place.kind == "loop":
                problem = f"step {node.id} is in a loop, so no job of a matrix can run its agents (`parallel: matrix`)"
                yield _at(node, "RD536", problem, "leave no path back to it, or take `parallel: step`")
            else:
                problem = f"each agent of step {node.id} gets a job and a copy of the workspace of its own"
                dropped = "what it changes there is dropped, and its answer alone is kept"
                remedy = "let the answers say what later steps need, or take `parallel: step`"
                yield _at(node, "RD535", f"{problem}: {dropped}", remedy)


def _approval(node: Node, options: GithubOptions, *, in_loop: bool) -> Iterator[Diagnostic]:
    if in_loop and isinstance(node.task, Gate) and options.prompts != "answers":
        problem = f"the gate of step {node.id} is in a loop, and an approval can be given once in a run"
        yield _at(node, "RD520", problem, "take `prompts: answers`, or leave the loop before the gate")
    if not isinstance(node.task, Ask) or options.prompts != "environment":
        return
    if in_loop:
        problem = f"the prompt of step {node.id} is in a loop, and an approval can be given once in a run"
        remedy = "take `prompts: answers` or `prompts: agent`, or leave the loop before the prompt"
        yield _at(node, "RD520", problem, remedy)
    elif node.task.question not in {"pass_fail", "yes_no"}:
        problem = f"step {node.id} is answered with more than yes or no, and an approval says nothing else"
        yield _at(node, "RD533", problem, "take `prompts: answers` or `prompts: agent`")


def warnings(program: Program, options: GithubOptions, prompts: Prompts) -> Iterator[Diagnostic]:
    """What is said of a workflow that GitHub takes."""
    yield from _unpinned(program, options)
    yield from _waits_on_schedule(program, options, prompts)
    yield from _longer_than_job(program, options)


def _unpinned(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Actions of the option `setup` whose code can change behind the workflow's back."""
    for number, step in enumerate(options.setup):
        if step.uses and not _PINNED.fullmatch(step.uses):
            problem = f"the action `{step.uses}` of the option `setup` is not pinned to a commit"
            remedy = "name the commit instead of the version: `uses: owner/action@<40 hexadecimal digits>`"
            yield _about_option(program, ("setup", str(number), "uses"), "RD522", problem, remedy)


def _waits_on_schedule(program: Program, options: GithubOptions, prompts: Prompts) -> Iterator[Diagnostic]:
    """A schedule for a workflow whose prompts wait for people."""
    asking = [node.id for node in program.nodes if isinstance(node.task, Ask)]
    if not asking or "schedule" not in options.triggers() or isinstance(prompts, Agents):
        return
    what = "approval" if isinstance(prompts, Approvals) else "answer"
    problem = (
        f"nobody answers a scheduled run: each one waits for an {what} at a prompt, such as that of step {asking[0]}"
    )
    remedy = "take `prompts: agent`, or remove `schedule` from the option `on`"
    yield _about_option(program, ("on", "schedule"), "RD523", problem, remedy)


def _longer_than_job(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Nodes whose time limits and delays are longer than a job: GitHub ends it before they are used up."""
    longest = options.timeout_minutes * 60
    for node in program.nodes:
        if not isinstance(node.task, Stage) and _longest(node, longest) > longest:
            problem = f"step {node.id} may take longer, with its attempts and delays, than the job: {spoken(longest)}"
            remedy = "shorten `timeout`, `retry-delay` or the RETRY, or raise the option `timeout-minutes`"
            yield _at(node, "RD537", problem, remedy)


def _longest(node: Node, enough: int) -> int:
    """The seconds that a visit to a node may take by its own limits; of more than enough not all are counted."""
    retries = max((test.value for edge in node.edges for test in edge.guard if _counts(test, node)), default=0)
    timeout, delay, backoff = node.settings.timeout or 0, node.settings.delay, node.settings.backoff
    total = (retries + 1) * timeout + (retries * delay if backoff == 1 else 0)
    for _ in range(retries if delay and backoff > 1 else 0):
        if total > enough:
            break
        total, delay = total + delay, delay * backoff
    return total


def _counts(test: Test, node: Node) -> TypeGuard[CounterTest]:
    return isinstance(test, CounterTest) and test.register == node.retries and test.operator == "<"


def exceeded(workflow: Written, text: str) -> Iterator[Diagnostic]:
    """The limits that a workflow is beyond."""
    size = len(text.encode())
    if size > LARGEST_FILE:
        yield _too_large(workflow, f"the workflow would have {size:,} bytes, and GitHub takes {LARGEST_FILE:,}")
    yield from _inputs(workflow)
    nodes = {workflow.plan.ids.nodes[node.id]: node for node in workflow.plan.program.nodes}
    for job in workflow.jobs:
        if len(job.matrix) > MOST_JOBS:
            whose = next(nodes[step.id] for step in job.steps if step.id in nodes)
            problem = f"a matrix would have {len(job.matrix):,} jobs, and GitHub takes {MOST_JOBS:,}"
            yield _at(whose, "RD521", problem, "split the step into several, or take `parallel: step`")
        if len(job.steps) > MOST_STEPS:
            problem = f"a job would have {len(job.steps):,} steps, and GitHub shows {MOST_STEPS:,}"
            yield _too_large(workflow, problem)
        for step in job.steps:
            for problem, remedy in _step(step):
                node = nodes.get(step.id)
                said = problem if node else f"{problem}, in the step {step.name}"
                yield _at(node, "RD521", said, remedy) if node else _too_large(workflow, said)


def _inputs(workflow: Written) -> Iterator[Diagnostic]:
    """Inputs of `workflow_dispatch` that are too many or too long, those for prompts included."""
    inputs = (workflow.events.get("workflow_dispatch") or {}).get("inputs") or {}
    at = ("on", "workflow_dispatch", "inputs")
    if len(inputs) > MOST_INPUTS:
        added = f", {len(INPUTS)} of them for prompts," if workflow.prompts.waits else ""
        problem = f"`workflow_dispatch` would have {len(inputs)} inputs{added} and GitHub takes {MOST_INPUTS}"
        remedy = f"remove {len(inputs) - MOST_INPUTS} of them, or combine some into one"
        yield _about_option(workflow.program, at, "RD521", problem, remedy)
    defaults = {name: said.get("default", "") if isinstance(said, dict) else "" for name, said in inputs.items()}
    size = len(json.dumps(defaults, ensure_ascii=False))
    if size > LONGEST_INPUTS:
        problem = f"the defaults of `workflow_dispatch` have {size:,} characters, and GitHub takes {LONGEST_INPUTS:,}"
        remedy = "put long defaults into files of the repository, and let an input name the file"
        yield _about_option(workflow.program, at, "RD521", problem, remedy)


def _about_option(program: Program, option: KeyPath, code: str, problem: str, remedy: str) -> Diagnostic:
    return OptionFinding(code, program.sources[0].path, None, problem, remedy, option=option)


def _too_large(workflow: Written, problem: str) -> Diagnostic:
    """A limit that the document as a whole is beyond; half of its steps are within, or can be split again."""
    headers = [node.group or node.id for node in workflow.program.nodes if not isinstance(node.task, End)]
    middle = headers[len(headers) // 2].split("/")[0]
    remedy = f"split the document, for example before {middle}, and compile each part to a workflow of its own"
    return Diagnostic("RD521", workflow.program.sources[0].path, None, problem, remedy)


def _step(step: Step) -> Iterator[tuple[str, str]]:
    """What is wrong with a step, and what can be done about it."""
    expressions = [
        step.condition,
        *(text for text in step.env.values() if isinstance(text, Expression) or OPEN in text),
    ]
    longest = max(len(text) for text in expressions)
    if longest > LONGEST_EXPRESSION:
        said = f"an expression would have {longest:,} characters, and GitHub takes {LONGEST_EXPRESSION:,}"
        yield said, _MEET if longest == len(step.condition) else _SHORTEN
    for name, text in step.env.items():
        size = len(f"{name}={text}".encode())
        if size > LONGEST_VARIABLE and not isinstance(text, Expression):
            yield f"the variable {name} would have {size:,} bytes, and Linux takes {LONGEST_VARIABLE:,}", _SHORTEN


def _at(node: Node, code: str, problem: str, remedy: str) -> Diagnostic:
    return Diagnostic(code, node.origin.path, node.origin.span, problem, remedy)
