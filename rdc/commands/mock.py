"""`rdc mock`: an agent, a tool or an executor that answers from a file, for runs with mocks on any target."""

from __future__ import annotations

import os
import sys

import click

from rdc.terminal import put, tell


@click.command(name="mock")
@click.argument("file", type=click.Path())
def command(file: str) -> int:
    """Answer from a FILE of mocks, instead of an agent, a tool or an executor.

    Give it to a run as the command of its agents, --agent "rdc mock FILE", of its tools, --tool CONNECTION="rdc mock
    FILE", or as its executor, --executor "rdc mock FILE". RDC_STEP names the step that it answers. A tool is found by
    its name. FILE.calls counts the answers in each run (RDC_RUN_ID).

    Exit codes: 0 an answer, 1 a failing answer or none, 2 usage error.
    """
    from rdc.tools.mock import answer  # noqa: PLC0415 (the help doesn't need the runtime)
    from runtime_shim.engine.program import RefusedError  # noqa: PLC0415
    from runtime_shim.engine.texts import clean  # noqa: PLC0415 (as above)

    try:
        reply = answer(file, sys.stdin.buffer.read(), os.environ)
    except RefusedError as error:
        tell(clean(str(error)))
        return 1
    except OSError as error:
        tell(f"{error.filename}: {error.strerror}")
        return 2
    if reply.trouble:
        tell(clean(reply.trouble))
        return 1
    if reply.answer:
        put(reply.answer + b"\n")
    return 0
