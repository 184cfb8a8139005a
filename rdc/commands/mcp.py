"""`rdc mcp`: an MCP server that gives an agent one step of a run at a time."""

import asyncio
import os
from collections.abc import Iterator, Sequence

import click

from compiler.project.project import project_around
from rdc import api
from rdc.agents.hosts import SETTINGS, settings
from rdc.terminal.output import PointingError, put, tell

PATIENCE = 45.0
"""How many seconds a call waits for a step. Codex ends it after 60."""

REMOVED = ("RDC_AGENT", "RDC_AGENTS", "CLAUDECODE", "CODEX_THREAD_ID", "AI_AGENT")
"""Variables that runs don't get: the agent that calls the server does the agents' steps, and people decide in forms."""

PASSED = frozenset(
    {
        *("--tool", "--executor", "--jobs", "--log-limit", "--events"),
        *("--agent-for", "--agent-model", "--agent-timeout", "--agent-retries"),
    }
)
"""The options of runs that may follow `--`. All others choose a run, decide for a person, or spend more."""


# Arguments after `--` belong to the runs, so click must not look for options there.
@click.command(name="mcp", context_settings={"allow_interspersed_args": False, "show_default": True})
@click.option("--forms", is_flag=True, help="Ask people in forms of the host.")
@click.option("--gates", type=click.Choice(["terminal", "form"]), default="terminal", help="Where gates are decided.")
@click.option(
    "--wait", type=click.FloatRange(1, 3600), default=PATIENCE, metavar="SECONDS", help="How long to wait for a step."
)
@click.option("--print", "host", type=click.Choice(list(SETTINGS)), help="Print a host's settings for this command.")
@click.argument("options", metavar="[-- OPTION...]", nargs=-1, type=click.UNPROCESSED)
def command(options: tuple[str, ...], gates: str, host: str | None, *, forms: bool, wait: float) -> int:
    """Serve documents to an agent, one step at a time.

    This is an MCP server on standard input and output. It serves the documents in `[mcp]` of the project's rdc.toml
    whose hashes are in rdc.lock. The engine keeps the order of the steps, and only people answer questions. Options
    after `--` are for all runs, such as `--tool metrics='rdc tool-call -- metrics-server'`.

    Exit codes: 0 the host disconnected, 2 usage error.
    """
    passed = ("--logs", *_passed(options))
    if host is not None:
        words = ["mcp", *["--forms"] * forms, *["--gates", gates] * (gates != "terminal")]
        words += [*["--wait", f"{wait:g}"] * (wait != PATIENCE), *["--", *options] * bool(options)]
        put(settings(host, words, api.served().approved))
        return 0
    try:
        from rdc.agents.server import Settings, serve  # noqa: PLC0415 (an extra, and slow to import)
    except ModuleNotFoundError as error:
        if error.name not in ("mcp", "mcp_types"):
            raise
        tell("rdc mcp needs the package `mcp`; install rdc with its extra `mcp`")
        return 2
    for name in REMOVED:
        os.environ.pop(name, None)
    os.chdir(project_around(os.path.realpath(".")).root)  # where the paths of documents start
    asyncio.run(serve(Settings(passed, wait, forms, gates == "form")))
    return 0


def _passed(words: Sequence[str]) -> Iterator[str]:
    """Yield the options for runs with their values; refuse others."""
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name not in PASSED:
            raise PointingError(f"`rdc mcp` doesn't pass {name} to runs", "rdc mcp --help")
        value = value if equals else next(rest, "")
        if not value or (not equals and value.startswith("--")):
            raise PointingError(f"{name} needs a value", "rdc mcp --help")
        yield f"{name}={value}"
