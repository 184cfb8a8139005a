"""The meaning of the compiled program, before and after all passes."""

from __future__ import annotations

from compiler.ir.program import Program
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Ask, End, Shell, Verdict
from compiler.ir.verify import verify
from compiler.passes import optimise
from tests.equivalence.difference import same
from tests.equivalence.execution import Trial
from tests.equivalence.visits import Visit, Walk


def compare(trial: Trial) -> bool:
    """Compare the walk of the program, which the verifier must accept, as lowered and as optimised."""
    walk = trial.scenario.walk
    optimised = optimise(trial.program)
    for program, name in ((trial.program, "lowered"), (optimised, "optimised")):
        verify(program)
        visits, end = walk_of(program, walk)
        same(f"the visits of the {name} program", visits, [_comparable(visit) for visit, _ in walk.visits])
        same(f"the end of the {name} program", end, walk.end)
    return True


def walk_of(program: Program, expected: Walk) -> tuple[list[object], tuple[str, str] | None]:
    """The walk that a program takes with the outcomes of another one, and as far as that goes."""
    machine = Machine(program)
    state = machine.start()
    visits: list[object] = []
    while True:
        node = machine.nodes[state.node]
        if isinstance(node.task, End):
            return visits, (node.task.result.upper(), machine.text(state, node.task.message))
        if len(visits) == len(expected.visits):
            return visits, None
        assert isinstance(node.task, Shell | Ask)
        instances = {variable.name: state.counters[variable.register] for variable in node.variables}
        step, substep = instances.get("RDC_STEP_INSTANCE"), instances.get("RDC_SUBSTEP_INSTANCE")
        is_command = isinstance(node.task, Shell)
        visit = Visit(node.id, machine.attempt(state), step, substep, len(visits), is_command=is_command)
        passed = expected.visits[len(visits)][1]
        visits.append(_comparable(visit))
        state = machine.advance(state, Outcome(Verdict.PASS if passed else Verdict.FAIL)).state


def _comparable(visit: Visit) -> object:
    """A visit without what a program does not have: its index, and the file, which the label says too."""
    return visit.label, visit.attempt, visit.step_instance, visit.substep_instance, visit.is_command
