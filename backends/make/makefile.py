"""A program as a Makefile that runs it without Python: the steps, the targets, and the driver."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import wrap

from msgspec import Struct

from backends.base import MARK, Companion, Emission
from backends.command import canonical_command
from backends.make.blocks import define
from backends.make.identifiers import FILTERS, comment, file_name, visible
from backends.make.nodes import Nodes, heading, is_node
from backends.make.options import MakeOptions
from backends.remarks import listed, of_placeholders, shells
from backends.templating import render
from compiler.ir.program import Program
from compiler.ir.tasks import Ask, Shell
from compiler.source import sha256_of
from compiler.version import __version__


def makefile(program: Program, options: MakeOptions) -> Emission:
    """Return the Makefile of an optimized program."""
    prefix, nodes, is_shared = options.prefix, Nodes(program, options.prefix), options.driver == "shared"
    steps = ["\n".join([*heading(node), *nodes.blocks(node)]) for node in nodes.shown]
    counters = nodes.counters()
    alone = tuple(nodes.names.nodes[node.id] for node in program.nodes if is_node(node))
    text = render(
        "make/makefile.mk",
        FILTERS,
        p=prefix,
        title=comment(visible(program.title or program.name)),
        mark=MARK,
        command=canonical_command("make", program, options),
        version=__version__,
        source=program.sources[0],
        included=program.sources[1:],
        needs=listed(["GNU make 3.81 or newer", "a POSIX shell with standard tools", *_bash(program)]),
        state=state_of(program, options),
        has_prompts=any(isinstance(node.task, Shell) and node.task.prompt.parts for node in nodes.shown),
        asks=any(isinstance(node.task, Ask) for node in nodes.shown),
        explained=list(_explained(program, steps)),
        steps=steps,
        texts=[*nodes.words.blocks()],
        counters=[*define(prefix, "RDC_COUNTERS", counters)] if counters else [],
        targets=Targets(prefix, _identity(program), state_of(program, options), alone, is_shared).text,
    )
    return Emission(text, companions=(Companion(driver_name(), driver_text(), "driver"),) if is_shared else ())


def state_of(program: Program, options: MakeOptions) -> str:
    """Return the state directory of a Makefile that calls no program."""
    return f"{options.state_dir.rstrip('/') or '/'}/{file_name(program)}.make"


def _bash(program: Program) -> list[str]:
    return ["bash"] if "bash" in shells(program) else []


def _explained(program: Program, steps: list[str]) -> Iterator[str]:
    """Yield the words in steps that a reader must know."""
    if any(" retry " in step for step in steps):
        yield "`retry 2` makes up to 2 more attempts. After that, the transition after `||` applies."
    yield from map(comment, of_placeholders(program.nodes, program.registers))


def _identity(program: Program) -> str:
    """Return the identity of a program: a digest of all its sources (R4)."""
    parts = [__version__, *(source.sha256 for source in program.sources)]
    return sha256_of("\n".join(parts))[:32]


VERBS = ("run", "resume", "status", "answer", "clean", "unlock", "help")
TAKES = ("ANSWERS", "ASSUME", "REPLY", "RERUN", "STEP")
"""Variables that the driver reads from make's command line."""

REFUSED = (
    *("ADOPT", "AGENT", "AGENTS", "AGENT_%", "ALL", "AS", "BREAK", "BY", "EXECUTOR", "EXPIRE", "FILE", "GATE", "HUMAN"),
    *("INPUTS", "JOBS", "KEEP", "MAX_STEPS", "NOTE", "NOTIFY", "OUT", "PROMPTED", "TASK", "TASK_FILE"),
    *("TOOLS", "VALUE"),
)
"""Variables that only Makefiles with a program accept, as make patterns. Ignoring them would mislead."""


class Targets(Struct, frozen=True):
    """The facts that this part depends on: prefix, digest of the sources, state directory, names of the steps."""

    prefix: str
    identity: str
    state: str
    steps: tuple[str, ...]
    is_shared: bool

    @property
    def text(self) -> str:
        """The text of this part."""
        prefix = self.prefix
        return render(
            "make/targets.mk",
            FILTERS,
            p=prefix,
            version=__version__,
            scope=f"$({prefix}RDC_TARGETS): " if prefix else "",
            identity=self.identity,
            state=self.state,
            alone=" ".join(self.steps),
            verbs=" ".join(prefix + verb for verb in VERBS),
            names=names(),
            driver="" if self.is_shared else driver_text(),
            shared=driver_name() if self.is_shared else "",
            sha256=driver_sha256(),
        )


def names() -> list[str]:
    """Return the variables that have a meaning for rdc, in lines."""
    return wrap(" ".join((*TAKES, *REFUSED)), 105)


PARTS = ("says", "program", "run", "commands", "journal", "lock", "asks", "verbs")
"""The driver's source files, in order."""


@cache
def driver_text() -> str:
    """Return the driver as part of a Makefile, or as a separate file."""
    folder = Path(__file__).parent / "driver"
    parts = (Path(folder, f"{name}.sh").read_text(encoding="utf-8").rstrip("\n") for name in PARTS)
    head = f"# {MARK} {__version__} for its Makefiles: the driver, a shell script that make runs."
    return "\n".join([head, "define RDC_DRIVER_TEXT", *parts, "endef", ""])


def driver_sha256() -> str:
    """Return the hash of the driver."""
    return sha256_of(driver_text())


def driver_name() -> str:
    """Return the name of the driver's file, which contains a hash of its content."""
    return f"rdc_make_driver_{driver_sha256()[:8]}.mk"
