"""Where a run that ended with STOP continues, from the machine of programs and the outcomes of a path."""

from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Agent, Ask, End, Gate, Parallel
from compiler.passes import optimize
from tests.differential.case import Case, Trace, Visit
from tests.differential.oracles.program import PLACE

FAILED = {"fail", "failed", "none", "invalid", "ambiguous", "rejected"}


def retried(case: Case, trace: Trace, *, jumps: bool = True) -> Visit | None:
    """The visit of the step that failed last, where the run did not go on as after a pass; or else the last one.

    None if there is none, at a limit, or if an operator jumped. `jumps` is whether the target lets operators jump.
    """
    machine = Machine(optimize(case.compiled, jumps=jumps))
    state, failed = machine.start(case.inputs, PLACE), dict[str, Visit]()
    for visit in trace.visits if not trace.jumps else ():
        task = machine.nodes[state.node].task
        after = machine.advance(state, Outcome(visit.word, visit.text or "", tuple(visit.values.items()))).state
        failed.pop(visit.step, None)
        if visit.word in FAILED:
            if isinstance(task, Agent | Parallel) or (isinstance(task, Ask) and task.options):
                return None  # which word is the first one depends on the target
            word = "approved" if isinstance(task, Gate) else "pass"
            if machine.end(after) or machine.advance(state, Outcome(word)).state != after:
                failed[visit.step] = visit
        state = after
    is_stopped = isinstance(task := machine.nodes[state.node].task, End) and task.result == "stop"
    return [*trace.visits[-1:], *failed.values()][-1] if is_stopped and trace.visits and not trace.jumps else None
