"""The python target: an executable file with the runbook as calls, and the runtime in it or beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from backends.base import MARK, Backend, Companion, Emission, Limit
from backends.common.command import canonical_command
from backends.common.remarks import comment, listed, of_run
from backends.common.specification import Specification
from backends.common.templates import render
from backends.options.model import Options
from backends.python.calls import Calls
from backends.python.edition import (
    BEGIN,
    END,
    LOADED,
    RUNTIME,
    SHARED_OPENING,
    SIMPLE,
    WORKER,
    WORKERS,
    modules,
    opening,
    optimized,
    runtime_for,
    sha256_of_text,
    shared_files,
)
from backends.python.facts import facts, wrapped
from backends.python.literals import literal
from backends.python.step_calls import author_calls
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.passes import optimize
from compiler.text.source import sha256_of
from compiler.version import __version__

FILTERS = (comment, listed, literal, wrapped)
"""The filters of the templates."""


class PythonOptions(Options):
    """The options of the python target. By default, a program is a single file."""

    runtime: Literal["bundled", "shared", "script"] = Field(
        default="bundled",
        description="Whether the runtime is part of the program (`bundled`), or a separate file for several "
        "programs (`shared`). `script` is a short program without state, which cannot resume runs.",
    )
    operator: Literal["full", "basic"] = Field(
        default="basic",
        description="Whether the program has all operator commands: goto, logs, notifications and more.",
    )

    caller: Literal["person", "make", "github"] = Field(
        default="person",
        description="Who calls the program. With `make` or `github`, a separate file reads their values, and hints "
        "show their commands. rdc sets this for the programs of Makefiles and workflows.",
    )

    @model_validator(mode="after")
    def check(self) -> Self:
        """Check that a caller has a separate runtime, and that a script has no operator commands."""
        if self.caller != "person" and self.runtime != "shared":
            raise ValueError(f"`caller: {self.caller}` needs a separate runtime; add `runtime: shared`")
        if self.runtime == "script" and self.operator == "full":
            raise ValueError("a script has no operator commands; remove `operator: full`")
        return self


class Content(NamedTuple):
    """The content of a file: the runtime's edition, the program after the passes, and its calls."""

    edition: str
    program: Program
    calls: Calls


class PythonBackend(Backend[PythonOptions]):
    """Python 3.9 or newer, with only the standard library."""

    name: ClassVar[str] = "python"
    summary: ClassVar[str] = "an executable Python file that can resume runs, without dependencies"
    suffix: ClassVar[str] = ".py"
    executable: ClassVar[bool] = True
    options = PythonOptions
    named: ClassVar[bool] = True
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

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
        if options.caller == "github" and program.file:  # companions are named after their workflows (T-28)
            program = program.with_(name=program.file)
        if program.stepspec is not None:  # its edition always has all operator commands
            options = options.model_copy(update={"operator": "basic"})
        if options.runtime == "script":
            edition, program = "script", optimize(program, jumps=False)
        else:
            edition, program = optimized(program, is_full=options.operator == "full")
        content = Content(edition, program, author_calls(program))
        caller = "" if options.caller == "person" else options.caller
        shared = shared_files(edition, caller) if options.runtime == "shared" else {}
        text = program_text(content, canonical_command(self.name, program, options), list(shared), caller)
        companions = tuple(Companion(name, each, "runtime") for name, each in shared.items())
        return content, Emission(text, companions=companions)


def program_text(content: Content, command: str, shared: Sequence[str] = (), caller: str = "") -> str:
    """Return the file of a program that a command writes, with the names of the shared files beside it."""
    edition, program, called = content
    return render(
        "python/program.py",
        FILTERS,
        mark=MARK,
        kind=program.kind,
        version=__version__,
        source=program.sources[0],
        included=program.sources[1:],
        title=_title(program.title),
        name=program.name,
        project=program.project,
        calls=called,
        explained=list(of_run(program)),
        shared=list(shared),
        checks="" if shared else checks(edition, is_worker=caller == WORKER),
        edition=edition,
        metadata=METADATA[tuple(Specification(program).optional)] if caller == WORKER else "",
        command=command,
        opening=SHARED_OPENING if shared else opening(edition),
        tail=tail(edition, program.kind, is_shared=bool(shared), caller=caller),
        **facts(program, called),
    )


def checks(edition: str, *, is_worker: bool) -> str:
    """Return the commands that print the hashes of a program's parts without rdc, as comments, and these hashes."""
    parts = {RUNTIME: edition, **({WORKERS: f"{WORKER}-{edition}"} if is_worker else {})}
    return "".join(
        f"#   sed -n '/^{BEGIN} {word}$/,/^{END} {word}$/p' FILE | sha256sum\n#   {sha256_of_text(name)}  -\n"
        for word, name in parts.items()
    )


def _title(title: str) -> str:
    """Return a title that does not start a block for uv, or a part with a hash."""
    return f" {title}" if f"# {title}".startswith(("# ///", BEGIN, END)) else title


_OF_CHECKS = {"mypy": "mypy==2.4.1", "ruff": "ruff==0.17.6"}


def _metadata(checks: Sequence[str]) -> str:
    packages = ["dbos==3.4.0", "prometheus-client==0.26.0", *(_OF_CHECKS[name] for name in checks)]
    names = ", ".join(f'"{package}"' for package in packages)
    return f'# /// script\n# requires-python = ">=3.10"\n# dependencies = [{names}]\n# ///\n'


METADATA: dict[tuple[str, ...], str] = {
    names: _metadata(names) for names in ((), ("mypy",), ("ruff",), ("mypy", "ruff"))
}
"""The packages that `uv run` installs for a worker whose checks run some programs, as inline script metadata."""


def tail(edition: str, kind: str, *, is_shared: bool, caller: str = "") -> str:
    """Return the part of a program after the document: the edition's line, the modules, and the start."""
    part = f"{WORKER}-{edition}" if caller == WORKER else ""
    below, worker = "" if is_shared else modules(edition), runtime_for(part) if part else ""
    return render(
        "python/tail.py",
        FILTERS,
        version=__version__,
        kind=kind,
        edition=edition,
        sha256=sha256_of_text(edition),
        shared={name: sha256_of(text) for name, text in shared_files(edition, caller).items()} if is_shared else {},
        loaded=LOADED,
        caller=caller,
        modules=below,
        part=part,
        worker=worker,
        worker_sha256=sha256_of_text(part) if part else "",
        count=below.count("\n") + worker.count("\n"),
    )
