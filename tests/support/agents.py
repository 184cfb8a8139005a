"""A host: the SDK's client of `rdc mcp` over stdio, in both versions of the protocol."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.session import ClientRequestContext
from mcp.types import (
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Implementation,
)

from tests.support import warm
from tests.support.cli import call, environment
from tests.support.warm.forks import forking

OLD, NEW = "legacy", "2026-07-28"
MODES = (OLD, NEW)
LONGEST = 300  # seconds

Table = dict[str, Any]
T = TypeVar("T")
FormReply = ElicitResult | ErrorData


def accepted(reply: object) -> ElicitResult:
    return ElicitResult(action="accept", content={"reply": reply})  # type: ignore[dict-item]


class Host:
    """Calls the tools of one server."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.progress: list[float] = []
        self.forms: list[ElicitRequestFormParams] = []

    async def raw(self, tool: str, /, **arguments: object) -> CallToolResult:
        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append(progress)

        return await self.client.call_tool(tool, arguments, progress_callback=on_progress)

    async def call(self, tool: str, /, **arguments: object) -> Table:
        """Call a tool that does not refuse."""
        result = await self.raw(tool, **arguments)
        assert not result.is_error, result
        return content_of(result)

    async def refused(self, tool: str, /, **arguments: object) -> str:
        """Call a tool that refuses, and return its reason."""
        result = await self.raw(tool, **arguments)
        assert result.is_error, result
        return str(content_of(result)["message"])

    async def to_end(self, shown: Table, answers: Mapping[str, str]) -> Table:
        """Do as the skill describes until the run is over: `answers` are the agent's by step or entry."""
        while step := shown.get("step"):
            place = {"run": shown["run"], "at": shown["at"]}
            if step["by"] != "agent":
                shown = await self.call("next", **place)
                continue
            for entry in [one["entry"] for one in step.get("entries", ()) if not one.get("answered")] or [""]:
                shown = await self.call("report", **place, answer=answers[entry or step["id"]], entry=entry)
        return shown


def content_of(result: CallToolResult) -> Table:
    """Return the content of a result, whose text is the same."""
    found: Table = result.structured_content
    assert [json.loads(block.text) for block in result.content if block.type == "text"] == [found]
    return found


@asynccontextmanager
async def connected(
    folder: Path,
    *options: str,
    mode: str = OLD,
    form: Callable[[ElicitRequestFormParams], FormReply] | None = None,
    fault: str = "",
    is_forked: bool = True,
    **variables: str,
) -> AsyncIterator[Host]:
    """Start a server in a folder and connect to it. `fault` is Python that runs in the server first.

    It is forked from a small process, or (`is_forked=False`) it is a child of this one, where signals matter.
    """
    start = [sys.executable, *(["-c", f"{fault}\nfrom rdc.__main__ import start\nstart()"] if fault else ["-m", "rdc"])]
    start = warm.rdc_for_hosts(fault) if is_forked and warm.FORKS else start
    parameters = StdioServerParameters(
        command=start[0], args=[*start[1:], "mcp", *options], env=environment(**variables), cwd=folder
    )

    async def ask(context: ClientRequestContext, params: ElicitRequestParams) -> FormReply:
        assert form
        assert isinstance(params, ElicitRequestFormParams)
        host.forms.append(params)
        return form(params)

    with Path(os.devnull).open("w") as nowhere, forking():
        about, asks = Implementation(name="tester", version="1"), ask if form else None
        transport = stdio_client(parameters, errlog=nowhere)
        async with Client(transport, mode=mode, elicitation_callback=asks, client_info=about) as client:
            host = Host(client)
            yield host


def finish(act: Coroutine[Any, Any, T]) -> T:
    """Do something asynchronous; of several errors raise the first, without the groups of the client."""

    async def timed() -> T:
        with anyio.fail_after(LONGEST):
            return await act

    try:
        return asyncio.run(timed())
    except BaseExceptionGroup as error:
        first: BaseException = error
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


def drive(folder: Path, act: Callable[[Host], Awaitable[T]], *options: str, **settings: Any) -> T:
    """Start a server in a folder, and act as its host. See `connected`."""

    async def run() -> T:
        async with connected(folder, *options, **settings) as host:
            return await act(host)

    return finish(run())


def serve(folder: Path, name: str, text: str, more: str = "") -> Path:
    """Write a document in a project that serves it, with its hash in the lock."""
    (folder / name).write_text(text)
    (folder / "rdc.toml").write_text(f'[mcp]\ndocuments = ["{name}"]\n{more}')
    approve(folder)
    return folder


def approve(folder: Path) -> None:
    """Write the lock of a project, as a person does who has read the documents."""
    (folder / "rdc.lock").unlink(missing_ok=True)
    built = call("build", cwd=folder)
    assert built.code == 0, built.err


def records(folder: Path, name: str = "mcp") -> list[Table]:
    """Return the records of the only run with a name, or "" for the run without one."""
    (journal,) = folder.glob(f".rdc/*@{name}/journal" if name else ".rdc/*[!@]*/journal")
    return [json.loads(line.partition(" ")[2]) for line in journal.read_text().splitlines()]


def outcomes(folder: Path, name: str = "mcp") -> Iterator[tuple[str, str, str]]:
    """Yield the finished steps of a run: step, outcome, and who decided."""
    done = (one for one in records(folder, name) if one["kind"] == "done")
    return ((one["node"], one["outcome"], one.get("by", "")) for one in done)


def journal_of(folder: Path) -> bytes:
    """Return the bytes of all journals."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob(".rdc/*/journal")))
