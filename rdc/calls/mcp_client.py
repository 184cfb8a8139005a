"""Call tools of an MCP server in a separate process, with the official client (package `mcp`)."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence

from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.types import ContentBlock, EmbeddedResource, TextContent, TextResourceContents
from msgspec import Struct

from rdc.calls.request import Request

PROMPT = "prompt"
"""The tool name that means a prompt of the server."""


class Answer(Struct, frozen=True):
    """The text of a tool's result, and whether it is an error."""

    text: str
    is_error: bool = False


def call(server: Sequence[str], request: Request) -> Answer:
    """Start a server, call its tool or get its prompt, and end the server."""
    try:
        return asyncio.run(_until_told_to_end(server, request))
    except asyncio.CancelledError:
        return Answer("the call was interrupted", is_error=True)
    except Exception as error:  # noqa: BLE001 (any error of a server becomes a one-line message)
        return Answer(_in_words(error), is_error=True)


async def _until_told_to_end(server: Sequence[str], request: Request) -> Answer:
    """Call the server, and cancel the call on signals. Only its client ends the server's process group."""
    task = asyncio.ensure_future(_called(server, request))
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task


async def _called(server: Sequence[str], request: Request) -> Answer:
    parameters = StdioServerParameters(command=server[0], args=list(server[1:]), env=dict(os.environ))
    async with Client(stdio_client(parameters, errlog=sys.stderr)) as client:
        if request.tool == PROMPT and isinstance(request.arguments.get("id"), str):
            given = ((name, value) for name, value in request.arguments.items() if name != "id")
            texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given}
            prompt = await client.get_prompt(request.arguments["id"], texts)
            return Answer("\n\n".join(_parts(message.content for message in prompt.messages)))
        result = await client.call_tool(request.tool, request.arguments)
        text = "\n".join(_parts(result.content))
        if not text and result.structured_content is not None:
            text = json.dumps(result.structured_content, ensure_ascii=False)
        return Answer(text, result.is_error)


def _parts(content: Iterable[ContentBlock]) -> Iterator[str]:
    """Yield the text parts of a result, without pictures, sounds and links."""
    for block in content:
        if isinstance(block, TextContent):
            yield block.text
        elif isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
            yield block.resource.text


def _in_words(error: BaseException) -> str:
    """Return the error in one line; of several errors the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return str(error.error.message)
    if isinstance(error, OSError) and error.strerror:
        return f"cannot start the server: {error.strerror}"
    return str(error) or type(error).__name__
