"""Logs: the output of commands in files, as well as on the screen."""

import io
import os
import re
import select
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.private import at_once, refuse_links
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Session
from runtime_shim.engine.texts import clean
from runtime_shim.io.whole_files import file_name, inner
from runtime_shim.tasks.process import Codes, Ended, Environment, Processes
from runtime_shim.tasks.shell import Calling

LOGS, LOG_LIMIT = "logs", "1m"  # directory; default size
SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}  # bytes
PIPE = 1 << 20  # bytes; the largest pipe
LONGEST_LINE, LONGEST_SECRET = 1 << 20, 1 << 17  # bytes; variables have 128 KiB at most
SHOWN_LINES, SHOWN_BYTES = 10, 8192  # of a log, in `status`


def limit_of(given: str) -> int:
    """Return how many bytes of output to keep."""
    size = re.fullmatch(r"([1-9][0-9]{0,9})([kmg]?)(i?b)?", given.lower())
    if not size:
        raise UsageError(f"--log-limit {given!a}: expected a size such as 65536, 512k or 1M")
    return int(size[1]) * SIZES[size[2]]


def log_of(number: int, node: str) -> str:
    """Return the file name for the step that ends N-th, safe in any path."""
    return f"{number:03}-{file_name(node)}.log"


def end_of_log(journal: str, number: int, node: str) -> tuple[list[str], str]:
    """Return the last lines of the log of the step that ended N-th, and its path, for a run by its journal."""
    folder, run = os.path.split(journal)
    path = os.path.join(folder, LOGS if run == "journal" else f"{run}.{LOGS}", log_of(number, node))
    with suppress(OSError, UsageError):
        refuse_links(os.path.dirname(path))
        with open(path, "rb", opener=at_once) as file:
            file.seek(max(os.path.getsize(path) - SHOWN_BYTES, 0))
            return file.read().decode(errors="replace").splitlines(), path
    return [], path


class Log:
    """Shows a command's output and keeps the end of it in a file, in a thread that `start` starts."""

    def __init__(self, file: int, limit: int, mask: Callable[[str], str]) -> None:
        import threading  # slow to import

        self._file = io.FileIO(file, "r+")
        self._file.seek(0, os.SEEK_END)
        self._mask, self._limit, self._rest, self._source, self.sink = mask, limit, b"", *os.pipe()
        self._is_over, self._is_drained = threading.Event(), threading.Event()
        self.start = threading.Thread(target=self._copy, daemon=True).start

    def _copy(self) -> None:
        """Copy until neither the command nor its leftover processes have the pipe open."""
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        data = None
        while data != b"":
            is_over = self._is_over.is_set()  # before the read: then the pipe has all output
            data = os.read(self._source, PIPE) if poll.poll(100) else None
            is_last = data == b"" or (is_over and not self._is_drained.is_set())
            with suppress(OSError):  # a full disk does not end a command
                self._keep(data or b"", is_last)
            shown = data or b""
            with suppress(OSError):  # no one reads it
                while shown:
                    shown = shown[os.write(1, shown) :]
            if is_last:
                self._is_drained.set()
        self._file.close()
        os.close(self._source)

    def _keep(self, data: bytes, is_last: bool) -> None:
        data = self._masked(data, is_last)
        self._file.write(data[-self._limit :])
        size = self._file.tell()
        if size > (1 if is_last else 2) * self._limit:
            self._file.seek(size - self._limit)
            data = self._file.read()
            self._file.seek(0)
            self._file.write(data)
            self._file.truncate()

    def _masked(self, data: bytes, is_last: bool) -> bytes:
        """Return masked text up to the last complete line, since a secret may be cut in two."""
        text = (self._rest + data).decode("utf-8", "surrogateescape")
        end = len(text) if is_last else text.rfind("\n") + 1
        if len(text) - end > LONGEST_LINE:  # cut it outside of secrets
            whole, places = self._mask(text), range(len(text) - LONGEST_SECRET, 0, -LONGEST_SECRET)
            end = next((place for place in places if self._mask(text[:place]) + self._mask(text[place:]) == whole), 0)
        self._rest = text[end:].encode("utf-8", "surrogateescape")
        return self._mask(text[:end]).encode("utf-8", "surrogateescape")

    def finish(self, gives_up: Callable[[], bool]) -> None:
        """Wait until the command's output is shown; do not wait for leftover processes."""
        os.close(self.sink)
        self._is_over.set()
        while not self._is_drained.wait(0.2) and not gives_up():
            pass


class LoggedProcesses(Processes):
    """Starts commands with logs. Both streams share one pipe, so they keep their order."""

    def __init__(self, session: Session, began: Callable[[int], None], limit: int) -> None:
        super().__init__(session.signals, session.is_interactive, began)
        self._session, self._limit = session, limit

    def spawn(self, path: str, words: list[bytes], environment: Environment, _files: Sequence[Any] = ()) -> int:
        """Start a command with a log."""
        session, state = self._session, self._session.state
        try:
            with inner(session.store.within, LOGS) as folder:
                log = folder.open(log_of(len(state.finished) + 1, state.node), os.O_RDWR | os.O_CREAT)
            self._log = Log(log, self._limit, session.mask)
        except OSError as error:
            session.rest()
            raise UsageError(f"{error.filename}: {error.strerror}") from None
        self._log.start()
        try:
            files = [(os.POSIX_SPAWN_DUP2, self._log.sink, stream) for stream in (1, 2)]
            return super().spawn(path, words, environment, files)
        except OSError:
            self._log.finish(session.display.gives_up)
            raise

    def watch(self, groups: Sequence[int], seconds: int = 0, ended: Ended = lambda _index, _code: None) -> Codes:
        """Wait until the command has ended and its output is shown."""
        try:
            return super().watch(groups, seconds, ended)
        finally:
            self._log.finish(self._session.display.gives_up)


class Logs(Extension):
    """Keeps the output of commands."""

    folders = (LOGS,)
    options = (
        ("run resume", "--logs", "", "also keep each command's output in a log file"),
        ("run resume", "--log-limit", "SIZE", "keep only the end of each log (default: 1M)"),
    )

    def open(self) -> None:
        """Log commands, if the operator wants it."""
        session = self.session
        limit = limit_of(session.options.log_limit or LOG_LIMIT)
        for performer in set(session.performers.values()) if session.options.logs else ():
            if isinstance(performer, Calling) and performer.has_log:
                performer.processes = LoggedProcesses(session, performer._began, limit)

    def lines(self, facts: Table, record: "Table | None") -> list[str]:
        """Return the end of the last step's log, if the step failed."""
        done = facts["finished"]
        if record is None or record is not done[-1] or record["outcome"] != "fail":
            return []
        lines, path = end_of_log(self.session.store.path, len(done), record["step"])
        found = [f"        | {clean(line)}"[:200].rstrip() for line in lines[-SHOWN_LINES:]]
        return [f"        {path}:", *found] if found else []

    def output(self, number: int, node: str) -> str:
        """Return the end of the log of the step that ended N-th."""
        return "\n".join(end_of_log(self.session.store.path, number, node)[0])
