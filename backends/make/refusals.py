"""What of a program a Makefile cannot carry, although it carries each feature: names of inputs and secrets (RD530)."""

from __future__ import annotations

from collections.abc import Iterator

from backends.make.inputs import is_reserved
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Program


def refusals(program: Program) -> Iterator[Diagnostic]:
    """Everything that a Makefile of the program could not carry."""
    names = [("input", declared.name) for declared in program.inputs]
    names += [("secret", name) for name in program.secrets]
    for kind, name in names:
        if is_reserved(name, program):
            problem = f"the {kind} `{name}` has a name that make, its shell or rdc gives a meaning"
            remedy = f"give the {kind} another name, of letters, digits and `_`, such as `topic`"
            yield Diagnostic("RD530", program.sources[0].path, None, problem, remedy)
