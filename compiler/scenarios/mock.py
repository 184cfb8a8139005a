"""Play a scenario by the semantics only, without executing anything."""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.answers import of_agent, of_parallel, of_text, of_tool
from compiler.ir.edges import output_names
from compiler.ir.paths import Path, Visit, visit
from compiler.ir.program import Node, Program, check_of, jumps_of
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.tasks import Agent, Ask, Gate, Parallel, Shell, Stage, Task, Tool, Value, Verdict, alphabet
from compiler.scenarios.model import Event, Goto, InvalidEvent, Reply, Scenario, ScenarioAnswer
from runtime_shim.io.reading import SPACES
from runtime_shim.values.fitting import outcome_of

DONE = "done"
"""The answer of an agent whose work a command checks."""


class MockRun(Struct, frozen=True):
    """The run of a scenario. `message` is why it has no end, `needs_commands` that a command must run.

    `calls` are the answers of agents and tools in order, by step, or by entry of a parallel step.
    """

    path: Path
    message: str = ""
    needs_commands: bool = False
    calls: tuple[ScenarioAnswer, ...] = ()

    def replies(self, program: Program) -> tuple[tuple[str, str], ...]:
        """Return the steps that ask for a reply and their replies, in order."""
        nodes = program.index()
        asked = (item for item in self.path.visits if isinstance(nodes[item.step].task, Ask | Gate))
        return tuple((item.step, _reply(nodes[item.step], item.outcome)) for item in asked)

    def outcomes(self, program: Program, *, of_commands: bool) -> tuple[Outcome, ...]:
        """Return the outcomes of commands, or of all other steps, in order."""
        nodes = program.index()
        return tuple(
            made.outcome for made in self.path.visits if isinstance(nodes[made.step].task, Shell) == of_commands
        )

    def legs(self, program: Program) -> tuple[tuple[str, ...], ...]:
        """Return the outcomes, or the values, before each jump and after the last one."""
        nodes = program.index()
        words = [_reply(nodes[made.step], made.outcome) for made in self.path.visits]
        places = [0, *(place for place, _ in self.path.jumps), len(words)]
        return tuple(tuple(words[begin:end]) for begin, end in pairwise(places))


def _reply(node: Node, outcome: Outcome) -> str:
    if check_of(node):
        return f"{node.id} {DONE}"  # an agent takes only an answer that names its step
    is_text = isinstance(node.task, Ask) and node.task.question in ("input", "select", "confirm", "value")
    return outcome.text if is_text else outcome.word


def mock(program: Program, scenario: Scenario) -> MockRun:
    """Play a scenario. Answers after the end are ignored."""
    machine = Machine(program)
    if problem := _unclear(program, scenario):
        return MockRun(Path((), machine.start()), problem)
    played = _played(machine, scenario)
    state = played.path.state
    if played.message or machine.end(state):
        return played
    node = machine.nodes[state.node]
    if isinstance(node.task, Shell) and not scenario.prompted:
        return replace(
            played, message=f"step {node.id} is a command, which a mock run does not execute", needs_commands=True
        )
    if callee := _callee(node.task):
        return replace(played, message=f"step {node.id} calls {callee}, but the scenario has no answer for it")
    return replace(played, message=f"the run waits at step {node.id}, but the scenario has no answer left")


def _callee(task: Task) -> str:
    if isinstance(task, Tool):
        return f"the tool {task.connection}.{task.tool}"
    return {Agent: "its agent", Parallel: "its agents"}.get(type(task), "")


def _unclear(program: Program, scenario: Scenario) -> str:
    known = jumps_of(program) if scenario.jumps else {}
    for event in scenario.replies:
        if isinstance(event, InvalidEvent):
            return event.message
        if isinstance(event, Goto) and event.step not in known:
            return f"there is no step `{event.step}`"
    return ""


def _played(machine: Machine, scenario: Scenario) -> MockRun:
    """Play a scenario to its end, to a missing or invalid answer, or to a command that must run."""
    state = machine.start(scenario.inputs)
    problem = ""
    visits: list[Visit] = []
    calls: list[ScenarioAnswer] = []
    jumped: list[tuple[int, str]] = []
    left = deque(scenario.replies)
    while events := _next(left, machine.nodes[state.node]):
        waits_for_command = isinstance(machine.nodes[state.node].task, Shell) and not scenario.prompted
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
        calls += (event for event in events if isinstance(event, ScenarioAnswer))
        made, state = visit(machine, state, outcome)
        visits.append(made)
    path = Path(tuple(visits), state, tuple(jumped), tuple(scenario.inputs.items()))
    return MockRun(path, problem, calls=tuple(calls))


def _outcome(machine: Machine, state: State, events: Sequence[Event]) -> tuple[Outcome | None, str]:
    """Return the outcome of a reply or of calls; None and the reason if the step can't have it."""
    node = machine.nodes[state.node]
    reply = events[0]
    if not isinstance(reply, Reply):
        return _of_calls(node, [event for event in events if isinstance(event, ScenarioAnswer)])
    if isinstance(node.task, Ask) and node.task.value:
        return _of_value(node, node.task, node.task.value, reply)
    options = [machine.text(state, option) for option in node.task.options] if isinstance(node.task, Ask) else []
    outcome = of_text(node.task, reply.text, options)
    if outcome is None:
        words = ", ".join(alphabet(node.task))
        return None, f"`{reply.text}` is not an outcome of step {node.id}; use one of {words}"
    for name, _ in reply.values:
        if name not in output_names(node.edges):
            return None, f"step {node.id} has no output `{name}`"
    return (replace(outcome, values=reply.values) if reply.values else outcome), ""


def _of_value(node: Node, task: Ask, value: Value, reply: Reply) -> tuple[Outcome | None, str]:
    """Return the outcome of a reply to a question for a value, which may come with the word for PASS."""
    given = dict(reply.values).get(value.name, "") if reply.text == Verdict.PASS else reply.text
    outcome = of_text(task, given)
    if outcome is not None:
        return outcome, ""
    _, problem = outcome_of(given.strip(SPACES), value.type, value.options, value.pattern)
    return None, f"step {node.id} asks for `{value.name}`: {problem}; write `--value {value.name}=…` after `pass`"


def _of_calls(node: Node, said: Sequence[ScenarioAnswer]) -> tuple[Outcome | None, str]:
    answers = [None if one.text is None else one.text.encode() for one in said]
    if isinstance(node.task, Agent):
        return of_agent(node.task, answers[0]), ""
    if isinstance(node.task, Tool):
        return of_tool(answers[0]), ""
    if isinstance(node.task, Parallel):
        return of_parallel(node.task, answers), ""
    return None, f"step {node.id} calls neither an agent nor a tool"


def _next(left: Sequence[Event], node: Node) -> list[Event]:
    """Return the next event for a step; for a parallel step, the next one for each entry."""
    # Without an event, an optional tool has no command and fails (I13), a stage passes (I32), and an agent does its
    # work.
    if isinstance(node.task, Parallel):
        return _of_entries(left, node, node.task)
    is_call = isinstance(node.task, Agent | Tool | Stage)
    for event in left:
        if isinstance(event, ScenarioAnswer) and event.step != node.id:
            continue
        if isinstance(event, Reply) and (event.step not in (None, node.id) or (is_call and event.step is None)):
            continue
        if isinstance(event, Goto) and check_of(node) and event is not left[0]:
            continue  # the replies before the jump are for later steps
        return [event]
    if isinstance(node.task, Stage):
        return [Reply(node.id, Verdict.PASS.value)]
    if check_of(node):
        return [ScenarioAnswer(node.id, DONE)]
    is_optional = isinstance(node.task, Tool) and node.task.optional
    return [ScenarioAnswer(node.id, None)] if is_optional else []


def _of_entries(left: Sequence[Event], node: Node, task: Parallel) -> list[Event]:
    """Return the answers of a parallel step's entries in order; nothing if an answer is missing."""
    names = [f"{node.id}_{index}" for index in range(len(task.entries))]
    events = {
        name: [event for event in left if isinstance(event, ScenarioAnswer) and event.step == name][:1]
        for name in names
    }
    return [event for name in names for event in events[name]] if all(events.values()) else []
