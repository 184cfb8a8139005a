"""The part of a Makefile below its steps: the targets, and the driver or its file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from textwrap import wrap

from msgspec import Struct

from backends.base import MARK
from backends.make.identifiers import FILTERS
from backends.templating import render
from compiler.source import sha256_of
from compiler.version import __version__

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
