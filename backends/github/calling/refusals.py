"""The limits of workflows that call the program, such as calls without a command."""

from collections.abc import Iterator, Sequence

from backends.base import about_node, about_option
from backends.github.calling.specification import Line
from backends.github.options.model import USUAL_PYTHON, GithubOptions, command_of
from backends.github.options.steps import agent_types, environments_of
from backends.github.workflow.transitions import BINARY
from backends.scheduling.jobs import Routes
from compiler.diagnostics.model import Diagnostic
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Gate, Parallel, Stage, Tool
from compiler.text.durations import spoken
from runtime_shim.targets.github.script import SHOWN_AS


def refused_calls(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report options that keep the runner from finding the program."""
    if not options.checkout and options.runtime != "inline":
        problem = "the steps call a program in the repository, but `checkout` is false"
        remedy = "remove `checkout: false`, or use `runtime: inline`, which puts the program into the workflow"
        yield about_option(program, ("checkout",), "RD013", problem, remedy)
    for name in sorted({"CALL", *SHOWN_AS} & {*options.env, *options.all_secrets(), *program.secrets}):
        option = "env" if name in options.env else "secrets"
        yield about_option(program, (option,), "RD013", f"steps set the variable {name} themselves", "rename it")
    labels = [options.runs_on] if isinstance(options.runs_on, str) else options.runs_on
    is_windows = any("windows" in label.lower() for label in labels)
    if is_windows and options.python == USUAL_PYTHON:
        problem = f"a Windows runner has no {USUAL_PYTHON}"
        yield about_option(program, ("runs-on",), "RD013", problem, "set the option `python` to the path of Python")


def unreserved(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report steps that only a person may answer, where a workflow can't know who answers (P-9)."""
    environments, is_reviewed = environments_of(program, options), options.prompts != "answers"
    for rule in program.rules:
        for node in (node for node in program.nodes if node.id in rule.persons):
            is_gate = isinstance(node.task, Gate)
            if is_gate and is_reviewed and (environments.get(node.id) or options.environment):
                continue
            problem = f"rule {rule.name} needs a person's answer at step {node.id}"
            another = "use a gate in an `environment`, or a document that native steps can run (`prompts: environment`)"
            remedy = "set an `environment` with reviewers for the gate" if is_gate else another
            yield about_node(node, "RD520", f"{problem}, but a workflow can't see who answers", remedy)


def unroutable(routes: Routes, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report impossible steps in loops, questions that an approval cannot answer, and calls without a command."""
    environments = environments_of(routes.program, options)
    placed = [(node, place.kind == "loop") for place in routes.places for node in place.nodes]
    if apart := [node for node, in_loop in placed if in_loop and node.id in environments]:
        problem = f"{_steps(apart)} cannot have an environment in a loop, which is part of a job"
        remedy = "leave the loop before the step, or set the option `environment` for all steps"
        yield about_node(apart[0], "RD520", problem, remedy)
    gates = [node for node, in_loop in placed if in_loop and isinstance(node.task, Gate)]
    if gates and options.prompts == "agent":
        problem = f"a gate in a loop would need several approvals, but a run can have only one: {_steps(gates)}"
        yield about_node(gates[0], "RD520", problem, "use `prompts: answers`, or leave the loop before the gate")
    asked = [node for node, _ in placed if isinstance(node.task, Ask) and node.task.question not in BINARY]
    if asked and options.prompts == "agent":
        problem = f"an agent can only answer yes or no, but more is asked at {_steps(asked)}"
        yield about_node(asked[0], "RD533", problem, "use `prompts: answers`, or ask the agent in a separate prompt")
    yield from _without_command(routes, options)


def _without_command(routes: Routes, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report agents without a command, and tools without a command. One option is enough for each."""
    nodes = list({node.id: node for place in routes.places for node in place.nodes}.values())
    types = {node.id: [name for name in agent_types(node) if not command_of(options.caller_of(name))] for node in nodes}
    if agents := [node for node in nodes if types[node.id]]:
        problem = f"{_calling(agents)} an agent, but no option sets the agent's command"
        remedy = "set a command that reads a prompt from standard input: `-O agent=COMMAND`"
        named = next((name for node in agents for name in types[node.id] if name), "")
        other = f"; for one type of agent, `-O 'agents={{{named}: COMMAND}}'`" if named else ""
        yield about_node(agents[0], "RD532", problem, remedy + other)
    called = [(node, node.task) for node in nodes if isinstance(node.task, Tool) and not node.task.optional]
    tools = [(node, tool) for node, tool in called if not command_of(options.tools.get(tool.connection))]  # (I13)
    if tools:
        connections = sorted({tool.connection for _, tool in tools})
        problem = f"{_calling([node for node, _ in tools])} a tool, but no option sets the tool's command"
        commands = ", ".join(f"{name}: COMMAND" for name in connections)
        yield about_node(
            tools[0][0], "RD532", problem, f"set a command for each connection: `-O 'tools={{{commands}}}'`"
        )


def _calling(nodes: Sequence[Node]) -> str:
    return f"{_steps(nodes)} call{'' if nodes[1:] else 's'}"


def _steps(nodes: Sequence[Node]) -> str:
    names = list(dict.fromkeys(node.id for node in nodes))
    if len(names) < 3:
        return f"step{'s' if names[1:] else ''} {' and '.join(names)}"
    return f"steps {names[0]} and {len(names) - 1} more"


def entries_apart(routes: Routes, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report what `parallel: matrix` loses, and where it has no effect."""
    if options.parallel != "matrix":
        return
    for place in routes.places:
        for node in (node for node in place.nodes if isinstance(node.task, Parallel)):
            if place.kind == "loop":
                problem = f"`parallel: matrix` has no effect on step {node.id}, because it is in a loop"
                yield about_node(node, "RD536", problem, "remove the paths back to the step, or use `parallel: step`")
            else:
                problem = f"each agent of step {node.id} runs in a separate job with a copy of the workspace"
                dropped = "only its answer is kept, and its changes are lost"
                remedy = "let the answers contain everything that later steps need, or use `parallel: step`"
                yield about_node(node, "RD535", f"{problem}: {dropped}", remedy)


def unexecuted(line: Line, options: GithubOptions) -> Iterator[Diagnostic]:
    """Report steps of a specification that a person would have to do, and environments of single steps."""
    stepspec = line.stepspec
    if not (stepspec.config.get("executor") or command_of(options.executor)):
        stages = (node for step in stepspec.steps.values() for node in step.stages)
        node = next(node for node in stages if isinstance(node.task, Stage) and node.task.stage == "execute")
        problem = f"step {node.id} has no executor, and a workflow cannot wait for a person to do it"
        remedy = "set a command that reads the step as JSON from standard input: `-O executor=COMMAND`"
        yield about_node(node, "RD532", problem, f"{remedy}, or set it in the configuration")
    for node_id in environments_of(line.program, options):
        problem = f"`steps` sets an environment for step {node_id}, but all steps of a specification share one"
        at = ("steps", node_id if node_id in options.steps else "*")
        yield about_option(line.program, at, "RD520", problem, "use the option `environment`")


def steps_longer_than_job(line: Line, minutes: int) -> Iterator[Diagnostic]:
    """Report steps whose attempts may take longer than the job's time limit."""
    longest = minutes * 60
    for step in line.stepspec.steps.values():
        if step.seconds > longest:
            problem = (
                f"with its attempts, step {step.id} may take {spoken(step.seconds)}; its job may take {spoken(longest)}"
            )
            remedy = "reduce `step_timeout_seconds` or the retries, or increase the option `timeout-minutes`"
            yield about_node(step.stages[0], "RD537", problem, remedy)
