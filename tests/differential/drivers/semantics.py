"""The meaning of the program, before and after all passes, with the compiler's own reading of answers."""

from dataclasses import replace
from typing import assert_never

from compiler.ir.answers import of_agent, of_parallel, of_reply, of_tool
from compiler.ir.program import Node, Program
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.serialize import to_json
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool, alphabet
from compiler.ir.verify import verify
from compiler.passes import optimize
from runtime_shim.io.reading import LARGEST_ANSWER
from runtime_shim.tasks.tool import in_json
from tests.differential.case import Call, Case, Json, Limits, Trace, Visit, same
from tests.differential.oracles.program import PLACE, report_answers
from tests.support.program_json import from_json


def compare(case: Case, trace: Trace) -> bool:
    """Compare the paths of the program as it is read, and as it is optimized."""
    program = case.compiled
    same("the program written and read again", from_json(to_json(program)), program)
    for each, name in ((program, "program"), (optimize(program), "optimized program")):
        verify(each)
        _compare(case, trace, each, name)
    if trace.reports is not None and trace.end is not None:
        same("the reports", report_answers(case, trace), trace.reports)
    return True


def _compare(case: Case, trace: Trace, program: Program, name: str) -> None:
    machine = Machine(program)
    state = machine.start(case.inputs, PLACE)
    numbers: dict[str, int] = {}
    for index, visit in enumerate(trace.visits):
        state = _jumped(machine, state, trace, index)
        same(f"the end of the {name} before {visit.step}", machine.end(state), None)
        node = machine.nodes[state.node]
        same(f"the step of the {name}", (node.id, machine.attempt(state)), (visit.step, visit.attempt))
        if name == "program" and visit.before:
            same(f"the registers before {visit.step}", held(state), visit.before)
        called = visit.calls[0].step if visit.calls else node.id
        number = numbers.get(called, 0)
        numbers[called] = number + 1
        _compare_sent(machine, state, visit, case)
        wanted = Outcome(visit.word, visit.text or "", tuple(visit.values.items()))
        outcome = _outcome(machine, state, visit, {} if visit.question else case.reply(called, number))
        found = outcome if visit.text is not None or outcome is None else Outcome(outcome.word, "", outcome.values)
        same(f"the outcome of {visit.step}", found, wanted)
        same(f"whether {visit.word} is a word of {visit.step}", visit.word in alphabet(node.task), True)
        move = machine.advance(state, wanted)
        settled = tuple((item.step, item.word) for edge in move.edges for item in edge.settles)
        if visit.settles is not None:
            same(f"what {visit.step} settles in the {name}", settled, visit.settles)
        state = move.state
    state = _jumped(machine, state, trace, len(trace.visits))
    _compare_end(machine, state, trace, name)


def _jumped(machine: Machine, state: State, trace: Trace, index: int) -> State:
    """The state after the jumps of an operator that are due after so many visits."""
    for jump in trace.jumps:
        if jump.index == index:
            task = machine.nodes[state.node].task
            is_stopped = isinstance(task, End) and task.result == "stop"
            same(
                "where an operator jumps",
                state.node if isinstance(task, Ask) else "" if is_stopped else "-",
                jump.waiting,
            )
            state = machine.jump(state, jump.step)
    return state


def _compare_end(machine: Machine, state: State, trace: Trace, name: str) -> None:
    end = machine.end(state)
    same(f"the end of the {name}", end and (end.result.upper(), str(end.message)), trace.end)
    if name == "program" and trace.held:
        same("the registers at the end", held(state), trace.held)
    if trace.artifact:
        artifact = machine.program.artifact
        same("what the run leaves", artifact and machine.value(state, artifact.slot), trace.artifact[0])


def held(state: State) -> dict[str, int | str | None]:
    return {**state.slots, **state.counters}


def _compare_sent(machine: Machine, state: State, visit: Visit, case: Case) -> None:
    node = machine.nodes[state.node]
    found, expected = _calls(machine, state, node, visit), [*visit.calls]
    if case.documents:
        expected = [replace(call, variables=_without(call, case)) for call in expected]
    if case.documents and isinstance(node.task, Shell):  # a document's command may have arguments of any kind
        expected = [replace(call, step=node.id) for call in expected]
        found = [replace(call, arguments=each.arguments) for call, each in zip(found, expected, strict=True)]
    same(f"what {visit.step} sends", found, expected)
    if visit.limits:
        settings, attempt = node.settings, machine.attempt(state)
        waits = settings.delay * settings.backoff ** (attempt - 2) if attempt > 1 else 0
        same(f"the limits of {visit.step}", Limits(settings.timeout, waits, settings.expire), visit.limits)
    if visit.instances is not None:
        same(f"the instances of {visit.step}", dict(machine.instances(state)), visit.instances)
    if visit.question and isinstance(node.task, Ask | Gate):
        prompt = node.task.reason if isinstance(node.task, Gate) else node.task.prompt
        options = () if isinstance(node.task, Gate) else node.task.options
        shown = (machine.text(state, prompt), tuple(machine.text(state, option) for option in options))
        if visit.question.prompt is not None:
            same(f"what {visit.step} asks", shown, (visit.question.prompt, visit.question.options))


def _without(call: Call, case: Case) -> dict[str, str]:
    """The variables of a call without secrets, which no program holds."""
    return {name: value for name, value in call.variables.items() if name not in case.secrets}


def _calls(machine: Machine, state: State, node: Node, visit: Visit) -> list[Call]:
    """What the calls of a node are given; that of a command is known by its arguments only."""
    worth = {item.name: machine.value(state, item.register) for item in node.variables}
    variables = {constant.name: constant.value for constant in node.constants}
    variables |= {name: value for name, value in worth.items() if value is not None}
    attempt = machine.attempt(state)
    match node.task:
        case Agent(agent) as task:
            calls = [Call(node.id, attempt, machine.prompt(state, task), (), variables, callee=agent)]
        case Parallel(entries):
            calls = [
                Call(node.id, attempt, machine.prompt(state, item), (), variables, callee=item.agent, entry=number)
                for number, item in enumerate(entries)
            ]
        case Tool(connection, tool, arguments):
            values = {item.register: machine.value(state, item.register) for item in arguments.references}
            given = f'{{"tool": "{in_json(tool)}", "arguments": {arguments.filled(values, in_json)}}}'
            calls = [Call(node.id, attempt, given, (), variables, callee=connection)]
        case Shell(command=command):
            counters = tuple(machine.text(state, type(command)((item,))) for item in command.references)
            keeps = any(effect.kind == "keep" and effect.of == "output" for e in node.edges for effect in e.effects)
            calls = [Call(node.id, attempt, "", counters, variables, keeps)]
        case Ask() | Gate() | Stage() | Branch() | End():
            calls = []
        case _:
            assert_never(node.task)
    return calls if visit.calls else []


def _outcome(machine: Machine, state: State, visit: Visit, reply: Json) -> Outcome | None:
    """What the compiler makes of a reply; what a command writes is read at run time only."""
    task = machine.nodes[state.node].task
    if not visit.question and not visit.calls:
        return Outcome(visit.word)
    match task:
        case Agent():
            return of_agent(task, printed(reply))
        case Tool():
            return of_tool(printed(reply))
        case Parallel():
            return of_parallel(task, [printed(entry) for entry in reply["entries"]])
        case Ask() | Gate():
            assert visit.question
            return of_reply(task, visit.question.reply, visit.question.options)
        case Shell() | Stage() | Branch() | End():
            return Outcome(visit.word, visit.text or "", tuple(visit.values.items()))
        case _:
            assert_never(task)


def printed(reply: Json) -> bytes | None:
    """What a process prints, None if that does not count."""
    if reply.get("hangs"):
        return None
    answer: bytes = reply["answer"].encode("utf-8", "surrogateescape")
    return None if reply["exit"] or len(answer) > LARGEST_ANSWER else answer
