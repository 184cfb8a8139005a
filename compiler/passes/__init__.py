"""Passes: functions from a valid program to a valid program with the same walks. Ids and origins are kept."""

from __future__ import annotations

from collections.abc import Callable

from compiler.ir.program import Program
from compiler.passes.fold_effects import fold_effects
from compiler.passes.remove_dead_registers import remove_dead_registers
from compiler.passes.remove_impossible_edges import remove_impossible_edges
from compiler.passes.remove_unreachable import remove_unreachable
from compiler.passes.thread_jumps import thread_jumps

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
