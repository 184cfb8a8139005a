"""Processes: each in a group of its own, of which nothing is left behind, with the keys of the terminal (M2, R5)."""

import os
import signal
import termios
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Callable, Optional

from runtime_shim.engine.signals import FORWARDED, Interrupted, signal_groups

if TYPE_CHECKING:
    from typing import Protocol

    class Waiter(Protocol):
        """What is waited by: `Signals` in the main thread of a run, anything that can be cancelled in another one."""

        has_timer: bool

        @property
        def before(self) -> Iterable[int]:
            """The signals that stay blocked in what is begun."""

        @property
        def stops(self) -> Collection[int]:
            """The signals that mean the end."""

        def wait(self) -> int:
            """Return a stop, SIGALRM when the time is up, or SIGCHLD to have processes looked at."""

        def wake_after(self, seconds: int) -> None:
            """Have `wait` return SIGALRM after a time; 0 takes it back."""


PATIENCE = 10  # seconds from a stop signal, or from the end of a time limit (I21), to SIGKILL
IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU)  # by Python and by this runner
Code = Optional[int]  # of a process that has ended: negative for a signal, None where its time was up
KEYS = (-signal.SIGINT, -signal.SIGQUIT, 128 + signal.SIGINT)
Modes = Optional[list[Any]]


class Foreground:
    """The controlling terminal, if there is one. SIGTTOU is ignored while it is used."""

    _ours: Modes
    _theirs: Modes

    def __init__(self) -> None:
        self._is_lent, self.terminal, self._ours, self._theirs = False, -1, None, None
        with suppress(OSError):
            self.terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)

    def is_ours(self) -> bool:
        """Tell whether this process is in the foreground."""
        with suppress(OSError):
            return os.tcgetpgrp(self.terminal) == os.getpgrp()
        return False

    def lend(self, group: int, again: bool = False) -> None:
        """Give the foreground away, if it is ours."""
        if self.is_ours():
            self._ours = self._swap(self._theirs if again else None)
            with suppress(OSError):  # the command may have ended already
                os.tcsetpgrp(self.terminal, group)
                self._is_lent = True

    def take_back(self) -> bool:
        """Take it back, with its modes (a `stty -echo` may be left); tells whether it was lent."""
        was_lent, self._is_lent = self._is_lent, False
        if was_lent:
            with suppress(OSError):  # the terminal may be gone
                os.tcsetpgrp(self.terminal, os.getpgrp())
            self._theirs = self._swap(self._ours)
        return was_lent

    def _swap(self, wanted: Modes) -> Modes:
        """Return the modes of the terminal, and set others."""
        modes: Modes = None
        with suppress(OSError, termios.error):
            modes = termios.tcgetattr(self.terminal)
            if wanted is not None:
                termios.tcsetattr(self.terminal, termios.TCSANOW, wanted)
        return modes


def in_words(code: Code) -> str:
    """Say how a process ended."""
    if code is None:
        return "out of time"
    if code >= 0:
        return f"exit code {code}" if code else ""
    names = {number.value: number.name for number in signal.Signals}
    return f"killed by {names.get(-code, f'signal {-code}')}"


class Processes:
    """Begins processes, telling `began`, and waits for them; one alone has the terminal if it `lends`."""

    _left: list[int]
    _late: set[int]
    last: Code = None
    said: Any = None

    def __init__(self, signals: "Waiter", lends: bool, began: Callable[[int], None]) -> None:
        self._signals, self._lends, self._began, self._foreground = signals, lends, began, Foreground()
        self._is_stopping = False

    def spawn(
        self, path: str, words: list[bytes], environment: Mapping[bytes, bytes], files: Sequence[Any] = ()
    ) -> int:
        """Begin a process, with a group of its own."""
        signals: dict[str, Any] = {"setsigmask": self._signals.before, "setsigdef": IGNORED_HERE}
        group = os.posix_spawnp(path, words, environment, file_actions=files, setpgroup=0, **signals)
        self._began(group)
        return group

    def watch(
        self, groups: Sequence[int], seconds: int = 0, ended: Callable[[int], None] = lambda _index: None
    ) -> list[Code]:
        """Wait until they end, or are ended."""
        codes: dict[int, Code] = {}
        self._left, self._late = list(groups), set()
        try:
            if self._lends and len(groups) == 1:
                self._foreground.lend(groups[0])
            if seconds:
                self._signals.wake_after(seconds)
            while self._left:
                self._heed(self._signals.wait())
                for group in list(self._left):
                    pid, status = os.waitpid(group, os.WNOHANG | os.WUNTRACED)
                    if pid and os.WIFSTOPPED(status) and self._foreground.terminal >= 0:
                        self._stopped(group, os.WSTOPSIG(status))
                    elif pid and not os.WIFSTOPPED(status):
                        codes[group] = os.waitstatus_to_exitcode(status)
                        self._left.remove(group)
                        is_cut = self._is_stopping or group in self._late
                        self.last = None if is_cut else codes[group]
                        ended(groups.index(group))
        finally:
            had_keys = self._foreground.take_back()
            signal_groups(self._left, signal.SIGKILL)
            for group in self._left:
                os.waitpid(group, 0)
        is_stopped = self._is_stopping or (had_keys and not set(KEYS).isdisjoint(codes.values()))
        signal_groups(groups if is_stopped else self._late, signal.SIGKILL)  # R5: what has outlived its leader
        if is_stopped:
            raise Interrupted
        if seconds:
            self._signals.wake_after(0)
        codes.update(dict.fromkeys(self._late))
        return list(map(codes.get, groups))

    def _heed(self, number: int) -> None:
        """End what runs when the run is told to end or the time is up (I21): at last by SIGKILL."""
        is_time, is_ending = number == signal.SIGALRM and self._signals.has_timer, self._is_stopping or self._late
        if is_time and is_ending:
            number = signal.SIGKILL
        elif is_time:
            self._late, number = set(self._left), signal.SIGTERM
        elif number in self._signals.stops:
            self._is_stopping, number = True, number if number in FORWARDED else signal.SIGTERM
        else:
            return
        if not is_ending:
            self._signals.wake_after(PATIENCE)
        signal_groups(self._left, number, signal.SIGCONT)

    def _stopped(self, group: int, number: int) -> None:
        """Stop with it (Ctrl-Z) and go on; one that wanted the terminal gets it."""
        self._foreground.take_back()
        if number not in (signal.SIGTTIN, signal.SIGTTOU) or not self._foreground.is_ours():
            signal_groups([os.getpgrp()], signal.SIGTSTP)
        self._foreground.lend(group, again=True)
        signal_groups([group], signal.SIGCONT)
