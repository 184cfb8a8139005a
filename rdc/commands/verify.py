"""`rdc verify`: verifies generated files."""

import click

from backends.base import VerifyResult, VerifyStatus
from rdc.output.packages import lock_command, lock_issue
from rdc.output.verify import verify, worst
from rdc.terminal.cells import visible
from rdc.terminal.output import put


@click.command(name="verify")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("--locked", is_flag=True, help="Refuse a worker without a lock file for its packages, FILE.lock.")
def command(files: tuple[str, ...], *, locked: bool) -> int:
    """Verify generated files. Nothing in them is executed.

    If the source is in the project with the same hash, rdc compiles it again and compares. Without the source, rdc
    examines the file: for example, a Python program must have a known runtime, and its other lines may only call it
    with literal values.

    Exit codes: 0 all files are verified, 1 one was changed, 2 one cannot be verified (not from rdc, or from another
    version), 3 only the source is missing.
    """
    findings = {path: verify(path) for path in files}
    if locked:
        for path, found in list(findings.items()):
            is_worse = found.status in (VerifyStatus.CHANGED, VerifyStatus.UNKNOWN)
            if not is_worse and (problem := lock_issue(path)):
                findings[path] = VerifyResult(VerifyStatus.CHANGED, f"{problem}; run: {lock_command(path)}")
    for path, (_, message, line) in findings.items():
        put(visible(f"{path}{f':{line}' if line else ''}: {message}"))
    return worst(findings)
