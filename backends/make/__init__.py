"""The make target: a Makefile for GNU make 3.81 and a POSIX shell that can resume runs."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import ClassVar

from backends.base import Backend, Emission, about_option
from backends.delegating import reason
from backends.make.calling import calling
from backends.make.native import beyond, native
from backends.make.options import MakeOptions
from backends.make.plain import plain
from backends.make.refusals import refusals
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.passes import optimize


class MakeBackend(Backend[MakeOptions]):
    """A Makefile that runs commands and pass/fail questions in sh, and calls the program for everything else."""

    name: ClassVar[str] = "make"
    summary: ClassVar[str] = "a Makefile that can resume runs, for GNU make 3.81 and a POSIX shell"
    suffix: ClassVar[str] = ".mk"
    options = MakeOptions
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def path_problem(self, _path: str) -> tuple[str, str, str] | None:
        """Return the problem of a path with a space, which make reads as the end of a file name."""
        path = PurePath(_path)
        folder, name = str(path.parent), path.name
        if " " not in _path:
            return None
        problem = f"the path of the Makefile has a space, which make does not support: `{path}`"
        remedy = f"choose a name without spaces: `-o {shlex.quote(str(path.with_name(name.replace(' ', '-'))))}`"
        if " " not in name:
            remedy = f"run make in that folder: `cd {shlex.quote(folder)} && make -f {shlex.quote(name)}`"
        return "RD538", problem, remedy

    def render(self, program: Program, options: MakeOptions) -> Emission:
        """Return the Makefile."""
        refused = tuple(refusals(program))
        if refused:
            return Emission(None, refused)
        why = None if options.form == "plain" else reason(program, operator=options.operator) or beyond(program)
        if not why and options.program is not None:
            problem = f"`program: {options.program}` has no effect, because this Makefile calls no program"
            remedy = "remove the option `program`"
            return Emission(None, (about_option(program, ("program",), "RD540", problem, remedy),))
        if options.form == "plain":
            return plain(program, options)
        if why:
            return calling(program, options, why)
        return native(optimize(program, jumps=False), options)
