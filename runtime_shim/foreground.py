"""The foreground of the terminal: lent to a command while it runs, so that its keys reach it (R5)."""

from __future__ import annotations

import os
from contextlib import suppress


class Foreground:
    """The controlling terminal, if there is one. SIGTTOU is ignored while it is used."""

    def __init__(self) -> None:
        try:
            self._terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            self._terminal = -1
        self._is_lent = False

    def is_ours(self) -> bool:
        """Tell whether this process is in the foreground."""
        try:
            return self._terminal >= 0 and os.tcgetpgrp(self._terminal) == os.getpgrp()
        except OSError:
            return False

    def exists(self) -> bool:
        """Tell whether there is a terminal at all."""
        return self._terminal >= 0

    def lend(self, group: int) -> None:
        """Give the foreground to a process group, unless this process is in the background itself."""
        if self.is_ours():
            with suppress(OSError):  # the command may have ended already
                os.tcsetpgrp(self._terminal, group)
                self._is_lent = True

    def take_back(self) -> bool:
        """Take it back; tells whether it was lent."""
        if not self._is_lent:
            return False
        self._is_lent = False
        with suppress(OSError):  # the terminal may be gone
            os.tcsetpgrp(self._terminal, os.getpgrp())
        return True
