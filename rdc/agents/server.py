"""The server: hosts call its tools over standard input and output."""

import asyncio
import time

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
from rdc.agents.runs import Settings
from rdc.agents.tools import List, Next, RefusedError, Report, Result, Start, Status, as_result, read_call, tool_list
from rdc.runs.control import LOOK
from rdc.runs.process import Running, holder_of
from runtime_shim.engine.state import user
from runtime_shim.engine.texts import clean

__all__ = ["Settings", "serve"]

INSTRUCTIONS = (
    "rdc runs procedures step by step and keeps their order. Call `start`. If `step.by` is rdc or person, call `next` "
    "with `run` and `at` of the last result. If it is agent, do only what `step.text` asks, then call `report`. Repeat "
    "until `state` is complete or stop. Only the user answers questions: show the command in `hint` and wait."
)

AGAIN = "again"
"""The reply that runs an interrupted step again."""

INTERRUPTED = "This step was interrupted. Has it passed or failed, or should it run again?"

PAUSE, GRACE = 0.05, 0.5
"""Seconds between two looks at a step, and until a canceled call interrupts it: a server that ends doesn't."""


async def serve(settings: Settings) -> None:
    """Serve the tools until the client disconnects. Steps that still run continue."""
    tools = Tools(settings)
    server = Server(
        "rdc", version=__version__, instructions=INSTRUCTIONS, on_list_tools=tools.list, on_call_tool=tools.call
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


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
        except RefusedError as refusal:
            return as_result(Result(clean(refusal.message), clean(refusal.hint)), is_error=True)
        except api.Error as error:
            reason = str(error).replace(LOOK, "call list or status")  # agents have no Python
            return as_result(Result(clean(reason), ""), is_error=True)
        return as_result(found) if isinstance(found, Result) else found

    async def _called(self, context: Context, params: CallToolRequestParams) -> Result | InputRequiredResult:
        settings = self.settings
        match read_call(params.name, params.arguments):
            case List():
                return await asyncio.to_thread(runs.listed)
            case Status(run):
                return await asyncio.to_thread(lambda: runs.shown(runs.find(run, settings)))
            case Start() as given:
                return await asyncio.to_thread(runs.started, given, settings)
            case Report() as given:
                return await asyncio.to_thread(runs.reported, given, client_of(context), settings)
            case Next() as given:
                return await self._next(context, params, given)

    async def _next(self, context: Context, params: CallToolRequestParams, given: Next) -> Result | InputRequiredResult:
        """Let rdc or a person do the current step, and return the run after it."""
        run, step = await asyncio.to_thread(runs.at, given.run, given.at, self.settings)
        if step.by == "agent":
            raise RefusedError(f"step {step.step} is for you; do it, then call report")
        options = [*self.settings.options]
        if step.by == "person":
            reply = await self._reply(context, params, run, step)
            if not isinstance(reply, str):
                return reply or runs.shown(run)
            by = f"{user()} via {client_of(context)} (form)"
            if run.state != "interrupted":
                return await asyncio.to_thread(runs.answered, run, step.step, reply, by, self.settings)
            decision = "--rerun-interrupted" if reply == AGAIN else f"--assume={reply}"
            options += [decision, f"--by={by}"]
        try:
            process = None if run.state == "running" else api.start_step(run, options=options)
            await self._wait(context, run, process)
        except api.Error:
            run = await asyncio.to_thread(runs.find, given.run, self.settings)
            if run.state != "running" or run.at != given.at:
                raise
            await self._wait(context, run, None)  # another call was faster
        return await asyncio.to_thread(lambda: runs.shown(runs.find(given.run, self.settings)))

    async def _reply(
        self, context: Context, params: CallToolRequestParams, run: api.Run, step: api.Current
    ) -> str | InputRequiredResult | None:
        """Return a person's reply in a form, None without one, or the result that lets the client ask."""
        asks = self.settings.forms and step.form and (self.settings.gates or step.kind != "gate")
        if not asks or not takes_forms(context):
            return None
        what = [INTERRUPTED] if run.state == "interrupted" else []
        message = clean("\n\n".join(filter(None, [f"{step.step} {step.title}", step.text, step.command, *what])))
        is_number = step.asks is not None and step.asks.type == "number"
        return await ask(context, params, Form(f"{run.id} {run.at}", message, step.replies, is_number))

    async def _wait(self, context: Context, run: api.Run, process: Running | None) -> None:
        """Wait for a step, report progress each second, and interrupt the step if the client cancels the call."""
        start, seconds, holder = time.monotonic(), 0, holder_of(run.directory)
        try:
            while (passed := time.monotonic() - start) < self.settings.wait:
                if process and (ended := process.ended()):
                    api.check_end(ended, run.document)
                    return
                if not process and (holder is None or holder_of(run.directory) != holder):
                    return
                if passed >= seconds + 1:
                    seconds = int(passed)
                    await context.session.report_progress(seconds, message=clean(f"{seconds} s: {run.at}"))
                await asyncio.sleep(PAUSE)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(GRACE, _interrupt, run, process, holder)
            raise
        finally:
            if process and process.process.returncode is None:
                process.leave()


def _interrupt(run: api.Run, process: Running | None, holder: int | None) -> None:
    """Interrupt the step that a call waited for, but no later step of the run."""
    if process:
        process.interrupt()
    elif holder_of(run.directory) == holder:
        api.interrupt(run)
