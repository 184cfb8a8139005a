"""The server: hosts call its tools over standard input and output."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from compiler.version import __version__
from rdc import api
from rdc.agents import runs
from rdc.agents.forms import Context, Form, ask, client_of, takes_forms
from rdc.agents.runs import Refused, Settings
from rdc.agents.tools import (
    InvalidCallError,
    List,
    Next,
    Report,
    Result,
    Start,
    Status,
    as_result,
    read_call,
    tool_list,
)
from runtime_shim.engine.state import user

INSTRUCTIONS = (
    "rdc runs procedures step by step and keeps their order. Call `start`. If `step.by` is rdc or person, call `next` "
    "with `run` and `at` of the last result. If it is agent, do only what `step.text` asks, then call `report`. Repeat "
    "until `state` is complete or stop. Only the user answers questions: show the command in `hint` and wait."
)

PAUSE, GRACE = 0.05, 0.5
"""Seconds between two looks at a step, and until a canceled call interrupts it: a server that ends doesn't."""

T = TypeVar("T")


async def serve(settings: Settings) -> None:
    """Serve the tools until the client disconnects. Steps that still run continue."""
    tools = Tools(settings)
    server = Server(
        "rdc", version=__version__, instructions=INSTRUCTIONS, on_list_tools=tools.list, on_call_tool=tools.call
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _aside(act: Callable[[], T]) -> T:
    """Do something in a thread, so that other calls go on."""
    return await anyio.to_thread.run_sync(act)


class Tools:
    """The tools' calls by one client."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    async def list(self, _context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        """Return the tools."""
        return ListToolsResult(tools=tool_list())

    async def call(self, context: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        """Call a tool. A refusal is a result, so that the model reads it."""
        try:
            found = await self._called(context, params)
        except InvalidCallError as error:
            return as_result(Result(str(error), ""), is_error=True)
        except Refused as refusal:
            return as_result(Result(refusal.message, refusal.hint), is_error=True)
        except api.Error as error:
            return as_result(Result(error.message, error.help), is_error=True)
        return as_result(found) if isinstance(found, Result) else found

    async def _called(self, context: Context, params: CallToolRequestParams) -> Result | InputRequiredResult:
        match read_call(params.name, params.arguments):
            case List():
                return await _aside(runs.listed)
            case Status(run):
                return await _aside(lambda: runs.shown(runs.find(run)))
            case Start() as given:
                return await _aside(partial(runs.started, given, self.settings))
            case Report() as given:
                return await _aside(partial(runs.reported, given, client_of(context), self.settings))
            case Next() as given:
                return await self._next(context, params, given)

    async def _next(
        self, context: Context, params: CallToolRequestParams, given: Next
    ) -> Result | InputRequiredResult:
        """Let rdc or a person do the current step, and return the run after it."""
        run, step = await _aside(partial(runs.at, given.run, given.at))
        if step.by == "agent":
            raise Refused(f"step {step.step} is for you; do it, then call report")
        options = list(self.settings.options)
        if run.state != "running" and step.by == "person":
            reply = await self._reply(context, params, run, step)
            if isinstance(reply, InputRequiredResult):
                return reply
            if reply is None:
                return runs.shown(run)
            by = f"{user()} via {client_of(context)} (form)"
            if run.state != "interrupted":
                return await _aside(lambda: runs.shown(api.answer(run, reply, step=step.step, by=by, at=given.at)))
            options += ["--by", by, *(["--rerun-interrupted"] if reply == "again" else ["--assume", reply])]
        process = None if run.state == "running" else api.begin(run, at=given.at, options=options)
        await self._wait(context, run, step, process)
        return await _aside(lambda: runs.shown(runs.find(given.run)))

    async def _reply(
        self, context: Context, params: CallToolRequestParams, run: api.Run, step: api.Current
    ) -> str | None | InputRequiredResult:
        """Return a person's reply in a form, None without one, or the result that lets the client ask."""
        asks = self.settings.forms and step.form and (self.settings.gates or step.kind != "gate")
        if not asks or not takes_forms(context):
            return None
        what = ["It was interrupted. Has it passed or failed, or should it run again?"] * (run.state == "interrupted")
        message = "\n\n".join(filter(None, [f"{step.step} {step.title}", step.text, step.command, *what]))
        return await ask(context, params, Form(f"{run.id} {run.at}", runs.clean(message), step.replies))

    async def _wait(self, context: Context, run: api.Run, step: api.Current, process: api.Running | None) -> None:
        """Wait for a step, report progress each second, and interrupt the step if the client cancels the call."""
        begun, shown = time.monotonic(), 0
        try:
            while (passed := time.monotonic() - begun) < self.settings.wait:
                if process is None:
                    if not api.is_running(run):
                        return
                elif (ended := process.ended()) is not None:
                    return api.raise_refusal(ended)
                if int(passed) > shown:
                    shown = int(passed)
                    await context.session.report_progress(shown, message=runs.clean(f"{step.step} {step.title}"))
                await anyio.sleep(PAUSE)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(GRACE, partial(api.interrupt, run, process))
            raise
