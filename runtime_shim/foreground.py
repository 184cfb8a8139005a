"""The foreground of the terminal: lent to a command while it runs, so that its keys reach it (R5)."""

import os
import termios
from contextlib import suppress
from typing import Any, Optional

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
