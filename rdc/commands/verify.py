"""`rdc verify`: verifies generated files."""

from __future__ import annotations

import click

from rdc.reporting.cells import visible
from rdc.terminal import put
from rdc.verification import verify, worst


@click.command(name="verify")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
def command(files: tuple[str, ...]) -> int:
    """Verify generated files. Nothing in them is executed.

    If the source is in the project with the same hash, rdc compiles it again and compares. Without the source, rdc
    examines the file: for example, a Python program must have a known runtime, and only calls with literals above it.

    Exit codes: 0 all files are verified, 1 one was changed, 2 one cannot be verified (not from rdc, or from another
    version), 3 only the source is missing.
    """
    findings = {path: verify(path) for path in files}
    for path, (_, message, line) in findings.items():
        put(visible(f"{path}{f':{line}' if line else ''}: {message}"))
    return worst(findings)
