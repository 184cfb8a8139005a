"""The part of a Makefile below its steps: the targets, and the driver or its file."""

from __future__ import annotations

from textwrap import wrap

from msgspec import Struct

from backends.make.driver import driver_name, driver_sha256, driver_text
from backends.make.identifiers import FILTERS
from backends.templating import render
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
