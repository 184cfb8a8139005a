"""The steps of a leg, run in its helper process, which ends their process groups when its worker is gone."""

import os
import re
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.display import Display
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import EXIT_WAITING, Table, UsageError
from runtime_shim.engine.session import Extension, Session
from runtime_shim.engine.signals import signal_groups
from runtime_shim.engine.state import ENDED, State, Store
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import Move
from runtime_shim.io.whole_files import inner
from runtime_shim.operator.logs import LOGS, last_lines, log_of
from runtime_shim.operator.sized_logs import limit_of
from runtime_shim.targets.dbos.leases import Channel
from runtime_shim.targets.dbos.legs import RUN_NAME
from runtime_shim.targets.traces import LEG_ENDED
from runtime_shim.values.limits import expires_at

QUICKLY = 0.8  # seconds from SIGTERM to SIGKILL for a leg that was canceled or has lost its worker
MOST_REPEATS = 10  # how often a step that ends its worker is run again
SHOWN = 4096  # bytes of output in a step's record
PATIENT = 10.0  # seconds to wait for the helper before this one


class Leaving(BaseException):
    """Not an error: the leg ends here, and another one continues, at once or after a pause."""


class LegStore(Store):
    """The records of a run for a leg. The worker records what is appended."""

    is_queued = True

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

    def before_run(self, _state: "State | None") -> None:
        """Let the output of all commands go to logs, through a thread if it could have secrets."""
        self.session.program = {**self.session.program, "logs": True}
        self._log, self._has_secrets = -1, self.session.program.get("secrets") or os.environ.get("RDC_SECRETS")

    def event(self, event: str, _fields: Record) -> None:
        """Let commands without secrets write to their logs themselves, which is faster."""
        for performer in self.session.performers.values() if event == "run_started" and not self._has_secrets else ():
            if getattr(performer, "has_log", False):
                vars(performer)["processes"].around = self._start, self._finish

    def _start(self) -> list[Any]:
        """Open the log of the current step, and return the file actions of its command."""
        with inner(self.session.store.within, LOGS) as folder:
            name = os.path.basename(self.path())
            self._log = folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return [(os.POSIX_SPAWN_DUP2, self._log, stream) for stream in (1, 2)]

    def _finish(self) -> None:
        os.close(self._log)

    @property
    def limit(self) -> int:
        """The most bytes to keep of a command's output."""
        return limit_of(self.session.options.log_limit)

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

    def facts(self, state: State) -> Table:
        """Return the end of the last step's output, which is in its record."""
        output = "".join(one.get("output", "") for one in state.finished[-1:])
        return {"output": last_lines(output, self.session.mask)}

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
    session.each("event", LEG_ENDED, {})
    label = session.label(state.node) if state.node in session.places else ""
    about = {"step": state.node, "label": label, "message": one_line(state.message)}
    word, expires = state.condition, expires_at(session.program, state)
    if word == "running":
        word = "interrupted"
    elif word not in ENDED:
        word = "ready" if due is not None or code != EXIT_WAITING else "waiting"
    later = {"expires": expires} if "waiting" == word == state.condition and expires < float("inf") else {}
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
