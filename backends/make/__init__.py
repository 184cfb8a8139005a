"""The make target: a Makefile for GNU make 3.81 and a POSIX shell, resumable."""

from __future__ import annotations

from typing import ClassVar

from backends.base import Backend, Emission, NoOptions
from backends.make.makefile import makefile
from compiler.diagnostic import Diagnostic
from compiler.ir.features import Feature
from compiler.ir.program import Node, Program, Shell
from compiler.passes import optimise

LONGEST_ARGUMENT = 128 * 1024 - 1
"""Bytes of an argument, which the command is for `bash -c`."""


class MakeBackend(Backend[NoOptions]):
    """A Makefile that needs nothing but GNU make and a POSIX shell."""

    name: ClassVar[str] = "make"
    summary: ClassVar[str] = "a Makefile for GNU make 3.81 and a POSIX shell, resumable"
    suffix: ClassVar[str] = ".mk"
    options = NoOptions
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.COMMANDS, Feature.QUESTIONS})

    def render(self, program: Program, options: NoOptions) -> Emission:  # noqa: ARG002 (there are none)
        """The text of the Makefile, unless a command is longer than what a program can be given."""
        refused = tuple(_too_long(node) for node in program.nodes if _size(node) > LONGEST_ARGUMENT)
        return Emission(None, refused) if refused else Emission(makefile(optimise(program)))


def _size(node: Node) -> int:
    return len(node.task.command.encode()) if isinstance(node.task, Shell) else 0


def _too_long(node: Node) -> Diagnostic:
    problem = f"the command has {_size(node):,} bytes, and Linux gives a program {LONGEST_ARGUMENT:,} in one piece"
    remedy = "put the text into a file of the repository, and name that file here"
    return Diagnostic("RD521", node.origin.path, node.origin.span, problem, remedy)
