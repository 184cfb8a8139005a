"""Processes in groups that a stop or time limit ends as a whole, and the terminal they borrow."""

import os
import signal
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.signals import FORWARDED, KEYS, Interrupted, signal_groups

PATIENCE = 10  # seconds from a stop signal or time limit to SIGKILL
IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU)  # by Python and this runner
BY_KEY = {code for key in KEYS for code in (-key, 128 + key)}
# Ends with 9 after a key. It is in the group of a command, because keys reach only that group.
LISTENER = "ulimit -c 0; trap '' TERM HUP; trap 'exit 9' INT QUIT; read -r _"
Environment = Mapping[bytes, bytes]
Codes = list["int | None"]
Ended = Callable[[int, "int | None"], None]
"""Gets an ended process's index and exit code, which is negative for a signal, None for a timeout."""


def in_words(code: "int | None") -> str:
    """Return how a process ended, or "" for exit code 0."""
    if code is None:
        return "out of time"
    if code >= 0:
        pipe = ": SIGPIPE, a pipeline's reader ended early" if code == 128 + signal.SIGPIPE else ""
        return f"exit code {code}{pipe}" if code else ""
    return f"killed by {next((each.name for each in signal.Signals if each == -code), f'signal {-code}')}"


def kill(groups: Sequence[int]) -> None:
    """Kill the groups of processes that this one started, and wait until they are gone."""
    signal_groups(groups, signal.SIGKILL)
    for group in groups:
        os.waitpid(group, 0)


class Processes:
    """Starts processes, calls `began` for each, and waits for them; a single one gets the terminal if `lends`."""

    said: Any
    around: Any = (list, bool)  # to call before and after a process; the first returns file actions

    def __init__(self, signals: Any, lends: bool, began: Callable[[int], None]) -> None:
        self._signals, self._lends, self._began = signals, lends, began
        self._terminal, self._listener = -1, (0, 0)  # its pid, and the pipe that ends it
        self._ours: list[Any] | None = None  # the terminal's modes while a command has it
        with suppress(OSError):  # without signals, this call only describes a step
            self._terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY) if signals else -1

    def spawn(self, path: str, words: list[bytes], environment: Environment, files: Sequence[Any] = ()) -> int:
        """Start a process in its own group and return the group."""
        more: dict[str, Any] = {"setsigmask": self._signals.before, "setsigdef": IGNORED_HERE, "setpgroup": 0}
        group = os.posix_spawnp(path, words, environment, file_actions=[*self.around[0](), *files], **more)
        self._began(group)
        return group

    def watch(self, groups: Sequence[int], seconds: int = 0, ended: Ended = lambda _index, _code: None) -> Codes:
        """Wait until the groups have ended, or end them, and return their codes."""
        codes: dict[int, int] = {}
        self._left, self._is_stopping, self._is_ending = list(groups), False, False  # the groups still running
        self._late: set[int] = set()  # the groups whose time is up
        try:
            if self._lends and len(groups) == 1:
                self._lend(groups[0])
            if seconds:
                self._signals.wake_after(seconds)
            while self._left:
                self._heed(self._signals.wait())
                for group in list(self._left):
                    pid, status = os.waitpid(group, os.WNOHANG | os.WUNTRACED)
                    if os.WIFSTOPPED(status) and self._terminal >= 0:
                        self._stopped(group, os.WSTOPSIG(status))
                    elif pid and not os.WIFSTOPPED(status):
                        codes[group] = os.waitstatus_to_exitcode(status)
                        self._left.remove(group)
                        ended(groups.index(group), None if group in self._late else codes[group])
        finally:
            had_keys = self._take_back() is not None
            self._is_stopping |= self._heard() or (had_keys and not BY_KEY.isdisjoint(codes.values()))
            kill(self._left)
            self.around[1]()
        signal_groups(groups if self._is_stopping else self._late, signal.SIGKILL)  # also leftovers
        if seconds or self._is_ending:
            self._signals.wake_after(0)
        found = [None if group in self._late else codes[group] for group in groups]
        if self._is_stopping and any(code != 0 for code in found):
            raise Interrupted
        self._signals.has_received |= self._is_stopping  # the run stops before its next step
        return found

    def _listen(self, group: int) -> None:
        """Start the listener for keys, unless it runs or the group is gone."""
        if self._listener[0]:
            return
        end, ours = os.pipe()
        moves = [(os.POSIX_SPAWN_DUP2, end, 0)]
        with suppress(OSError):
            words = ["sh", "-c", LISTENER]
            pid = os.posix_spawn("/bin/sh", words, {}, file_actions=moves, setpgroup=group, setsigmask=())
            self._listener, ours = (pid, ours), end
        for each in {end, ours}:
            os.close(each)

    def _heard(self) -> bool:
        (pid, ours), self._listener = self._listener, (0, 0)
        if not pid:
            return False
        os.close(ours)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) in (9, *BY_KEY)

    def _heed(self, number: int) -> None:
        """End the processes after a stop signal or a timeout; after a key wait for them."""
        was_ending = self._is_ending
        if number == signal.SIGALRM and self._signals.has_timer:
            self._late.update(self._left)
            number = signal.SIGKILL if was_ending else signal.SIGTERM
        elif number in self._signals.stops:
            self._is_stopping, number = True, number if number in FORWARDED else signal.SIGTERM
        else:
            return
        if not (was_ending or self._signals.is_key):
            self._is_ending = True
            self._signals.wake_after(PATIENCE)
        signal_groups(self._left, number, signal.SIGCONT)

    def _stopped(self, group: int, number: int) -> None:
        """Stop together with a stopped process (Ctrl-Z) and continue both, with the terminal if it wanted that."""
        theirs = self._take_back()
        if number not in (signal.SIGTTIN, signal.SIGTTOU) or not self._lend(group, theirs):
            signal_groups([os.getpgrp()], signal.SIGTSTP)
            self._lend(group, theirs)
        signal_groups([group], signal.SIGCONT)

    # --- The controlling terminal, if any (SIGTTOU is ignored) ---

    def _lend(self, group: int, modes: "list[Any] | None" = None) -> bool:
        with suppress(OSError):
            if os.tcgetpgrp(self._terminal) == os.getpgrp():
                self._listen(group)
                self._ours = self._give(group, modes)
        return self._ours is not None

    def _take_back(self) -> "list[Any] | None":
        ours, self._ours = self._ours, None
        return self._give(os.getpgrp(), ours) if ours else None

    def _give(self, group: int, modes: "list[Any] | None") -> "list[Any] | None":
        before: list[Any] | None = None
        with suppress(OSError, termios.error):  # terminal or command may be gone
            before = termios.tcgetattr(self._terminal)
            if modes:
                termios.tcsetattr(self._terminal, termios.TCSANOW, modes)
            os.tcsetpgrp(self._terminal, group)
        return before
