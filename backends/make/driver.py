"""The driver: a POSIX sh script that runs a Makefile's steps. It is the same for all Makefiles of an rdc version."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from backends.base import MARK
from compiler.source import sha256_of
from compiler.version import __version__

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
