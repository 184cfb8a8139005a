"""`rdc tool-call`: a ready command for `--tool`, which calls tools of an MCP server."""

from __future__ import annotations

import sys

import click

from rdc.terminal import put, tell
from rdc.tools.request import read_request


# What follows `--` belongs to the server: click must not look for options there.
@click.command(name="tool-call", context_settings={"allow_interspersed_args": False})
@click.argument("server", metavar="SERVER [ARGUMENT]...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(server: tuple[str, ...]) -> int:
    """Call a tool of an MCP server, which is started for the call.

    The request `{"tool": NAME, "arguments": {...}}` comes on standard input, the texts of the result go to standard
    output. The tool `prompt` with the argument `id` gets the prompt of that name from the server. Give the command to
    a run as --tool CONNECTION='rdc tool-call -- SERVER ARGUMENT...'.

    Exit codes: 0 a result, 1 the tool or the server failed, 2 usage error.
    """
    request = read_request(sys.stdin.buffer.read())
    if request is None:
        tell('standard input is no request: expected {"tool": NAME, "arguments": {...}}')
        return 2
    try:
        from rdc.tools.mcp_server import call  # noqa: PLC0415 (an extra, and slow to import)
    except ModuleNotFoundError as error:
        if error.name not in ("mcp", "mcp_types"):
            raise
        tell(
            "rdc tool-call needs the package `mcp`, which is not installed: install rdc with its extra `mcp` "
            "(in a checkout of rdc: `uv tool install '.[mcp]'`)"
        )
        return 2
    answer = call(server, request)
    if answer.is_error:
        tell(answer.text)
        return 1
    put(f"{answer.text}\n".encode("utf-8", "replace"))  # whatever the locale
    return 0
