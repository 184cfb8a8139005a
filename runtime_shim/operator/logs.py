"""Logs: the output of commands on the screen and in files, and its end above a question."""

import fcntl
import io
import os
import re
import select
import termios
import tty
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.journal import Record
from runtime_shim.engine.private import at_once, refuse_links
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Options
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import clean

LOGS, LOG_LIMIT, SHOWN_LINES, SHOWN_BYTES, READS = "logs", 1 << 20, 20, 8192, 256  # directory, limits of a log
# Text that a terminal overwrites, and codes for its style.
UNSEEN = r"(?m)^[^\n]*\r(?=[^\r\n])|\x1b(\[[0-9;:?]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9])"

Mask = Callable[[str], str]


def log_of(number: int, node: str) -> str:
    """Return the file name for the step that ends N-th, safe in any path."""
    return f"{number:03}-{re.sub('[^A-Za-z0-9_.~{} -]', lambda found: f'%{ord(found[0]):02X}', node)[:150]}.log"


def folder_of(journal: str) -> str:
    """Return the directory of a run's logs by its journal, which may be archived."""
    return os.path.join(os.path.dirname(journal), f"{os.path.basename(journal)}.{LOGS}".removeprefix("journal."))


def last_lines(text: str, mask: Mask = str) -> str:
    """Return the last lines of output, as a terminal shows them, without anything that steers it."""
    shown = mask(clean(re.sub(UNSEEN, "", text)))  # a code for a style may have cut a secret
    return "\n".join(line[:200] for line in shown.rstrip().split("\n")[-SHOWN_LINES:])


def log_lines(journal: str, number: int, node: str, mask: Mask = str) -> str:
    """Return the last lines of the log of the step that ended N-th, for a run by its journal, or ""."""
    folder = folder_of(journal)
    with suppress(OSError, UsageError):
        refuse_links(folder)
        own, known = log_of(number, node), [name for name in os.listdir(folder) if name.startswith(f"{number:03}-")]
        for name in sorted(known, key=lambda name: name != own)[:1]:  # `resume --adopt` may have renamed the step
            with open(os.path.join(folder, name), "rb", opener=at_once) as file:
                file.seek(max(os.fstat(file.fileno()).st_size - SHOWN_BYTES, 0))
                return last_lines(file.read().decode(errors="replace"), mask)
    return ""


def end_of_log(journal: str, done: Sequence[Record], mask: Mask = str) -> str:
    """Return the last lines of the log of the last finished step, or ""."""
    return "".join(log_lines(journal, len(done), one["node"], mask) for one in done[-1:])


class Logs(Extension):
    """Shows a command's output and keeps its end in a file. A thread copies both streams in order."""

    folders = (LOGS,)
    options: Options = (("run resume", "--logs", "", "keep each command's output, and show its end above a question"),)
    limit = LOG_LIMIT

    def event(self, event: str, _fields: Record) -> None:
        """Log commands if the operator, the document or an earlier call, which made the directory, wants it."""
        session, folder = self.session, os.path.join(self.session.store.folder, LOGS)
        if event == "run_started" and (session.options.logs or session.program.get("logs") or os.path.isdir(folder)):
            self._folder = session.store.within.enter(LOGS)
            for performer in (one for one in session.performers.values() if getattr(one, "has_log", False)):
                vars(performer)["processes"].around = self.start, self.finish

    def start(self) -> list[Any]:
        """Start the log of the current step, and return the file actions of its command."""
        import threading  # slow to import

        name = log_of(len(self.session.state.finished) + 1, self.session.state.node)
        log, is_seen = self._folder.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT), os.isatty(1)
        source, sink = os.openpty() if is_seen else os.pipe()
        if is_seen:  # the command sees a terminal of this size, and ours does the rest
            tty.setraw(sink)
            fcntl.ioctl(sink, termios.TIOCSWINSZ, fcntl.ioctl(1, termios.TIOCGWINSZ, bytes(8)))
        self._sink, self._left = io.FileIO(sink, "wb"), list[int]()
        self._copier = threading.Thread(target=self._copy, args=(source, log, self._left), daemon=True)
        self._copier.start()
        return [(os.POSIX_SPAWN_DUP2, sink, stream) for stream in (1, 2)]

    def finish(self) -> None:
        """Wait until the command's output is shown; do not wait for leftover processes."""
        self._sink.close()
        self._left.extend(range(READS))
        while self._copier.is_alive() and self._left and not self.session.display.gives_up():
            self._copier.join(0.1)

    def _copy(self, source: int, log: int, left: list[int]) -> None:
        """Copy until neither the command nor its leftover processes have the other end open."""
        data = b" "
        with open(source, "rb", 0), open(log, "rb", 0):  # close them
            while data:
                if is_ready := select.select([source], (), (), 0.1)[0]:
                    data = b""
                    with suppress(OSError):  # a pseudo-terminal without another end
                        data = os.read(source, LOG_LIMIT)
                    with suppress(Exception):  # a full disk does not end a command, nor does a defect here
                        self.keep(log, data)
                    with suppress(OSError):  # no one reads it
                        self.session.display.put(data.decode("latin-1"), 1, "latin-1")
                del left[: 1 if is_ready else READS // 2]  # one action of this thread, so `finish` can add to it

    def keep(self, log: int, data: bytes) -> None:
        """Append output to a log, b"" at its end, and drop the start of a log that is too long."""
        os.write(log, data)
        if (size := os.fstat(log).st_size) > self.limit * (1 + bool(data)):
            data = os.pread(log, self.limit, size - self.limit)
            os.ftruncate(log, 0)
            os.write(log, data)

    def above(self) -> list[str]:
        """Return the lines to show above a question."""
        return [f"    | {line}" for line in self.facts(self.session.state)["output"].splitlines()]

    def facts(self, state: State) -> Table:
        """Return the end of the last step's output."""
        return {"output": self.end_of(state.finished)}

    def end_of(self, done: Sequence[Record]) -> str:
        """Return the end of the last step's output, of an archived run too, in any current directory."""
        store = self.session.store
        return end_of_log(os.path.join(store.folder, os.path.basename(store.path)), done, self.session.mask)

    def lines(self, facts: Table, record: "Table | None") -> list[str]:
        """Return the end of the last step's output below it, until the run is complete."""
        is_shown = facts["finished"][-1:] == [record] and facts["state"] != "complete"
        return [f"        | {line}" for line in facts["output"].splitlines() if is_shown]

    def output(self, number: int, node: str) -> str:
        """Return the end of the log of the step that ended N-th."""
        return log_lines(self.session.store.path, number, node, self.session.mask)
