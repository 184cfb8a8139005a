"""The meaning of the compiled program, before and after all passes."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.edges import Keep
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.tasks import Ask, End, Shell, Verdict
from compiler.ir.texts import INSTANCES
from compiler.ir.verify import verify
from compiler.passes import optimize
from tests.equivalence.difference import same
from tests.equivalence.execution import Workspace
from tests.equivalence.visits import Beyond, Trace, Visit


def compare(workspace: Workspace) -> bool:
    """Compare the path of the program, which the verifier must accept, as lowered and as optimized."""
    trace = workspace.scenario.trace
    optimized = optimize(workspace.program)
    for program, name in ((workspace.program, "lowered"), (optimized, "optimized")):
        verify(program)
        visits, end = walk_of(program, trace)
        same(f"the visits of the {name} program", visits, [_comparable(visit) for visit, _ in trace.visits])
        same(f"the end of the {name} program", end, trace.end)
    return True


def walk_of(program: Program, expected: Trace) -> tuple[list[object], tuple[str, str] | None]:
    """The path that a program takes with the outcomes of another one, and as far as that goes."""
    machine = Machine(program)
    state = machine.start(dict(expected.given.inputs))
    visits: list[object] = []
    jumps = list(expected.jumps)
    while True:
        if jumps and jumps[0].index == len(visits) and jumps[0].waiting == _waiting(machine, state):
            state = machine.jump(state, jumps.pop(0).step)
            continue
        node = machine.nodes[state.node]
        if isinstance(node.task, End):
            return visits, (node.task.result.upper(), machine.text(state, node.task.message))
        if len(visits) == len(expected.visits):
            return visits, None
        visit, passed = expected.visits[len(visits)]
        visits.append(_visited(machine, state, visit))
        word = Verdict.PASS if passed else Verdict.FAIL
        state = machine.advance(state, Outcome(word, values=visit.beyond.values)).state


def _waiting(machine: Machine, state: State) -> str:
    """The step that a run waits for, "" where it has ended by STOP."""
    task = machine.nodes[state.node].task
    return state.node if isinstance(task, Ask) else "" if isinstance(task, End) and task.result == "stop" else "-"


def _visited(machine: Machine, state: State, expected: Visit) -> object:
    """What a program does at the node of a state, as `_comparable` has it of a visit."""
    node = machine.nodes[state.node]
    task, attempt = node.task, machine.attempt(state)
    assert isinstance(task, Shell | Ask)
    instances = dict(machine.instances(state))
    step, substep = instances.get("RDC_STEP_INSTANCE"), instances.get("RDC_SUBSTEP_INSTANCE")
    visit = Visit(node.id, attempt, step, substep, expected.index, is_command=isinstance(task, Shell))
    kept = [effect for edge in node.edges for effect in edge.effects if isinstance(effect, Keep)]
    settings = node.settings
    beyond = Beyond(
        _sees(machine, state),
        keeps=bool(kept),
        timeout=settings.timeout,
        waits=settings.delay * settings.backoff ** (attempt - 2) if attempt > 1 else 0,
        shown=machine.text(state, task.prompt) if expected.beyond.shown else "",
    )
    return _comparable(replace(visit, beyond=beyond))


def _sees(machine: Machine, state: State) -> tuple[tuple[str, str], ...]:
    node = machine.nodes[state.node]
    seen = {variable.name: machine.value(state, variable.register) for variable in node.variables}
    constants = {constant.name: constant.value for constant in node.constants}
    given = {name: value for name, value in seen.items() if value is not None and name not in INSTANCES}
    return tuple(sorted({**constants, **given}.items()))


def _comparable(visit: Visit) -> object:
    """What a program has of a visit: not its index, what it writes, or the file, which the label says too."""
    beyond = visit.beyond
    numbers = (visit.attempt, visit.step_instance, visit.substep_instance)
    more = (beyond.sees, beyond.keeps, beyond.timeout, beyond.waits, beyond.shown)
    return visit.label, *numbers, visit.is_command, *more
