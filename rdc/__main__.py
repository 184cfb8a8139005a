"""The program `rdc`, also as `python -m rdc`."""

import gc
import os
import sys


def start() -> None:
    """Run rdc and exit with its exit code."""
    gc.disable()  # the process is short and keeps most objects: garbage collection would be a third of it
    from rdc.cli import main  # noqa: PLC0415 (imports make the most objects)

    code = main()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)  # freeing memory would take a tenth of a short run


if __name__ == "__main__":
    start()
