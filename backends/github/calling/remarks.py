"""The comments above a step that calls the program: its transitions, its tools, and who answers."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from backends.common.remarks import listed, remarks
from backends.common.specification import Specification
from backends.common.specification import Step as SpecifiedStep
from backends.github.native.nodes import title
from backends.github.options.model import GithubOptions, command_of
from backends.github.workflow.filling import as_written
from backends.github.workflow.transitions import verdict_words
from backends.github.yaml.scalar import comment
from backends.scheduling.jobs import Routes
from compiler.ir.edges import Edge, OutcomeTest, Test
from compiler.ir.graph import reached_from
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, Branch, End, Gate, Tool, Verdict

LONGEST = 20_000  # the longest comment in characters; messages and commands are whole

TOOL_SECONDS = 30  # the time limit of a specification's tool, unless the configuration sets one

Nodes = Mapping[str, Node]


def about(node: Node, routes: Routes, options: GithubOptions) -> Iterator[str]:
    """Yield the comments above a step: its prose, who answers it, its tool, and all its transitions."""
    yield from map(comment, remarks(node))
    task = node.task
    if isinstance(task, (Ask, Gate)) and (isinstance(task, Gate) or options.prompts != "agent"):
        yield _by_people(node)
    elif isinstance(task, Ask):
        yield from _commanded("Asks the agent", command_of(options.agent))
    elif isinstance(task, Tool):
        command = command_of(options.tools.get(task.connection))
        if not command:
            yield comment(f"The option `tools` has no command for {task.connection}, so this step does nothing.")
        else:
            yield from _commanded(f"Tool {task.tool} of {task.connection}", command)
    yield from transitions(node, routes)


def in_loop(nodes: Iterable[Node], routes: Routes, options: GithubOptions) -> Iterator[str]:
    """Yield the comments above a loop: those of each of its nodes, below its title."""
    for node in nodes:
        yield comment(title(node))
        yield from (f"  {line}" for line in about(node, routes, options))


def _by_people(node: Node) -> str:
    """Return who answers a node, with its possible replies unless any text will do."""
    task = node.task
    if isinstance(task, Ask) and task.question == "select":
        options = ", ".join(f'"{option}"' for option in task.options)
        return comment(f"The run waits here. A person continues it and chooses one of {options}.", LONGEST)
    replies = "yes or no" if isinstance(task, Ask) and task.question == "confirm" else ""
    return f"The run waits here. A person continues it with the answer{f' {replies}' if replies else ''}."


def _commanded(what: str, command: str, more: str = "") -> Iterator[str]:
    first, *lines = command.strip().split("\n")
    if not lines:
        yield comment(f"{what}: {first}{more}", LONGEST)
        return
    yield comment(f"{what}{more}:", LONGEST)
    yield from (f"  {comment(line, LONGEST)}".rstrip() for line in (first, *lines))


def of_stepspec(step: SpecifiedStep, stepspec: Specification, options: GithubOptions) -> Iterator[str]:
    """Yield the comments above the step of a specification: the commands that it calls, as the options set them."""
    for task in (task for task in step.tasks if task.stage == "tool"):
        known = stepspec.config.get("tools", {}).get(task.subject, {})
        command = command_of(options.tools.get(task.subject)) or known.get("command") or "built in"
        limit = known.get("timeout_seconds", TOOL_SECONDS)
        yield from _commanded(f"Tool {task.subject}", command, f"; {stepspec.matters(step, task)}, at most {limit} s")
    yield from _commanded("Executor", command_of(options.executor) or stepspec.config.get("executor", ""))


def transitions(node: Node, routes: Routes) -> Iterator[str]:
    """Yield all transitions from a node, each as a comment: `PASS: CONTINUE`, `otherwise: STOP "It is broken"`."""
    for remark in dict.fromkeys(f"{when}: {where}" for when, where in _transitions(node, node, routes, (), "")):
        yield comment(remark, LONGEST)


def _transitions(
    start: Node, node: Node, routes: Routes, passed: tuple[str, ...], before: str
) -> Iterator[tuple[str, str]]:
    """Yield when a run takes each way from a node, and where it goes.

    The label of the node's own edge covers its counters and the branches behind it, but no limit of visits.
    """
    for edge in node.edges:
        label = edge.label if node is start else ""
        own = " and ".join(_test(node, test) for test in edge.guard if test.kind != "counter" or not label)
        when = ", ".join(filter(None, (before, own or "otherwise" * (len(node.edges) > 1)))) or "always"
        target = routes.nodes[edge.target]
        is_followed = target.id in routes.limits if edge.label else isinstance(target.task, Branch)
        if is_followed and target.id not in passed:
            yield from _transitions(start, target, routes, (*passed, target.id), when if when != "always" else "")
        else:
            yield when, _destination(start, edge if label else replace(edge, written=()), routes.nodes)


def _test(node: Node, test: Test) -> str:
    if not isinstance(test, OutcomeTest):
        name, value = (test.slot, f'"{test.text}"') if test.kind == "slot" else (test.register, test.value)
        return f"{name} {test.operator} {value}"
    passed, failed = verdict_words(node)
    return {Verdict.PASS.value: passed, Verdict.FAIL.value: failed}.get(test.word, test.word)


def _destination(start: Node, edge: Edge, nodes: Nodes) -> str:
    """Return where an edge leads: in the author's words if there are any, with an end's whole message."""
    target = nodes[edge.target]
    if not isinstance(target.task, End):
        return edge.label or f"GOTO {target.id}"
    result, message = target.task.result.upper(), " ".join(as_written(str(target.task.message)).split())
    words = edge.label.upper() if edge.label.upper() in {"COMPLETE", "STOP", "END"} else edge.label
    remark = words if words and words != "END" else result
    return remark + (f' "{message}"' if message else "") + _skipped(start, target.task, nodes)


def _skipped(start: Node, end: End, nodes: Nodes) -> str:
    ahead = reached_from([start.id], lambda name: [edge.target for edge in nodes[name].edges])
    gates = [approved(node) for node in nodes.values() if isinstance(node.task, Gate) and node.id in ahead]
    if end.result != "complete" or not gates or isinstance(start.task, Gate):
        return ""
    return f", skips the approval{'s' * (len(gates) > 1)} {listed(gates)}"


def approved(gate: Node) -> str:
    """Return the name of the step that a gate approves."""
    return gate.id.rpartition("/")[0] or gate.id


def decision(gate: Node, nodes: Nodes) -> str:
    """Return the name of the job that people approve: `Approve: update, after reading survey.md`."""
    before = [node for node in nodes.values() if any(edge.target == gate.id for edge in node.edges)]
    reports = [f"{report}.md" for node in before if (report := getattr(node.task, "report", ""))]
    return f"Approve: {approved(gate)}" + (f", after reading {listed(reports)}" if reports else "")
