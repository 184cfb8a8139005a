"""The make target: a Makefile for GNU make 3.81 and a POSIX shell, resumable."""

from __future__ import annotations

from typing import ClassVar

from backends.base import Backend, Emission
from backends.make.makefile import makefile
from backends.make.options import MakeOptions
from backends.make.refusals import refusals
from backends.make.specification import specification
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.passes import optimise


class MakeBackend(Backend[MakeOptions]):
    """A Makefile that needs nothing but GNU make and a POSIX shell, and python3 where sh cannot say a thing exactly."""

    name: ClassVar[str] = "make"
    summary: ClassVar[str] = "a Makefile for GNU make 3.81 and a POSIX shell, resumable"
    suffix: ClassVar[str] = ".mk"
    options = MakeOptions
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def render(self, program: Program, options: MakeOptions) -> Emission:
        """The text of the Makefile."""
        refused = tuple(refusals(program))
        if refused:
            return Emission(None, refused)
        if program.contract is not None:
            return specification(program, options)
        return Emission(makefile(optimise(program, jumps=options.operator == "full"), options))
