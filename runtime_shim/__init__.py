"""The runtime of compiled programs: used in place by `rdc run`, and bundled into generated files.

MODULES names the modules in the order in which they are bundled, each with the kind of task that
needs it ("" stands for every program). A module imports only from those before it. None has a `from __future__`: that
line is an import like any other, and it would stand before the generated file can say where not to look for modules.
"""

from runtime_shim import ask, shell
from runtime_shim.cli import main

MODULES: tuple[tuple[str, str], ...] = (
    ("program", ""),
    ("walk", ""),
    ("journal", ""),
    ("state", ""),
    ("signals", ""),
    ("output", ""),
    ("display", ""),
    ("dialog", ""),
    ("answers", ""),
    ("events", ""),
    ("session", ""),
    ("foreground", "shell"),
    ("leftover", "shell"),
    ("shell", "shell"),
    ("ask", "ask"),
    ("rehearsal", ""),
    ("report", ""),
    ("cli", ""),
)

BESIDE: tuple[str, ...] = ("json_lines", "calls")
"""Modules that Makefiles carry for what sh cannot say exactly; no compiled program has them."""

__all__ = ["BESIDE", "MODULES", "ask", "main", "shell"]
