"""The limits of Makefiles beyond unsupported features, and options without effect."""

from __future__ import annotations

from collections.abc import Iterator

from backends.base import Reason, about_option
from backends.make.inputs import is_reserved
from backends.make.options import MakeOptions
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Program


def refusals(program: Program) -> Iterator[Diagnostic]:
    """Yield everything in a program that a Makefile cannot express (RD530)."""
    names = [("input", declared.name) for declared in program.inputs]
    names += [("secret", name) for name in program.secrets]
    for kind, name in names:
        if is_reserved(name, program):
            problem = f"the name of the {kind} `{name}` is reserved for make, its shell or rdc"
            remedy = f"rename the {kind}, for example to `topic`; use only letters, digits and `_`"
            yield Diagnostic("RD530", program.sources[0].path, None, problem, remedy)


def unused_options(program: Program, options: MakeOptions, reason: Reason | None) -> Iterator[Diagnostic]:
    """Yield findings about options without effect. A Makefile with a `reason` calls the program."""
    if reason and options.driver == "shared":
        problem = f"`driver: shared` has no effect, because the Makefile calls the program: {reason.clause}"
        remedy = "compile this document with `driver: bundled`"
        yield about_option(program, ("driver",), "RD540", problem, remedy)
    if not reason and options.program is not None:
        problem = f"`program: {options.program}` has no effect, because this Makefile calls no program"
        yield about_option(program, ("program",), "RD540", problem, "remove the option `program`")
