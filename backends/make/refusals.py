"""What of a program a Makefile cannot carry, although it carries each feature: names of inputs (RD530)."""

from __future__ import annotations

from collections.abc import Iterator

from backends.make.inputs import is_reserved
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Program


def refusals(program: Program) -> Iterator[Diagnostic]:
    """Everything that a Makefile of the program could not carry."""
    path = program.sources[0].path
    for declared in program.inputs:
        if is_reserved(declared.name):
            problem = f"the input `{declared.name}` has a name that make, its shell or rdc gives a meaning"
            remedy = "give the input another name, of letters, digits and `_`, such as `topic`"
            yield Diagnostic("RD530", path, None, problem, remedy)
