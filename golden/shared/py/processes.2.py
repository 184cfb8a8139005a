# --- Processes: each in a group of its own, of which nothing is left behind (M2, R5).
PATIENCE = 10  # seconds from a stop signal, or from the end of a time limit (I21), to SIGKILL
IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU)  # by Python and by this runner
KEYS = (-signal.SIGINT, -signal.SIGQUIT, 128 + signal.SIGINT)

Ended = namedtuple("Ended", "code is_late", defaults=(False,))  # Its exit code (negative: a signal).

def in_words(ended):  # Say how a process ended.
    if ended.is_late:
        return "out of time"
    if ended.code >= 0:
        return f"exit code {ended.code}" if ended.code else ""
    names = {number.value: number.name for number in signal.Signals}
    return f"killed by {names.get(-ended.code, f'signal {-ended.code}')}"

class Processes:  # Begins processes and waits for them: for one with the terminal, or for several at the same time.
    def __init__(self, signals, lends, began):
        """`lends` tells whether one gets the terminal; `began` is told the number of each as soon as it runs."""
        self._signals, self._lends, self._began, self._foreground = signals, lends, began, Foreground()
        self._is_stopping = False
        self._left = []
        self._late = set()

    def spawn(self, path, words, environment, files=()):
        """Begin a process and return its number, which is that of its group too."""
        signals = {"setsigmask": self._signals.before, "setsigdef": IGNORED_HERE}
        group = os.posix_spawnp(path, words, environment, file_actions=files, setpgroup=0, **signals)
        self._began(group)
        return group

    @staticmethod
    def end(groups):  # End processes at once, with all of their groups.
        for group in groups:
            signal_group(group, signal.SIGKILL)
            os.waitpid(group, 0)

    def watch(self, groups, seconds=0, ended=lambda _index: None):
        """Wait for processes, so many seconds at most; a stop signal, or one that a key ended, interrupts the run."""
        codes = {}
        self._left, self._late = list(groups), set()
        try:
            if self._lends and len(groups) == 1:
                self._foreground.lend(groups[0])
            if seconds:
                self._signals.wake_after(seconds)
            while self._left:
                self._heed(self._signals.wait())
                for group, code in self._collect():
                    codes[group] = code
                    self._left.remove(group)
                    ended(groups.index(group))
        finally:
            had_keys = self._foreground.take_back()
            self.end(self._left)
        is_stopped = self._is_stopping or (had_keys and not set(KEYS).isdisjoint(codes.values()))
        for group in groups if is_stopped else self._late:
            signal_group(group, signal.SIGKILL)  # R5: what of the group has outlived its leader
        if is_stopped:
            raise Interrupted
        if seconds:
            self._signals.wake_after(0)
        return [Ended(codes[group], group in self._late) for group in groups]

    def _heed(self, number):
        """End what runs when the run is told to end, or when the time is up (I21): at last by SIGKILL."""
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
        for group in self._left:
            signal_group(group, number, signal.SIGCONT)

    def _collect(self):  # Return the groups that have ended since, with their exit codes.
        found = []
        for group in self._left:
            pid, status = os.waitpid(group, os.WNOHANG | os.WUNTRACED)
            if pid and not os.WIFSTOPPED(status):
                found.append((group, os.waitstatus_to_exitcode(status)))
            elif pid and self._foreground.exists():
                self._stopped(group, os.WSTOPSIG(status))
        return found

    def _stopped(self, group, number):
        """Stop with the process (Ctrl-Z) and go on with it; one that asked for the terminal gets it."""
        self._foreground.take_back()
        if number not in (signal.SIGTTIN, signal.SIGTTOU) or not self._foreground.is_ours():
            signal_group(os.getpgrp(), signal.SIGTSTP)
        self._foreground.lend(group, again=True)
        signal_group(group, signal.SIGCONT)

