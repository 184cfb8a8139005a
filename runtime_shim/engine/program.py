"""What a program and its caller have in common: exit codes, refusals, the table of the program (R3)."""

from typing import Any

Table = dict[str, Any]

EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130


class RefusedError(Exception):
    """A reason to go no further, after lines with details, for the operator; the exit code is 2 (R3)."""
