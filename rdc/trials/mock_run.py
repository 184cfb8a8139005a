"""A scenario played by the semantics alone: nothing is executed (S1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.answers import of_agent, of_parallel, of_text, of_tool
from compiler.ir.edges import output_names
from compiler.ir.paths import Path, Visit, visit
from compiler.ir.program import Node, Program, jumps_of
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.tasks import Agent, Ask, Gate, Parallel, Shell, Stage, Task, Tool, Verdict, alphabet
from compiler.scenarios import Event, Goto, Reply, Said, Scenario, Unclear


class MockRun(Struct, frozen=True):
    """How far a scenario comes; `problem` says why it is not at an end, `needs_commands` that a command must run.

    `calls` is what agents and tools said, in order, by steps and entries of parallel ones.
    """

    path: Path
    problem: str = ""
    needs_commands: bool = False
    calls: tuple[Said, ...] = ()

    def replies(self, program: Program) -> tuple[tuple[str, str], ...]:
        """What is answered, in the order of the visits: the steps, and the replies to them."""
        nodes = program.index()
        asked = (item for item in self.path.visits if isinstance(nodes[item.step].task, Ask | Gate))
        return tuple((item.step, _reply(nodes[item.step], item.outcome)) for item in asked)

    def outcomes(self, program: Program, *, of_commands: bool) -> tuple[Outcome, ...]:
        """The outcomes of the commands, or of the prompts, in the order of the visits."""
        nodes = program.index()
        return tuple(made.outcome for made in self.path.visits if is_command(nodes[made.step]) == of_commands)

    def legs(self) -> tuple[tuple[str, ...], ...]:
        """The words of all outcomes in the order of the visits: before each jump, and after the last one."""
        words = [made.outcome.word for made in self.path.visits]
        places = [0, *(place for place, _ in self.path.jumps), len(words)]
        return tuple(tuple(words[begin:end]) for begin, end in pairwise(places))


def _reply(node: Node, outcome: Outcome) -> str:
    """What a person says for an outcome."""
    is_text = isinstance(node.task, Ask) and node.task.question in ("input", "select", "confirm")
    return outcome.text if is_text else outcome.word


def is_command(node: Node) -> bool:
    """Whether a step is executed rather than answered."""
    return isinstance(node.task, Shell)


def mock(program: Program, scenario: Scenario) -> MockRun:
    """Play a scenario; answers that are left over after the end are ignored (S1)."""
    machine = Machine(program)
    if problem := _unclear(program, scenario):
        return MockRun(Path((), machine.start()), problem)
    played = _played(machine, scenario)
    state = played.path.state
    if played.problem or machine.end(state):
        return played
    node = machine.nodes[state.node]
    if is_command(node) and not scenario.prompted:
        return replace(played, problem=f"{node.id} is a command, and nothing is run", needs_commands=True)
    if callee := _callee(node.task):
        return replace(played, problem=f"{node.id} calls {callee}, and the scenario does not say what comes of it")
    return replace(played, problem=f"it waits at {node.id}, and no answer is left")


def _callee(task: Task) -> str:
    """Whom a task calls, "" for nobody."""
    if isinstance(task, Tool):
        return f"the tool {task.connection}.{task.tool}"
    return {Agent: "its agent", Parallel: "its agents"}.get(type(task), "")


def _unclear(program: Program, scenario: Scenario) -> str:
    """What is wrong with the first event that cannot be carried out, "" if there is none."""
    known = jumps_of(program) if scenario.jumps else {}
    for event in scenario.replies:
        if isinstance(event, Unclear):
            return event.problem
        if isinstance(event, Goto) and event.step not in known:
            return f"`{event.spelled} {event.step}`: there is no such step"
    return ""


def _played(machine: Machine, scenario: Scenario) -> MockRun:
    """The path to the end, to where no answer is left or one does not fit (and why), or to a command that must run."""
    state = machine.start(scenario.inputs)
    problem = ""
    visits: list[Visit] = []
    calls: list[Said] = []
    jumped: list[tuple[int, str]] = []
    left = deque(scenario.replies)
    while events := _next(left, machine.nodes[state.node]):
        waits_for_command = is_command(machine.nodes[state.node]) and not scenario.prompted
        if machine.end(state) or (waits_for_command and isinstance(events[0], Reply)):
            break
        for event in events:
            if event in left:
                left.remove(event)
        if isinstance(events[0], Goto):
            state = machine.jump(state, events[0].step)
            jumped.append((len(visits), events[0].step))
            continue
        outcome, problem = _outcome(machine, state, events)
        if outcome is None:
            break
        calls += (event for event in events if isinstance(event, Said))
        made, state = visit(machine, state, outcome)
        visits.append(made)
    path = Path(tuple(visits), state, tuple(jumped), tuple(scenario.inputs.items()))
    return MockRun(path, problem, calls=tuple(calls))


def _outcome(machine: Machine, state: State, events: Sequence[Event]) -> tuple[Outcome | None, str]:
    """The outcome of a reply, or of calls; None if the step can have none such, and why."""
    node = machine.nodes[state.node]
    reply = events[0]
    if not isinstance(reply, Reply):
        return _of_calls(node, [event for event in events if isinstance(event, Said)])
    options = [machine.text(state, option) for option in node.task.options] if isinstance(node.task, Ask) else []
    outcome = of_text(node.task, reply.text, options)
    if outcome is None:
        words = ", ".join(alphabet(node.task))
        return None, f"`{reply.text}` is no outcome of {node.id}, whose outcomes are {words}"
    for name, _ in reply.values:
        if name not in output_names(node.edges):
            return None, f"{node.id} cannot give an output `{name}`"
    return (replace(outcome, values=reply.values) if reply.values else outcome), ""


def _of_calls(node: Node, said: Sequence[Said]) -> tuple[Outcome | None, str]:
    """The outcome of the calls of a step: of an agent, a tool, or several agents."""
    answers = [None if one.text is None else one.text.encode() for one in said]
    if isinstance(node.task, Agent):
        return of_agent(node.task, answers[0]), ""
    if isinstance(node.task, Tool):
        return of_tool(answers[0]), ""
    if isinstance(node.task, Parallel):
        return of_parallel(node.task, answers), ""
    return None, f"{node.id} calls neither an agent nor a tool"


def _next(left: Sequence[Event], node: Node) -> list[Event]:
    """The first of what is left that is not for another step; of a parallel step the first for each of its entries.

    Where nothing is said of a tool that is optional, there is no command for it: the call fails (I13). A stage of which
    nothing is said passes (I32).
    """
    if isinstance(node.task, Parallel):
        return _of_entries(left, node, node.task)
    is_call = isinstance(node.task, Agent | Tool | Stage)
    for event in left:
        if isinstance(event, Said) and event.step != node.id:
            continue
        if isinstance(event, Reply) and (event.step not in (None, node.id) or (is_call and event.step is None)):
            continue
        return [event]
    if isinstance(node.task, Stage):
        return [Reply(node.id, Verdict.PASS.value)]
    is_optional = isinstance(node.task, Tool) and node.task.optional
    return [Said(node.id, None)] if is_optional else []


def _of_entries(left: Sequence[Event], node: Node, task: Parallel) -> list[Event]:
    """What the entries of a parallel step say, in their order; nothing if one of them says nothing."""
    names = [f"{node.id}_{index}" for index in range(len(task.entries))]
    said = {name: [event for event in left if isinstance(event, Said) and event.step == name][:1] for name in names}
    return [event for name in names for event in said[name]] if all(said.values()) else []
