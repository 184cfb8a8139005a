"""`rdc tool-call`: a command for `--tool` that calls tools of an MCP server."""

import sys

import click

from rdc.calls.request import read_request
from rdc.terminal.output import put, tell
from runtime_shim.engine.texts import clean


# Arguments after `--` belong to the server, so click must not look for options there.
@click.command(name="tool-call", context_settings={"allow_interspersed_args": False})
@click.argument("server", metavar="SERVER [ARGUMENT]...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(server: tuple[str, ...]) -> int:
    """Start an MCP server and call one of its tools.

    The request `{"tool": NAME, "arguments": {...}}` comes from standard input. The text of the result goes to standard
    output. The tool `prompt` with the argument `id` returns the server's prompt of that name. Give the command to a run
    as `--tool CONNECTION='rdc tool-call -- SERVER ARGUMENT...'`.

    Exit codes: 0 a result, 1 the tool or the server failed, 2 usage error.
    """
    request = read_request(sys.stdin.buffer.read())
    if request is None:
        tell('standard input is not a request; expected {"tool": NAME, "arguments": {...}}')
        return 2
    try:
        from rdc.calls.mcp_client import call  # noqa: PLC0415 (an extra, and slow to import)
    except ModuleNotFoundError as error:
        if error.name not in ("mcp", "mcp_types"):
            raise
        tell(
            "rdc tool-call needs the package `mcp`; install rdc with its extra `mcp` "
            "(in a checkout of rdc: `uv tool install '.[mcp]'`)"
        )
        return 2
    answer = call(server, request)
    if answer.is_error:
        tell(clean(answer.text))
        return 1
    put(f"{answer.text}\n".encode("utf-8", "replace"))  # in any locale
    return 0
