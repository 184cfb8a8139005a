"""`rdc status`: the runs in this folder, with their questions and the commands that continue them."""

import json
import os

import click

from rdc.commands import load
from rdc.runs.model import Run
from rdc.runs.status import runs_in
from rdc.terminal.cells import visible
from rdc.terminal.output import put

_KEYS = ("name", "source", "state", "step", "question", "message", "holder", "next")


@click.command(name="status")
@click.argument("file", required=False, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(file: str | None, as_json: bool) -> int:
    """List the runs in `.rdc`, with their questions and next commands.

    These are the runs of documents, Python programs and Makefiles that were started in this folder. Nothing is changed,
    and no link is followed. With FILE, this is the same as `rdc run FILE status`.

    Exit codes: 0 success, 1 a state cannot be read, 2 usage error or errors in FILE.
    """
    if file is not None:
        words = ["--", file, "status", *["--json"][:as_json]]
        code: int = load("run").main(words, prog_name="rdc run", standalone_mode=False)
        return code
    found = runs_in(os.curdir)
    if as_json:
        put(json.dumps({"version": 1, "runs": [{key: getattr(one, key) for key in _KEYS} for one in found]}, indent=2))
    else:
        put("\n".join([visible(line) for one in found for line in lines_of(one)]) or "No run has started here.")
    return 1 if any(one.state == "unreadable" for one in found) else 0


def lines_of(run: Run) -> list[str]:
    """Return a run with its question, the process that has it, and its next commands."""
    step = f" at {run.step}" if run.step else ""
    about = " ".join("; ".join(filter(None, (run.question, run.message))).split())
    head = f"{run.name}  {run.state.upper()}{step}{': ' if about else ''}{about}"
    asks = "asks" if run.state == "waiting" else "runs"
    holder = [f"  a process {asks} now: {run.holder}"] if run.holder else []
    return [head, *holder, *(f"  {command}" for command in run.next)]
