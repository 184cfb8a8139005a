"""Executions of legs: a worker stores messages of its helper, and ends what a killed helper has left."""

import io
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks.workers.fleet import group_is_gone
from runtime_shim.engine.display import Display
from runtime_shim.engine.signals import started_at
from runtime_shim.targets.dbos.engine import Duties, Metrics
from runtime_shim.targets.dbos.leases import Channel
from runtime_shim.targets.dbos.legs import Place
from runtime_shim.targets.dbos.worker import Execution, Parked, Worker

pytestmark = pytest.mark.tool

Message = dict[str, Any]

GIVEN = {"step": "1"}
STORED = {"record": {"kind": "done", "node": "1", "next": "2"}}
COMPLETE = {"end": {"state": "complete", "step": "2"}}


class NotMineError(BaseException):
    """DBOS raises such an error if it cannot store a record since another execution has the leg."""


class Engine:
    """Stores messages. `before_storing` is called once, and returns whether another execution has the leg by then."""

    def __init__(self) -> None:
        self.stored: list[Message] = []
        self.before_storing: Callable[[], bool] = bool

    def record(self, _step: str, receive: Callable[[], Message]) -> Message:
        message, look, self.before_storing = receive(), self.before_storing, bool
        if look():
            raise NotMineError
        self.stored.append(message)
        return message


class Database:
    is_sqlite, path = True, ""

    def __init__(self) -> None:
        self.gone: set[str] = set()

    def journal(self, _run: str, _number: int) -> tuple[list[Any], Message]:
        return [], {}

    def lost(self, names: list[str], _worker: str) -> set[str]:
        return {*names} & self.gone


class Helpers:
    """Starts helpers that send their messages at once, and no more. They are dead if the last one is not their end."""

    def __init__(self, messages: tuple[list[Message], ...]) -> None:
        self._messages = iter(messages)
        self.started: list[Channel] = []

    def start(self) -> Channel:
        ours, theirs = socket.socketpair()
        self.started.append(Channel(theirs))
        for message in next(self._messages):
            self.started[-1].send(message)
        theirs.shutdown(socket.SHUT_WR)
        return Channel(ours)


@contextmanager
def worker(*messages: list[Message]) -> Iterator[Any]:
    """Give a worker that is not started, and whose helpers send these messages."""
    database: Any = Database()
    helpers: Any = Helpers(messages)
    found: Any = Worker(database, Place("q", "v"), Duties(1, 1.0, False), Display(io.StringIO()), helpers)
    found.engine, found.metrics = Engine(), Metrics("")
    yield found
    for helper in helpers.started:
        helper.close()


def received(helper: Channel) -> list[str]:
    """Return the kinds of the messages that a helper received."""
    found = []
    while message := helper.receive(0.05):
        found += [*message][:1]
    return found


@contextmanager
def command() -> Iterator[tuple[int, Message]]:
    """Give the process group of a command, and the message that reports it."""
    with subprocess.Popen(["sleep", "60"], process_group=0) as process:
        about = {"kind": "process", "node": "1", "pid": process.pid, "since": started_at(process.pid)}
        yield process.pid, {"process": about}
        process.kill()


def test_a_worker_that_gets_a_leg_again_acknowledges_only_stored_records() -> None:
    with worker([STORED], [COMPLETE]) as mine:
        mine.engine.before_storing = lambda: bool(Execution(mine, "r1", 1).go(GIVEN))
        with pytest.raises(Parked):
            Execution(mine, "r1", 1).go(GIVEN)
        assert mine.engine.stored == [COMPLETE]
        assert [received(helper) for helper in mine.helpers.started] == [["run", "end"], ["run"]]
        assert mine.channels == {}


def test_the_end_of_a_first_execution_leaves_the_second_its_helper() -> None:
    with worker([STORED], [STORED]) as mine:
        first, second = Execution(mine, "r1", 1), Execution(mine, "r1", 1)
        mine.engine.before_storing = lambda: bool(second._next("1"))
        with pytest.raises(Parked):
            first.go(GIVEN)
        assert mine.channels == {"r1.1": second._channel}


def test_a_helper_of_a_lost_leg_ends_without_a_record() -> None:
    with worker([{"end": {"state": "interrupted", "step": "1"}}]) as mine:
        mine.database.gone = {"r1.1"}
        with pytest.raises(Parked):
            Execution(mine, "r1", 1).go(GIVEN)
        assert (mine.engine.stored, mine._parked) == ([], [])


def test_all_parallel_commands_of_a_killed_helper_are_ended() -> None:
    with command() as (one, first), command() as (two, second), worker([first, second]) as mine:
        result = Execution(mine, "r1", 1).go(GIVEN)
        assert [group for group in (one, two) if not group_is_gone(group)] == []
        assert result == {"state": "interrupted", "step": "1", "message": "the helper process was killed"}
        assert mine.engine.stored == [{"end": result}]


def test_commands_of_an_earlier_step_are_left_alone_when_a_helper_is_killed() -> None:
    """A command may have left a server in its group, and its pid may be that of another process by now."""
    with command() as (group, about), worker([about, STORED]) as mine:
        assert Execution(mine, "r1", 1).go(GIVEN)["state"] == "interrupted"
        assert not group_is_gone(group)
