"""The steps of a leg, run in its helper process, which ends their process groups when its worker is gone."""

import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.display import Display
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import EXIT_WAITING, Table, UsageError
from runtime_shim.engine.session import Extension, Session
from runtime_shim.engine.signals import signal_groups
from runtime_shim.engine.state import ENDED, State, Store
from runtime_shim.engine.texts import clean, one_line
from runtime_shim.engine.walk import Move
from runtime_shim.io.whole_files import inner
from runtime_shim.operator.logs import LOG_LIMIT, LOGS, SHOWN_LINES, LoggedProcesses, limit_of, log_of
from runtime_shim.targets.dbos.leases import Channel
from runtime_shim.targets.dbos.legs import RUN_NAME
from runtime_shim.tasks.process import Environment, Processes
from runtime_shim.tasks.shell import Calling
from runtime_shim.values.limits import expires_at

QUICKLY = 0.8  # seconds from SIGTERM to SIGKILL for a leg that was canceled or has lost its worker
MOST_REPEATS = 10  # how often a step that ends its worker is run again
SHOWN = 4096  # bytes of output in a step's record
PATIENT = 10.0  # seconds to wait for the helper before this one


class Leaving(BaseException):
    """Not an error: the leg ends here, and another one continues, at once or after a pause."""


class LegStore(Store):
    """The records of a run for a leg. The worker records what is appended."""

    def __init__(self, store: Store, directory: str, channel: Channel, records: list[Record]) -> None:
        super().__init__(directory, store.modes)
        self.path, self._records, self._channel = directory, records, channel
        self.is_recorded = threading.Semaphore(0)
        self.is_leaving = False  # whether the worker stops after this step

    def records(self) -> list[Record]:
        """Return the records of the run."""
        return self._records

    def lock(self) -> None:
        """Lock the directory of the run's files, when the helper of a lost worker has ended its commands."""
        deadline = time.monotonic() + PATIENT
        while True:
            try:
                return super().lock()
            except UsageError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def open(self) -> None:
        """Do nothing: the worker has the journal."""

    def append(self, record: Record, sync: bool = True) -> None:
        """Let the worker record it. The pids of commands are only of use here."""
        self._records.append({"n": len(self._records), **record})
        if not sync:
            self._channel.send({"process": record})
            return
        self._channel.send({"record": record})
        self.is_recorded.acquire()


class WritingProcesses(Processes):
    """Starts commands that write to log files themselves, which is faster than a thread that copies their output."""

    def __init__(self, session: Session, began: Callable[[int], None]) -> None:
        super().__init__(session.signals, session.is_interactive, began)
        self._session = session

    def spawn(self, path: str, words: list[bytes], environment: Environment, _files: Sequence[Any] = ()) -> int:
        """Start a command that writes to its log."""
        store, state = self._session.store, self._session.state
        with inner(store.within, LOGS) as folder:
            log = folder.open(log_of(len(state.finished) + 1, state.node), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            return super().spawn(path, words, environment, [(os.POSIX_SPAWN_DUP2, log, stream) for stream in (1, 2)])
        finally:
            os.close(log)


def shorten(path: str, limit: int) -> None:
    """Keep the end of a log that has grown to more than twice its limit. A command may still append to it."""
    with suppress(OSError):
        if os.path.getsize(path) > 2 * limit:
            with open(path, "rb") as file:
                file.seek(-limit, os.SEEK_END)
                end = file.read()
            os.truncate(path, 0)
            with open(path, "ab") as file:
                file.write(end)


class LegSteps(Extension):
    """Keeps the output of commands, and ends a leg before a pause or when its worker stops."""

    def open(self) -> None:
        """Log the commands' output, through a thread if it could have secrets."""
        session, has_secrets = self.session, self.session.program.get("secrets") or os.environ.get("RDC_SECRETS")
        for performer in {*session.performers.values()} if isinstance(session.store, LegStore) else ():
            if isinstance(performer, Calling) and performer.has_log:
                if has_secrets:
                    performer.processes = LoggedProcesses(session, performer._began, self.limit)
                else:
                    performer.processes = WritingProcesses(session, performer._began)

    @property
    def limit(self) -> int:
        """The most bytes to keep of a command's output."""
        return limit_of(self.session.options.log_limit or LOG_LIMIT)

    def path(self) -> str:
        """Return the log of the current step."""
        state = self.session.state
        return os.path.join(self.session.store.folder, LOGS, log_of(len(state.finished) + 1, state.node))

    def record(self, record: Record) -> Record:
        """Add the end of a command's output."""
        if record.get("kind") != "done" or not isinstance(self.session.store, LegStore):
            return record
        path = self.path()
        shorten(path, self.limit)
        with suppress(OSError), open(path, "rb") as file:
            file.seek(max(os.path.getsize(path) - SHOWN, 0))
            record["output"] = file.read().decode(errors="replace")
        return record

    def lines(self, facts: Table, record: "Table | None") -> list[str]:
        """Return the end of the last command's output if it failed."""
        if record is None or record is not facts["finished"][-1] or record["outcome"] != "fail":
            return []
        lines = record.get("output", "").splitlines()[-SHOWN_LINES:]
        return [f"        | {clean(line)}"[:200].rstrip() for line in lines]

    def after_step(self, _move: Move) -> None:
        """End the leg, if the next step has to wait or the worker stops."""
        store, state = self.session.store, self.session.state
        if not isinstance(store, LegStore) or state.condition in ENDED:
            return
        due = state.finished[-1].get("due", 0.0)
        if store.is_leaving or due > time.time():
            raise Leaving(due)


def guard(session: Session, store: LegStore, channel: Channel, fence: "float | None") -> None:
    """Listen to the worker in a thread. End the commands when it says so, is gone, or is silent for too long.

    A worker that was asked to stop says so again and again. Its commands get one signal, and time to clean up.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the main thread
    is_asked = False
    while True:
        message = channel.receive(fence)
        word = next(iter(message)) if message else "end"
        if word == "recorded":
            store.is_recorded.release()
        elif word == "beat":
            legs = next(each for each in session.extensions if isinstance(each, LegSteps))
            shorten(legs.path(), legs.limit)
        elif word == "leave":
            store.is_leaving = True
        elif word == "stop" and not is_asked:
            is_asked = True
            os.kill(os.getpid(), signal.SIGTERM)
        elif word == "end":
            os.kill(os.getpid(), signal.SIGTERM)
            deadline = time.monotonic() + QUICKLY
            while session.state.running_processes() and time.monotonic() < deadline:
                time.sleep(0.02)
            signal_groups([one["pid"] for one in session.state.running_processes()], signal.SIGKILL)
            if not message:
                os._exit(1)


def run_leg(
    channel: Channel, open_session: Callable[[Display], Session], directory: str, is_apart: bool, fence: "float | None"
) -> None:
    """Run a leg to its end, and send how it ended. `is_apart` gives the run its own working directory."""
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silent, stream)
    given = channel.receive()
    if given is None:
        return
    result: Table = {"state": "failed", "message": "internal error; see the file run.log"}
    try:
        session = open_session(Display(sys.stderr))
        store = prepared(session, channel, directory, given)
        result = ended(session, store, channel, is_apart, fence)
    except (UsageError, OSError) as error:
        reason = error.args[-1] if isinstance(error, UsageError) else f"{error.filename or ''}: {error.strerror}"
        result = {"state": "refused", "message": one_line(str(reason))}
    except Exception:  # a bug of rdc: the run can continue once it is fixed
        traceback.print_exc()
        raise
    finally:
        channel.send({"end": result})


def prepared(session: Session, channel: Channel, directory: str, given: Table) -> LegStore:
    """Return the store of a leg, with the folder of the run's files and the helper's log."""
    if not re.fullmatch(RUN_NAME, given["run"]):  # it becomes the name of a folder
        raise UsageError("the run has a name that rdc does not write")
    store = session.store = LegStore(session.store, os.path.join(directory, given["run"]), channel, given["records"])
    store.lock()
    os.dup2(store.within.open("run.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
    if given.get("answers"):
        session.options.answers = os.path.join(store.folder, "answers")
        answers = store.within.open("answers", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with open(answers, "w", encoding="utf-8") as file:
            file.write(given["answers"])
    return store


def ended(session: Session, store: LegStore, channel: Channel, is_apart: bool, fence: "float | None") -> Table:
    """Run the steps of a leg, and return how it ended."""
    state: Any = session.read_state()
    check_state(session, state)
    repeats = [one for one in state.decided if one["after"] == len(state.finished)]
    if len(repeats) >= MOST_REPEATS:
        session.options.rerun_interrupted = False
    session.take(state)
    threading.Thread(target=guard, args=(session, store, channel, fence), daemon=True).start()
    if is_apart:
        place = os.path.join(store.folder, "workspace")
        os.makedirs(place, exist_ok=True)
        os.chdir(place)
    due, code = None, 0
    try:
        code = session.go(resumed=len(store.records()) > 1)
    except Leaving as leaving:
        session.rest()
        due = leaving.args[0]
    label = session.label(state.node) if state.node in session.places else ""
    about = {"step": state.node, "label": label, "message": one_line(state.message)}
    word, expires = state.condition, expires_at(session.program, state)
    if word == "running":
        word = "interrupted"
    elif word not in ENDED:
        word = "ready" if due is not None or code != EXIT_WAITING else "waiting"
    later = {"expires": expires} if word == "waiting" and expires < float("inf") else {}
    return {"state": word, **about, **({"due": due} if due else {}), **later}


def check_state(session: Session, state: State) -> None:
    """Refuse a state that this program cannot have: counters are put into commands, so they must be numbers."""
    if not session.is_same(state):
        raise UsageError("the run belongs to a different version of this program")
    initial = session.program["registers"]
    is_sound = state.node in session.program["nodes"] and {*state.registers} == {*initial}
    kinds = ((int,) if isinstance(value, int) else (str, type(None)) for value in initial.values())
    if not is_sound or not all(type(state.registers[name]) in kind for name, kind in zip(initial, kinds, strict=True)):
        raise UsageError("the records of this run are damaged, or someone has changed them; cancel it")
