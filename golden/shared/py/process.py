# --- Processes: each in a group of its own, of which nothing is left behind, with the keys of the terminal (M2, R5).
PATIENCE = 10  # seconds from a stop signal, or from the end of a time limit (I21), to SIGKILL
IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU)  # by Python and by this runner
KEYS = (-signal.SIGINT, -signal.SIGQUIT, 128 + signal.SIGINT)

class Foreground:  # The controlling terminal, if there is one. SIGTTOU is ignored while it is used.
    def __init__(self):
        self._is_lent, self.terminal, self._ours, self._theirs = False, -1, None, None
        with suppress(OSError):
            self.terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    def is_ours(self):  # Tell whether this process is in the foreground.
        with suppress(OSError):
            return os.tcgetpgrp(self.terminal) == os.getpgrp()
        return False
    def lend(self, group, again=False):  # Give the foreground away, if it is ours.
        if self.is_ours():
            self._ours = self._swap(self._theirs if again else None)
            with suppress(OSError):  # the command may have ended already
                os.tcsetpgrp(self.terminal, group)
                self._is_lent = True
    def take_back(self):  # Take it back, with its modes (a `stty -echo` may be left); tells whether it was lent.
        was_lent, self._is_lent = self._is_lent, False
        if was_lent:
            with suppress(OSError):  # the terminal may be gone
                os.tcsetpgrp(self.terminal, os.getpgrp())
            self._theirs = self._swap(self._ours)
        return was_lent
    def _swap(self, wanted):  # Return the modes of the terminal, and set others.
        modes = None
        with suppress(OSError, termios.error):
            modes = termios.tcgetattr(self.terminal)
            if wanted is not None:
                termios.tcsetattr(self.terminal, termios.TCSANOW, wanted)
        return modes

def in_words(code):  # Say how a process ended.
    if code >= 0:
        return f"exit code {code}" if code else ""
    names = {number.value: number.name for number in signal.Signals}
    return f"killed by {names.get(-code, f'signal {-code}')}"

class Processes:  # Begins processes, telling `began`, and waits for them; one alone has the terminal if it `lends`.
    def __init__(self, signals, lends, began):
        self._signals, self._lends, self._began, self._foreground = signals, lends, began, Foreground()
        self._is_stopping = False
    def spawn(self, path, words, environment, files=()):  # Begin a process, with a group of its own.
        signals = {"setsigmask": self._signals.before, "setsigdef": IGNORED_HERE}
        group = os.posix_spawnp(path, words, environment, file_actions=files, setpgroup=0, **signals)
        self._began(group)
        return group
    def watch(self, groups, seconds=0, ended=lambda _index: None):  # Wait until they end, or are ended.
        codes = {}
        self._left, self._late = list(groups), set()
        try:
            if self._lends and len(groups) == 1:
                self._foreground.lend(groups[0])
            while self._left:
                self._heed(self._signals.wait())
                for group in list(self._left):
                    pid, status = os.waitpid(group, os.WNOHANG | os.WUNTRACED)
                    if pid and os.WIFSTOPPED(status) and self._foreground.terminal >= 0:
                        self._stopped(group, os.WSTOPSIG(status))
                    elif pid and not os.WIFSTOPPED(status):
                        codes[group] = os.waitstatus_to_exitcode(status)
                        self._left.remove(group)
        finally:
            had_keys = self._foreground.take_back()
            signal_groups(self._left, signal.SIGKILL)
            for group in self._left:
                os.waitpid(group, 0)
        is_stopped = self._is_stopping or (had_keys and not set(KEYS).isdisjoint(codes.values()))
        signal_groups(groups if is_stopped else self._late, signal.SIGKILL)  # R5: what has outlived its leader
        if is_stopped:
            raise Interrupted
        return list(map(codes.get, groups))
    def _heed(self, number):  # End what runs when the run is told to end or the time is up (I21): at last by SIGKILL.
        is_time, is_ending = number == signal.SIGALRM and self._signals.has_timer, self._is_stopping or self._late
        if is_time and is_ending:
            number = signal.SIGKILL
        elif number in self._signals.stops:
            self._is_stopping, number = True, number if number in FORWARDED else signal.SIGTERM
        else:
            return
        if not is_ending:
            self._signals.wake_after(PATIENCE)
        signal_groups(self._left, number, signal.SIGCONT)
    def _stopped(self, group, number):  # Stop with it (Ctrl-Z) and go on; one that wanted the terminal gets it.
        self._foreground.take_back()
        if number not in (signal.SIGTTIN, signal.SIGTTOU) or not self._foreground.is_ours():
            signal_groups([os.getpgrp()], signal.SIGTSTP)
        self._foreground.lend(group, again=True)
        signal_groups([group], signal.SIGCONT)

