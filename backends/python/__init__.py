"""The python target: an executable file with the runbook as calls, and the runtime in it or beside it."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from backends.base import Backend, Companion, Emission, Limit
from backends.base import OutputFile as OutputFile
from backends.base import VerifyResult as VerifyResult
from backends.common.command import canonical_command
from backends.common.remarks import comment as comment
from backends.common.remarks import listed as listed
from backends.common.remarks import of_run as of_run
from backends.common.specification import Specification as Specification
from backends.common.templates import render as render
from backends.options.model import Options
from backends.python.calls import Calls as Calls
from backends.python.edition import BEGIN as BEGIN
from backends.python.edition import END as END
from backends.python.edition import LOADED as LOADED
from backends.python.edition import PUBLISHER, SIMPLE, TRACES, TRACES_BESIDE, optimized, shared_files, text_of
from backends.python.edition import RUNTIME as RUNTIME
from backends.python.edition import SHARED_OPENING as SHARED_OPENING
from backends.python.edition import WORKER as WORKER
from backends.python.edition import modules as modules
from backends.python.edition import opening as opening
from backends.python.edition import runtime_for as runtime_for
from backends.python.edition import sha256_of_text as sha256_of_text
from backends.python.program import Content, program_text
from backends.python.program import facts as facts
from backends.python.program import wrapped as wrapped
from backends.python.settings import literal as literal
from backends.python.step_calls import author_calls
from backends.python.verify import runtime_in, verify_program
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.passes import optimize
from compiler.text.source import sha256_of as sha256_of
from compiler.version import __version__ as __version__
from runtime_shim.editions import CALLERS, EDITIONS


class PythonOptions(Options):
    """The options of the python target. By default, a program is a single file."""

    runtime: Literal["bundled", "shared", "script"] = Field(
        default="bundled",
        description="Whether the runtime is part of the program (`bundled`), or a separate file for several "
        "programs (`shared`). `script` is a short program without state, which cannot resume runs.",
    )
    operator: Literal["full", "basic"] = Field(
        default="basic", description="Whether the program has all operator commands: logs, notifications and more."
    )

    caller: Literal["person", "make", "github"] = Field(
        default="person",
        description="Who calls the program. With `make` or `github`, a separate file reads their values, and hints "
        "show their commands. rdc sets this for the programs of Makefiles and workflows.",
    )

    traces: bool = Field(
        default=False,
        description="Whether a run sends a trace to the collector that the environment variable "
        "`OTEL_EXPORTER_OTLP_ENDPOINT` names.",
    )

    @model_validator(mode="after")
    def check(self) -> Self:
        """Check that a caller has a separate runtime, and that a script has no operator commands and no traces."""
        if self.caller != "person" and self.runtime != "shared":
            raise ValueError(f"`caller: {self.caller}` needs a separate runtime; add `runtime: shared`")
        if self.runtime == "script" and self.operator == "full":
            raise ValueError("a script has no operator commands; remove `operator: full`")
        if self.traces and (self.runtime == "script" or self.caller != "person"):
            raise ValueError("only a program with state that a person starts has traces; remove `traces`")
        return self


class PythonBackend(Backend[PythonOptions]):
    """Python 3.9 or newer, with only the standard library."""

    name: ClassVar[str] = "python"
    summary: ClassVar[str] = "an executable Python file that can resume runs, without dependencies"
    suffix: ClassVar[str] = ".py"
    executable: ClassVar[bool] = True
    options = PythonOptions
    named: ClassVar[bool] = True
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    first_line: ClassVar[str] = "#!/usr/bin/env python3"
    noun: ClassVar[str] = "a Python program"
    verify_output = staticmethod(verify_program)
    runtime_in = staticmethod(runtime_in)
    test_command: ClassVar[str] = "rdc.testing.targets.python"
    has_test_jumps: ClassVar[bool] = True

    def limit(self, options: PythonOptions) -> Limit:
        """A script supports everything that needs no journal."""
        if options.runtime != "script":
            return super().limit(options)
        return Limit("a script without state", SIMPLE, "remove `runtime=script`")

    def render(self, program: Program, options: PythonOptions) -> Emission:
        """Return the source of the file, and the runtime beside it if it is shared."""
        return self.written(program, options)[1]

    def written(self, program: Program, options: PythonOptions) -> tuple[Content, Emission]:
        """Return the content of a program's file, and the file, with the runtime beside it if it is shared."""
        if options.caller == "github" and program.file:  # companions are named after their workflows
            program = program.with_(name=program.file)
        if program.stepspec is not None:  # its edition always has all operator commands
            options = options.model_copy(update={"operator": "basic"})
        if options.runtime == "script":
            edition, program = "script", optimize(program, jumps=False)
        else:
            edition, program = optimized(program, is_full=options.operator == "full")
        content = Content(edition, program, author_calls(program))
        is_shared = options.runtime == "shared"
        traces = (TRACES_BESIDE if is_shared else TRACES) if options.traces else ""
        caller = traces if options.caller == "person" else options.caller
        shared = shared_files(edition, caller) if is_shared else {}
        text = program_text(content, canonical_command(self.name, program, options), list(shared), caller)
        companions = tuple(Companion(name, each, "runtime") for name, each in shared.items())
        return content, Emission(text, companions=companions)

    def runtimes(self) -> Mapping[str, str]:
        """Return the editions, the callers' parts and the publishing script."""
        return {name: text_of(name) for name in (*EDITIONS, *CALLERS, PUBLISHER)}
