"""`rdc verify`: prove what generated files are."""

from __future__ import annotations

import click

from rdc.terminal import put


@click.command(name="verify")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
def command(files: tuple[str, ...]) -> int:
    """Prove that generated files are what rdc writes. Nothing in them is executed.

    The source is compiled again if it is in the project with the same hash. Without it, a Python program is examined:
    its runtime must be a known edition, and the author's part only calls with literals.

    Exit code 0 if all files are proven, 1 if one was changed, 2 if one cannot be verified (it isn't rdc's, or another
    version wrote it), 3 if only the source is missing.
    """
    from rdc.reporting.cells import visible  # noqa: PLC0415 (the compiler is slow to import)
    from rdc.verification import verify, worst  # noqa: PLC0415

    findings = {path: verify(path) for path in files}
    for path, (_, message, line) in findings.items():
        put(visible(f"{path}{f':{line}' if line else ''}: {message}"))
    return worst(findings)
