"""`rdc mock`: an agent, a tool or an executor that answers from a file, so that any target can run with mocks."""

from __future__ import annotations

import os
import sys

import click

from rdc.terminal import put, tell


@click.command(name="mock")
@click.argument("file", type=click.Path())
def command(file: str) -> int:
    """Answer as an agent, a tool or an executor would, from a FILE of mocks.

    Give it to a run as the command of its agents, --agent "rdc mock FILE", of its tools, --tool CONNECTION="rdc mock
    FILE", and as its executor, --executor "rdc mock FILE". The step that is answered is the one that RDC_STEP names; a
    tool is known by its name. What was answered in a run (RDC_RUN_ID) is counted in FILE.calls.

    Exit codes: 0 an answer, 1 an answer that fails, or none, 2 usage error.
    """
    from rdc.tools.mock import answer  # noqa: PLC0415 (the runtime is not imported for help)
    from runtime_shim.engine.program import RefusedError  # noqa: PLC0415

    try:
        reply = answer(file, sys.stdin.buffer.read(), os.environ)
    except RefusedError as error:
        tell(str(error))
        return 1
    except OSError as error:
        tell(f"{error.filename}: {error.strerror}")
        return 2
    if reply.trouble:
        tell(reply.trouble)
        return 1
    if reply.answer:
        put(reply.answer + b"\n")
    return 0
