"""What a workflow cannot express that calls the program: questions for nobody, calls without a command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backends.base import OptionFinding
from backends.github.calling.line import Line
from backends.github.calling.program import problem_with_path
from backends.github.options import USUAL_PYTHON, GithubOptions, command_of
from backends.github.settings import agent_types, environments_of
from backends.scheduling.jobs import Jobs
from backends.scheduling.places import Place
from backends.scheduling.routes import Routes
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Gate, Parallel, Shell, Stage, Tool
from compiler.regex import Regex
from compiler.source import KeyPath
from compiler.times import spoken

BINARY = frozenset({"pass_fail", "yes_no"})
"""The questions that are answered by one of two words."""

_OF_RUNNER = Regex(r"\bGITHUB_(?:ENV|PATH|OUTPUT|STATE)\b")

MOST_ATTEMPTS = 10
"""How often people are asked about one prompt: each time is a job."""


def refused_calls(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Options by which the runner would not find the program."""
    if not options.checkout and options.runtime != "inline":
        problem = "the steps call a program of the repository, and `checkout` is false"
        remedy = "leave `checkout` out, or take `runtime: inline`, which puts the program into the workflow"
        yield _about_option(program, ("checkout",), "RD013", problem, remedy)
    labels = [options.runs_on] if isinstance(options.runs_on, str) else options.runs_on
    is_windows = any("windows" in label.lower() for label in labels)
    if is_windows and options.python == USUAL_PYTHON:
        problem = f"a runner with Windows has no {USUAL_PYTHON}"
        yield _about_option(program, ("runs-on",), "RD013", problem, "name the path of Python by the option `python`")
    if options.program and (wrong := problem_with_path(options.program)):
        yield _about_option(program, ("program",), "RD013", wrong, "take another path")


def unroutable(routes: Routes, options: GithubOptions) -> Iterator[Diagnostic]:
    """What cannot be in a loop, approvals of other questions, and agents and tools without a command."""
    environments = environments_of(routes.program, options)
    for place in routes.places:
        for node in place.nodes:
            if place.kind == "loop" and node.id in environments:
                yield _looped_environment(node)
            yield from _approval(node, options, in_loop=place.kind == "loop")
    yield from _without_command(routes, options)


def _looped_environment(node: Node) -> Diagnostic:
    problem = f"step {node.id} is in a loop, and an environment belongs to a job"
    return _at(node, "RD520", problem, "leave the loop before the step, or take the option `environment`")


def _lacks_command(tool: Tool, options: GithubOptions) -> bool:
    """Whether no option names a command for a tool that has to have one (I13)."""
    return not tool.optional and not options.mock and not command_of(options.tools.get(tool.connection))


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


def out_of_reach(program: Program) -> Iterator[Diagnostic]:
    """Commands that name files of the runner, which the program keeps from them."""
    for node in program.nodes:
        named = _OF_RUNNER.search(str(node.task.command)) if isinstance(node.task, Shell) else None
        if named:
            problem = f"the command of {node.id} names {named[0]}, which no command has where steps call the program"
            remedy = "hand a value on as an output: declare it in `outputs`, and write it to $RDC_OUTPUT"
            yield _at(node, "RD541", problem, remedy)


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
    if isinstance(node.task, Ask) and options.prompts == "agent" and node.task.question not in BINARY:
        problem = f"step {node.id} asks for more than yes or no, and an agent answers nothing else"
        yield _at(node, "RD533", problem, "take `prompts: answers`, or let a prompt of its own ask the agent")
    if not isinstance(node.task, Ask) or options.prompts != "environment":
        return
    if in_loop:
        problem = f"the prompt of step {node.id} is in a loop, and an approval can be given once in a run"
        remedy = "take `prompts: answers` or `prompts: agent`, or leave the loop before the prompt"
        yield _at(node, "RD520", problem, remedy)
    elif Jobs.asked(Place("step", (node,))) > MOST_ATTEMPTS:
        problem = f"step {node.id} may be asked more than {MOST_ATTEMPTS} times, and each approval is a job"
        remedy = f"let RETRY ask at most {MOST_ATTEMPTS - 1} times, or take `prompts: answers` or `prompts: agent`"
        yield _at(node, "RD520", problem, remedy)
    elif node.task.question not in BINARY:
        problem = f"step {node.id} is answered with more than yes or no, and an approval says nothing else"
        yield _at(node, "RD533", problem, "take `prompts: answers` or `prompts: agent`")


def unexecuted(line: Line, options: GithubOptions) -> Iterator[Diagnostic]:
    """Steps of a specification that a person would do, inputs under names of the workflow's own, and environments."""
    contract = line.contract
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


def _about_option(program: Program, option: KeyPath, code: str, problem: str, remedy: str) -> Diagnostic:
    return OptionFinding(code, program.sources[0].path, None, problem, remedy, option=option)


def _at(node: Node, code: str, problem: str, remedy: str) -> Diagnostic:
    return Diagnostic(code, node.origin.path, node.origin.span, problem, remedy)
