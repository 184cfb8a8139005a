"""Passes: functions from a valid program to a valid program with the same paths, ids and origins.

A pass returns the same object if it changes nothing. Otherwise the result is verified.

If an operator can jump to a step, a run is more than a path from the start. Passes therefore need every jump in the
program to be explicit.
"""

from collections.abc import Callable

from msgspec.structs import replace

from compiler.ir.program import Program, plain_targets, with_jumps, without_jumps
from compiler.ir.verify import verify
from compiler.passes.fold_effects import fold_effects
from compiler.passes.remove_dead_counters import remove_dead_counters
from compiler.passes.remove_impossible_edges import remove_impossible_edges
from compiler.passes.remove_unreachable import remove_unreachable
from compiler.passes.thread_jumps import thread_jumps

PASSES: dict[str, Callable[[Program], Program]] = {
    "remove-impossible-edges": remove_impossible_edges,
    "thread-jumps": thread_jumps,
    "fold-effects": fold_effects,
    "remove-unreachable": remove_unreachable,
    "remove-dead-counters": remove_dead_counters,
}
"""Every pass by name, in the order they run."""


def optimize(program: Program, *, jumps: bool = True) -> Program:
    """Return the program after all passes; `jumps` is true if its operator can jump to any step (I27).

    Plain jumps to a step or group stay implicit.

    Raises:
        InvalidProgramError: The program or the result of a pass breaks rules, which is a bug in rdc.
    """
    if "verified" not in program.analyses:  # a backend changed it
        verify(program, "merging")
    program = with_jumps(program) if jumps else without_jumps(program)
    program = run_passes(program, *PASSES)
    if not program.jumps:
        return program
    plain = plain_targets(program)
    needed = (jump for jump in program.jumps if jump.entering or jump.effects or plain.get(jump.id) != jump.target)
    return replace(program, jumps=tuple(needed))


def run_passes(program: Program, *names: str) -> Program:
    """Return the program after some passes, each of which must leave a valid program."""
    for name in names:
        after = PASSES[name](program)
        if after is not program:
            verify(after, name)
        program = after
    return program
