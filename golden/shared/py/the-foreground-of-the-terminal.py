# --- The foreground of the terminal: lent to a command while it runs, so that its keys reach it (R5).
class Foreground:
    """The controlling terminal, if there is one. SIGTTOU is ignored while it is used."""

    def __init__(self):
        self._is_lent = False
        self._ours = None
        self._theirs = None
        try:
            self._terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            self._terminal = -1

    def exists(self):  # Tell whether there is a terminal at all.
        return self._terminal >= 0

    def is_ours(self):  # Tell whether this process is in the foreground.
        try:
            return self._terminal >= 0 and os.tcgetpgrp(self._terminal) == os.getpgrp()
        except OSError:
            return False

    def lend(self, group, again=False):
        """Give the foreground to a process group, unless this process is in the background itself."""
        if self.is_ours():
            self._ours = self._swap(self._theirs if again else None)
            with suppress(OSError):  # the command may have ended already
                os.tcsetpgrp(self._terminal, group)
                self._is_lent = True

    def take_back(self):
        """Take it back, with the modes that it had (a `stty -echo` may be left behind); tells whether it was lent."""
        if not self._is_lent:
            return False
        self._is_lent = False
        with suppress(OSError):  # the terminal may be gone
            os.tcsetpgrp(self._terminal, os.getpgrp())
        self._theirs = self._swap(self._ours)
        return True

    def _swap(self, wanted):  # Return the modes of the terminal, and set others.
        import termios

        modes = None
        with suppress(OSError, termios.error):
            modes = termios.tcgetattr(self._terminal)
        with suppress(OSError, termios.error):
            if wanted is not None:
                termios.tcsetattr(self._terminal, termios.TCSANOW, wanted)
        return modes

