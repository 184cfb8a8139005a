"""What of a program a Makefile cannot carry, although it carries each feature, and options that it has no use for."""

from __future__ import annotations

from collections.abc import Iterator

from backends.base import OptionFinding, Reason
from backends.make.inputs import is_reserved
from backends.make.options import MakeOptions
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Program


def refusals(program: Program) -> Iterator[Diagnostic]:
    """Everything that a Makefile of the program could not carry (RD530)."""
    names = [("input", declared.name) for declared in program.inputs]
    names += [("secret", name) for name in program.secrets]
    for kind, name in names:
        if is_reserved(name, program):
            problem = f"the {kind} `{name}` has a name that make, its shell or rdc gives a meaning"
            remedy = f"give the {kind} another name, of letters, digits and `_`, such as `topic`"
            yield Diagnostic("RD530", program.sources[0].path, None, problem, remedy)


def unused_options(program: Program, options: MakeOptions, reason: Reason | None) -> Iterator[Diagnostic]:
    """Return findings about options without effect on a Makefile that calls the program for a reason, or calls none."""
    path = program.sources[0].path
    if reason and options.driver == "shared":
        problem = f"`driver: shared` has no effect: {reason.clause}, so the Makefile calls the program"
        remedy = "compile this document with `driver: bundled`"
        yield OptionFinding("RD540", path, None, problem, remedy, option=("driver",))
    if not reason and options.program is not None:
        problem = f"`program: {options.program}` has no effect: this Makefile calls no program"
        yield OptionFinding("RD540", path, None, problem, "leave out `program`", option=("program",))
