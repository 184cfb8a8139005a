"""The make target: a Makefile for GNU make 3.81 and a POSIX shell that can resume runs."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import ClassVar

from backends.base import Backend, Emission, about_option
from backends.base import OutputFile as OutputFile
from backends.base import VerifyResult as VerifyResult
from backends.make.calling import calling
from backends.make.names import Identifiers
from backends.make.native import beyond, common, loop, native
from backends.make.options import MakeOptions
from backends.make.plain import plain
from backends.make.verify import loop_in, verify_makefile
from backends.python.delegate import reason
from compiler.diagnostics.model import Diagnostic
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel, Tool
from compiler.ir.texts import is_reserved
from compiler.passes import optimize
from compiler.text.regex import Regex
from compiler.text.source import sha256_of


class MakeBackend(Backend[MakeOptions]):
    """A Makefile that runs commands and pass/fail questions in sh, and calls the program for everything else."""

    name: ClassVar[str] = "make"
    summary: ClassVar[str] = "a Makefile that can resume runs, for GNU make 3.81 and a POSIX shell"
    suffix: ClassVar[str] = ".mk"
    options = MakeOptions
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    verify_output = staticmethod(verify_makefile)
    runtime_in = staticmethod(loop_in)
    test_command: ClassVar[str] = "rdc.testing.targets.make"
    has_test_jumps: ClassVar[bool] = True

    def review_items(self, path: str, data: bytes) -> Iterator[str]:
        """Yield the runtimes in a Makefile or a program; the loop is one of them."""
        yield from super().review_items(path, data)
        if data.startswith(b"#") and common().encode() in data:
            yield f"runtime make-loop {sha256_of(loop())}"

    def runtimes(self) -> Mapping[str, str]:
        """Return the loop, a script for a POSIX shell."""
        return {"make-loop": loop()}

    def shown_steps(self, program: Program) -> Mapping[str, str]:
        """Return the name of each step in a state."""
        return Identifiers(program).nodes

    def path_issue(self, _path: str) -> tuple[str, str, str] | None:
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
        if refused := tuple(refusals(program)):
            return Emission(None, refused)
        why = None if options.form == "plain" else reason(program, operator=options.operator) or beyond(program)
        if not why and options.program is not None:
            problem = f"`program: {options.program}` has no effect, because this Makefile calls no program"
            found = about_option(program, ("program",), "RD540", problem, "remove the option `program`")
            return Emission(None, (found,))
        if options.form == "plain":
            return plain(program, options)
        if why:
            return calling(program, options, why)
        return native(optimize(program, jumps=False), options)


OF_ALL = (
    *("ADOPT", "ANSWERS", "ASSUME", "BY", "EVENTS", "EXPIRE", "FILE", "JSON", "KEEP", "NOTE", "REPLY", "RERUN", "STEP"),
    *("RESUME", "RUN_ID", "VALUE"),
)
"""Accepted by every Makefile that calls the program."""

OF_OPERATORS = ("AGENT", "AGENT_MODEL", "ALL", "AS", "AT", "LOGS", "LOG_LIMIT", "NOTIFY")
"""Accepted by editions with all operator commands."""

OF_CALLS = (
    *("AGENT", "AGENTS", "AGENT_CALLS", "AGENT_MODEL", "AGENT_RETRIES", "AGENT_TIMEOUT", "BREAK"),
    *("MAX_STEPS", "OUT", "TOOLS"),
)
"""Accepted by Makefiles whose documents call agents or tools, or leave an artifact."""

OF_STEPSPEC = ("EXECUTOR", "FROM", "GATE", "HUMAN", "MARKDOWN", "RUN_DIR", "TO", "TOOLS")
"""Accepted by Makefiles of specifications."""

_FIT = Regex(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED = frozenset({"AGENT", "EXECUTOR", "OUT", "PROMPTED", "RDC", "TASK", "TOOLS", "PYTHON"})
_RESERVED_BEGINNINGS = ("MAKE", "RDC_", "rdc_")


def controls(program: Program) -> frozenset[str]:
    """Return the names that a Makefile accepts besides its inputs, with any options."""
    return frozenset((*OF_ALL, *OF_OPERATORS, *_controls(program)))


def _controls(program: Program) -> Iterator[str]:
    features = features_of(program)
    if Feature.RULES in features:
        yield "OVERRIDE"
    if program.inputs:
        yield from ("INPUTS", "TASK", "TASK_FILE")
    if Feature.GATES in features:
        yield from ("GATE", "HUMAN")
    if program.stepspec is not None:
        yield from OF_STEPSPEC
        return
    yield "PROMPTED"
    if program.artifact or any(isinstance(node.task, Agent | Parallel | Tool) for node in program.nodes):
        yield from OF_CALLS
    if Feature.PARALLEL in features:
        yield "JOBS"
    if Feature.VISITS in features:
        yield "MAX_VISITS"


def refusals(program: Program) -> Iterator[Diagnostic]:
    """Yield findings about inputs and secrets whose names have a meaning on make's command line (RD530)."""
    names = [("input", declared.name) for declared in program.inputs]
    names += [("secret", name) for name in program.secrets]
    reserved = controls(program) | _RESERVED
    for kind, name in names:
        is_taken = name in reserved or name.startswith(_RESERVED_BEGINNINGS) or is_reserved(name)
        if is_taken or not _FIT.fullmatch(name):
            problem = f"the name of the {kind} `{name}` is reserved for make, its shell or rdc"
            remedy = f"rename the {kind}, for example to `topic`; use only letters, digits and `_`"
            yield Diagnostic("RD530", program.sources[0].path, None, problem, remedy)
