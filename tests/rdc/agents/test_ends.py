"""Steps outlive the server: it may be killed, its client may leave, and only a canceled call ends its step."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from mcp.types import ElicitRequestFormParams, ElicitResult

from tests.rdc.agents.documents import SLOW
from tests.support.agents import MODES, NEW, Host, Table, accepted, drive, outcomes, records, serve
from tests.support.process import is_gone, wait_until

pytestmark = pytest.mark.process

SERVER_SAYS = """
import os
open("server", "w").write(str(os.getpid()))
"""
PLACE = {"run": "slow.runbook.md@mcp", "at": "0:1"}


async def begun(folder: Path) -> int:
    """Wait for the command of the first step, and return its process."""
    with anyio.fail_after(30):
        while not (folder / "pid").is_file() or not (folder / "pid").read_text():
            await anyio.sleep(0.01)
    return int((folder / "pid").read_text())


async def leave(host: Host, folder: Path, *, kills: bool = False, cancels: bool = False) -> None:
    """Call `next` for a slow step, and leave, kill the server or cancel the call while it runs."""
    await host.call("start", document="slow.runbook.md")

    async def call() -> None:
        try:
            await host.raw("next", **PLACE)
        except Exception:  # noqa: BLE001 (the connection is lost)
            assert kills

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await begun(folder)
        if kills:
            os.kill(int((folder / "server").read_text()), signal.SIGKILL)
            return
        if cancels:
            group.cancel_scope.cancel()
            return
        raise Left


class Left(Exception):  # noqa: N818 (the client goes away in the middle of a call)
    pass


def finished(folder: Path) -> bool:
    return [step for step, _, _ in outcomes(folder)] == ["1"]


@pytest.mark.share(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", ["killed", "left"])
def test_a_step_continues_without_its_server(tmp_path: Path, mode: str, how: str) -> None:
    """The next server finds the result of the step, which has run once."""
    serve(tmp_path, "slow.runbook.md", SLOW)

    async def act(host: Host) -> None:
        await leave(host, tmp_path, kills=how == "killed")

    with suppress(Exception):  # the client complains in some way about the lost connection
        drive(tmp_path, act, mode=mode, fault=SERVER_SAYS, is_forked=False)

    async def look(host: Host) -> Table:
        assert (await host.call("status", run=PLACE["run"]))["state"] == "running"
        (tmp_path / "go").touch()
        wait_until(lambda: finished(tmp_path))
        return await host.call("status", run=PLACE["run"])

    shown = drive(tmp_path, look, mode=mode)
    assert (shown["at"], shown["output"], shown["done"][0]["outcome"]) == ("1:2", "started\nended\n", "pass")
    assert (tmp_path / "count").read_text() == "again\n"


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", MODES)
def test_a_canceled_call_interrupts_its_step(tmp_path: Path, mode: str) -> None:
    """A person decides about an interrupted step, in a form too."""
    serve(tmp_path, "slow.runbook.md", SLOW)

    async def act(host: Host) -> Table:
        await leave(host, tmp_path, cancels=True)
        pid = int((tmp_path / "pid").read_text())
        with anyio.fail_after(30):
            while not is_gone(pid):
                await anyio.sleep(0.05)
            while (shown := await host.call("status", run=PLACE["run"]))["state"] == "running":
                pass
        assert (shown["state"], shown["step"]["by"]) == ("interrupted", "person")
        assert shown["step"]["replies"] == ["pass", "fail", "again"]
        (tmp_path / "go").touch()
        return await host.call("next", **PLACE)

    def ask(params: ElicitRequestFormParams) -> ElicitResult:
        assert "This step was interrupted" in params.message
        return accepted("again")

    assert drive(tmp_path, act, "--forms", mode=mode, form=ask, is_forked=False)["at"] == "1:2"
    (decision,) = (one for one in records(tmp_path) if one["kind"] == "resume" and "by" in one)
    assert decision["by"].endswith(" via tester (form)")


def test_a_call_waits_only_for_a_while(tmp_path: Path) -> None:
    """It reports progress each second, then returns `running`; the same place waits again."""
    serve(tmp_path, "slow.runbook.md", SLOW)

    async def act(host: Host) -> tuple[Table, Table]:
        await host.call("start", document="slow.runbook.md")
        first = await host.call("next", **PLACE)
        assert [*host.progress] == [1, 2]
        again = await host.call("start", document="slow.runbook.md")
        assert (again["state"], again["resumed"], again["at"]) == ("running", True, "0:1")

        async def let_it_end() -> None:
            while len(host.progress) < 3:
                await anyio.sleep(0.01)
            (tmp_path / "go").touch()

        async with anyio.create_task_group() as group:
            group.start_soon(let_it_end)
            second = await host.call("next", **PLACE)
        return first, second

    first, second = drive(tmp_path, act, "--wait", "2.5", mode=NEW, is_forked=False)
    assert (first["state"], first["at"], first["output"]) == ("running", "0:1", "started\n")
    assert (second["state"], second["at"], second["output"]) == ("ready", "1:2", "started\nended\n")
    assert (tmp_path / "count").read_text() == "again\n"
