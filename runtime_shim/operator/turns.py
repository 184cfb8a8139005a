"""Turns: a run that asks at a terminal lends its lock to processes that answer, and continues after their answers.

Such a process has a shared lock on the journal until it ends. The run looks for one while it waits for a key.
"""

import fcntl
import os
import time
from contextlib import suppress
from typing import Any

from runtime_shim.engine.display import forget_typed
from runtime_shim.engine.journal import Record, picked, read_journal
from runtime_shim.engine.outcomes import AnsweredElsewhere, Waiting
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import LENDS, State, Store
from runtime_shim.engine.status import KNOWN, told_by
from runtime_shim.engine.texts import one_line, word_of
from runtime_shim.tasks.ask import last_end
from runtime_shim.values.limits import expires_at

LENT = 5.0  # seconds to wait for a lock that is lent


def is_wanted(store: Store) -> bool:
    """Return whether another process has its turn, or waits for it."""
    try:
        fcntl.flock(store.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(store.file, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    return False


def lend(store: Store) -> list[Record]:
    """Lend the lock until no process wants it, and return the new records."""
    store.is_locked = os.pwrite(store.lock_file, LENDS.encode() + store.me, 0) < 0
    fcntl.flock(store.lock_file, fcntl.LOCK_UN)
    while is_wanted(store):
        time.sleep(0.02)
    store.hold(LENT)
    records, size = read_journal(os.path.join(store.folder, "journal"))
    news, is_there = records[store.count :], store.is_there()
    if is_there:  # otherwise the next record finds out
        store.count, store.size = len(records), size
        store.open()
    return news if is_there else []


def lender(store: Store) -> str:
    """Return who lends the lock that this process has, or ""."""
    pid = store.left.removeprefix(LENDS).partition(",")[0]
    if not (store.left.startswith(LENDS) and pid.isdecimal()):
        return ""
    with suppress(ProcessLookupError, OverflowError):
        with suppress(PermissionError):
            os.kill(int(pid), 0)
        os.ftruncate(store.lock_file, os.pwrite(store.lock_file, store.left.encode(), 0))  # for the next one
        return store.holder()
    return ""


class Turns(Extension):
    """Lets other processes answer while the run asks at a terminal."""

    def before_step(self, _name: str) -> None:
        """Look for answers while this step waits for a key."""
        self.session.display.idle = self.look

    def look(self) -> None:
        """Take up the answers of other processes; raise AnsweredElsewhere if there are any, Waiting after an expiry."""
        session, state, display = self.session, self.session.state, self.session.display
        news = lend(session.store) if state.condition == "waiting" and is_wanted(session.store) else ()
        for record in news:
            word = word_of(session.program["nodes"][state.node], record.get("outcome", ""))
            state.apply(record)
            session.each("written", record)
            if record["kind"] in ("done", "entry"):
                display.line(f"\n    {word}  {one_line(f'answered {told_by(record)}')}")
            if record["kind"] == "done":
                session.emit("step_finished", **picked(record, ("node", "next", *KNOWN)))
        if news:
            forget_typed()
            raise AnsweredElsewhere
        if state.condition == "waiting" and time.time() >= expires_at(session.program, state):
            forget_typed()
            display.line()
            raise Waiting(f"to continue: {session.call('resume')}", f"{session.label(state.node)} has expired")

    def enter(self) -> None:
        """Lock the run, or borrow the lock from a terminal that asks."""
        session, store = self.session, self.session.store
        try:
            session.alone()
        except UsageError as busy:
            asked: Any = session.read_state() if store.within and store.is_busy() else None
            if asked is None:
                raise
            if asked.condition != "waiting":
                raise UsageError(f"{busy.args[-1]}{last_end(session, session.options.STEP, asked.finished)}") from None
            if not session.is_same(asked):
                how = f"to answer it, restore the old version, or go to its terminal ({store.holder()})"
                raise UsageError(how, session.of_another_version(asked).args[-1]) from None
            self._take_turn(asked)
        session.lender = lender(store)

    def _take_turn(self, asked: State) -> None:
        """Get the lock from a terminal that asks, and see that it still asks the same."""
        session, store = self.session, self.session.store
        fcntl.flock(store.within.open("journal", os.O_RDONLY), fcntl.LOCK_SH)  # until this process ends
        try:
            store.hold(LENT)
        finally:
            now: Any = session.read_state()
            if faster := last_end(session, asked.node, now.finished[len(asked.finished) :]):
                raise UsageError(f"{asked.node} is not waiting for an answer{faster}")
