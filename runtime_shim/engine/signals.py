"""Stop signals, blocked except while the run waits for them, and processes that outlive a runner."""

import os
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from runtime_shim.engine.program import Table

GRACE = 5.0  # seconds from SIGTERM to SIGKILL


def _facts(pid: object) -> list[int]:
    """Return a process's facts from its parent on; [] if it is gone or there is no /proc."""
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        state, *fields = file.read(4096).rpartition(b")")[2].split()
        return [] if state in (b"Z", b"X") else list(map(int, fields))
    return []


def started_at(pid: int) -> "int | None":
    """Return a process's start time in clock ticks; None if it is gone or there is no /proc."""
    return facts[18] if (facts := _facts(pid)) else None


def has_members(group: int) -> bool:
    """Return whether a process of a group is still alive, which may not be its leader."""
    with suppress(OSError):
        os.killpg(group, 0)  # fast: usually the group is gone
        return any(_facts(name)[1:2] == [group] for name in os.listdir("/proc") if name.isdigit())
    return False


def is_alive(process: Table) -> bool:
    """Return whether a recorded process is still alive; another one may have its pid by now."""
    pid, since = process["pid"], process["since"]
    return type(pid) is type(since) is int and pid > 1 and started_at(pid) == since  # never signal 0 or 1


def signal_groups(groups: Iterable[int], *numbers: int) -> None:
    """Send signals to process groups; ignore missing ones."""
    for group in groups:
        for number in numbers:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)


def end_groups(left: Sequence[Table]) -> None:
    """End the process groups that an interrupted run left behind."""
    groups = [process["pid"] for process in left]
    for numbers in ((signal.SIGTERM, signal.SIGCONT), (signal.SIGKILL,)):
        signal_groups(groups, *numbers)
        deadline = time.monotonic() + GRACE
        while any(map(has_members, groups)) and time.monotonic() < deadline:
            time.sleep(0.02)


STOPS = ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "XCPU", "ALRM", "VTALRM", "PROF", "POLL", "PWR", "STKFLT")
KEYS = (signal.SIGINT, signal.SIGQUIT)  # Ctrl-C and Ctrl-\\ at a terminal
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)  # commands get TERM for the others


class Interrupted(KeyboardInterrupt):
    """The operator or the system asked the run to end."""


class Signals:
    """The stop signals, blocked until the run waits for them, so that none is lost just before a call.

    Inside `with signals` they raise Interrupted.
    """

    def __init__(self) -> None:
        wanted = [signal.Signals[f"SIG{name}"] for name in STOPS if hasattr(signal, f"SIG{name}")]
        self.stops = {number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN}
        self.has_received, self.has_timer = False, False  # an alarm that the run did not set is a stop
        self.is_key = False  # whether the last stop came from a key
        self._watched = {*self.stops, signal.SIGCHLD, signal.SIGALRM}
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, self._watched)
        for number in self._watched:
            signal.signal(number, self._received)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # so that the run can take its terminal back

    def _received(self, number: int, _frame: object) -> None:
        if number in self.stops:
            self.has_received = True
            raise Interrupted

    def __enter__(self) -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self.stops)

    def __exit__(self, *_error: object) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, self.stops)

    def wait(self) -> int:
        """Wait for a stop signal, the end of a child or an alarm, and return its number."""
        if hasattr(signal, "sigwaitinfo"):
            info = signal.sigwaitinfo(self._watched)
            number, is_of_kernel = info.si_signo, info.si_code > 0
        else:
            number, is_of_kernel = signal.sigwait(self._watched), False
        self.is_key = is_of_kernel and number in KEYS
        self.has_received |= number in self.stops and not (number == signal.SIGALRM and self.has_timer)
        return number

    def wake_after(self, seconds: int) -> None:
        """Make `wait` return SIGALRM after some seconds; 0 cancels it."""
        signal.alarm(seconds)
        if not seconds and self.has_timer and signal.SIGALRM in signal.sigpending():
            signal.sigwait({signal.SIGALRM})
        self.has_timer = bool(seconds)

    def has_come(self) -> bool:
        """Return whether a stop signal has arrived, even if it is still blocked."""
        return self.has_received or bool(self.stops & signal.sigpending())
