"""Passes: functions from a valid program to a valid program with the same walks. Ids and origins are kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from compiler.ir.program import Program, jumps_of
from compiler.passes.fold_effects import fold_effects
from compiler.passes.remove_dead_registers import remove_dead_registers
from compiler.passes.remove_impossible_edges import remove_impossible_edges
from compiler.passes.remove_unreachable import remove_unreachable
from compiler.passes.thread_jumps import thread_jumps, thread_operator_jumps

PASSES: dict[str, Callable[[Program], Program]] = {
    "remove-impossible-edges": remove_impossible_edges,
    "thread-jumps": thread_jumps,
    "fold-effects": fold_effects,
    "remove-unreachable": remove_unreachable,
    "remove-dead-registers": remove_dead_registers,
}
"""Every pass by its name, in the order in which they are run."""


def optimise(program: Program) -> Program:
    """The program after all passes."""
    for run in PASSES.values():
        program = run(program)
    return program


def optimise_for_jumps(program: Program) -> Program:
    """The same for a target in which an operator can jump to any unit (I27).

    Runs are others then: counters rule out less, and each unit can be reached.
    """
    program = thread_operator_jumps(program)
    targets = tuple(dict.fromkeys(jump.target for jump in jumps_of(program).values()))
    for run in (thread_jumps, fold_effects, partial(remove_unreachable, entries=targets), remove_dead_registers):
        program = run(program)
    return program
