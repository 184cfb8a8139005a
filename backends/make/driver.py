"""The driver: POSIX sh that runs the steps of a Makefile, the same text in each that one rdc version writes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from backends.base import MARK
from compiler.source import sha256_of
from compiler.version import __version__

PARTS = ("says", "program", "run", "commands", "journal", "lock", "asks", "verbs")
"""The files that the driver is made of, in order."""


@cache
def driver_text() -> str:
    """Return the driver as Makefiles have it, or as the file that they include."""
    folder = Path(__file__).parent / "driver"
    parts = (Path(folder, f"{name}.sh").read_text(encoding="utf-8").rstrip("\n") for name in PARTS)
    head = f"# {MARK} {__version__} for its Makefiles: the driver, which make hands to a shell."
    return "\n".join([head, "define RDC_DRIVER_TEXT", *parts, "endef", ""])


def driver_sha256() -> str:
    """Return the hash of the driver."""
    return sha256_of(driver_text())


def driver_name() -> str:
    """Return the name of the file with the driver: it names the content, so another one is never in its place."""
    return f"rdc_make_driver_{driver_sha256()[:8]}.mk"
