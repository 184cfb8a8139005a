"""Writes the generated pages of the documentation.

`make golden` runs this. `test_generated_files_are_current` fails if one of them is stale.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rdc.commands.schema import SCHEMAS
from tools.reference.cli import commands
from tools.reference.diagnostics import diagnostics
from tools.reference.environment import environment
from tools.reference.exit_codes import exit_codes
from tools.reference.options import options
from tools.reference.rules import format_rules, runtime_rules
from tools.reference.subcommands import subcommands

ROOT = Path(__file__).parent.parent
REFERENCE = {
    "cli": commands,
    "diagnostics": diagnostics,
    "environment": environment,
    "exit-codes": exit_codes,
    "format-rules": format_rules,
    "options": options,
    "runtime-rules": runtime_rules,
    "subcommands": subcommands,
}
"""The generated pages of `docs/reference/`, by their names."""

FILES: dict[Path, Callable[[], str]] = {
    **{ROOT / "docs" / "reference" / f"{name}.md": text for name, text in REFERENCE.items()},
    **{ROOT / "docs" / f"{name}.schema.json": known.text for name, known in SCHEMAS.items()},
}

if __name__ == "__main__":
    for path, text in FILES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text(), encoding="utf-8")
