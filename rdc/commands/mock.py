"""`rdc mock`: an agent, a tool or an executor that answers from a file, for runs with mocks on any target."""

import os
import sys

import click

from rdc.calls.mock import MockResult, answer
from rdc.terminal.output import put, tell
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.texts import clean


@click.command(name="mock")
@click.argument("file", type=click.Path())
@click.option(
    "--call",
    type=(click.Choice(["agents", "tools", "executors"]), str, click.IntRange(0)),
    metavar="KIND NAME NUMBER",
    help="The answer to give, its NUMBER from 0. By default, RDC_STEP and FILE.calls decide.",
)
def command(file: str, call: tuple[str, str, int] | None) -> int:
    """Answer from a FILE of mocks, instead of an agent, a tool or an executor.

    Give it to a run as the command of its agents, `--agent "rdc mock FILE"`, of its tools, `--tool CONNECTION="rdc mock
    FILE"`, or as its executor, `--executor "rdc mock FILE"`. RDC_STEP names the step that it answers. A tool is found
    by its name. FILE.calls counts the answers in each run (RDC_RUN_ID). `rdc run DOCUMENT --mock FILE` does all this.

    Exit codes: 0 an answer, 1 a failing answer or none, 2 usage error; those of an executor are in the file.
    """
    try:
        result = answer(file, sys.stdin.buffer.read(), os.environ, call)
    except UsageError as error:
        result = MockResult(1, b"", str(error))
    except OSError as error:
        result = MockResult(2, b"", f"{error.filename}: {error.strerror}")
    if result.message:
        tell(clean(result.message))
    elif result.output:
        put(result.output + b"\n")
    return result.code
