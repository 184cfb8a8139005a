"""The program `rdc`, also as `python -m rdc`."""

from __future__ import annotations

import gc
import sys


def start() -> None:
    """Run rdc and end the process with its exit code."""
    gc.disable()  # the process is short and makes many objects that stay: looking for garbage would take a third of it
    from rdc.cli import main  # noqa: PLC0415 (imports make the most objects)

    sys.exit(main())


if __name__ == "__main__":
    start()
