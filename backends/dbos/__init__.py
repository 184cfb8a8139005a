"""The dbos target: a worker for many runs on many machines, with DBOS as its durable engine."""

from typing import ClassVar, Literal

from pydantic import Field

from backends.base import Backend, Emission
from backends.base import OutputFile as OutputFile
from backends.base import VerifyResult as VerifyResult
from backends.common.command import canonical_command
from backends.options.model import Options
from backends.python.edition import WORKER, edition_of, has_jumps
from backends.python.program import Content, program_text
from backends.python.step_calls import author_calls
from backends.python.verify import verify_program
from compiler.diagnostics.model import Diagnostic
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.passes import optimize

SMALLEST = "values"
"""The smallest edition: its operators can move runs, and sign decisions."""


class DbosOptions(Options):
    """The options of the dbos target."""

    operator: Literal["full", "basic"] = Field(
        default="basic", description="Whether the worker has all operator commands: notifications and more."
    )


class DbosBackend(Backend[DbosOptions]):
    """Python 3.10 or newer with the packages `dbos` and `prometheus-client`."""

    name: ClassVar[str] = "dbos"
    summary: ClassVar[str] = "a worker for many runs on many machines, in SQLite or PostgreSQL"
    suffix: ClassVar[str] = "_worker.py"
    executable: ClassVar[bool] = True
    has_packages: ClassVar[bool] = True
    options = DbosOptions
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    first_line: ClassVar[str] = "#!/usr/bin/env -S uv run --script"
    noun: ClassVar[str] = "a worker"
    test_command: ClassVar[str] = "rdc.testing.targets.dbos"
    has_test_jumps: ClassVar[bool] = True
    verify_output = staticmethod(verify_program)

    def render(self, program: Program, options: DbosOptions) -> Emission:
        """Return the source of the file."""
        edition = edition_of(program, is_full=options.operator == "full")
        edition = SMALLEST if edition == "commands" else edition
        found = optimize(program, jumps=has_jumps(edition))
        command = canonical_command(self.name, found, options)
        text = program_text(Content(edition, found, author_calls(found, is_named=True)), command, caller=WORKER)
        if found.project:
            return Emission(text)
        path = program.sources[0].path  # workers of another project may have the same runs
        problem = f"a document `{path}` of another project would have the same runs in a shared database"
        return Emission(
            text, (Diagnostic("RD308", path, None, problem, 'add `[project]` with `name = "…"` to rdc.toml'),)
        )
