"""The meaning of the program, before and after all passes, with the compiler's own reading of answers."""

from __future__ import annotations

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
from tests.equivalence.difference import same
from tests.programs.cases import Call, Case, Json, Trace, Visit
from tests.programs.reports import PLACE
from tests.support.program_json import from_json


def compare(case: Case, trace: Trace) -> bool:
    """Compare the paths of the program as it is read, and as it is optimized."""
    program = from_json(case.text)
    same("the program written and read again", from_json(to_json(program)), program)
    for each, name in ((program, "program"), (optimize(program), "optimized program")):
        verify(each)
        _compare(case, trace, each, name)
    return True


def _compare(case: Case, trace: Trace, program: Program, name: str) -> None:
    machine = Machine(program)
    state = machine.start(case.inputs, PLACE)
    numbers: dict[str, int] = {}
    for visit in trace.visits:
        same(f"the end of the {name} before {visit.step}", machine.end(state), None)
        node = machine.nodes[state.node]
        same(f"the step of the {name}", (node.id, machine.attempt(state)), (visit.step, visit.attempt))
        if name == "program" and visit.before:
            same(f"the registers before {visit.step}", held(state), visit.before)
        number = numbers.get(node.id, 0)
        numbers[node.id] = number + 1
        _compare_sent(machine, state, visit)
        outcome = _outcome(machine, state, visit, case.reply(node.id, number))
        wanted = Outcome(visit.word, visit.text, tuple(visit.values.items()))
        same(f"the outcome of {visit.step}", outcome, wanted)
        same(f"whether {visit.word} is a word of {visit.step}", visit.word in alphabet(node.task), True)
        state = machine.advance(state, wanted).state
    end = machine.end(state)
    same(f"the end of the {name}", end and (end.result.upper(), str(end.message)), trace.end)
    if name == "program" and trace.held:
        same("the registers at the end", held(state), trace.held)


def held(state: State) -> dict[str, int | str | None]:
    """All that the registers hold."""
    return {**state.slots, **state.counters}


def _compare_sent(machine: Machine, state: State, visit: Visit) -> None:
    node = machine.nodes[state.node]
    same(f"what {visit.step} sends", _calls(machine, state, node, visit), [*visit.calls])
    if visit.question and isinstance(node.task, Ask | Gate):
        prompt = node.task.reason if isinstance(node.task, Gate) else node.task.prompt
        options = () if isinstance(node.task, Gate) else node.task.options
        shown = (machine.text(state, prompt), tuple(machine.text(state, option) for option in options))
        same(f"what {visit.step} asks", shown, (visit.question.prompt, visit.question.options))


def _calls(machine: Machine, state: State, node: Node, visit: Visit) -> list[Call]:
    """What the calls of a node are given; that of a command is known by its arguments only."""
    worth = {item.name: machine.value(state, item.register) for item in node.variables}
    variables = {name: value for name, value in worth.items() if value is not None}
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
            return of_agent(task, said(reply))
        case Tool():
            return of_tool(said(reply))
        case Parallel():
            return of_parallel(task, [said(entry) for entry in reply["entries"]])
        case Ask() | Gate():
            assert visit.question
            return of_reply(task, visit.question.reply, visit.question.options)
        case Shell() | Stage() | Branch() | End():
            return Outcome(visit.word, visit.text, tuple(visit.values.items()))
        case _:
            assert_never(task)


def said(reply: Json) -> bytes | None:
    """What a process says, None if that does not count."""
    if reply.get("hangs"):
        return None
    answer: bytes = reply["answer"].encode("utf-8", "surrogateescape")
    return None if reply["exit"] or len(answer) > LARGEST_ANSWER else answer
