# --- Processes: each in its own group, which a stop or a time limit ends whole, with the keys of the terminal.
PATIENCE = 10  # seconds from a stop signal, or from the end of a time limit, to SIGKILL
IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU)  # by Python and by this runner
KEYS = {-signal.SIGINT, -signal.SIGQUIT, 128 + signal.SIGINT}
def in_words(code):
    if code is None:
        return "out of time"
    if code >= 0:
        return f"exit code {code}" if code else ""
    return f"killed by {next((each.name for each in signal.Signals if each == -code), f'signal {-code}')}"

class Processes:
    def __init__(self, signals, lends, began):
        self._signals, self._lends, self._began = signals, lends, began
        self._left = []  # the groups that are waited for
        self._late = set()  # those whose time is up
        self._is_stopping, self._terminal = False, -1
        self._ours = None  # the modes of the terminal, while it is lent
        with suppress(OSError):
            self._terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    def spawn(self, path, words, environment, files=()):
        signals = {"setsigmask": self._signals.before, "setsigdef": IGNORED_HERE}
        group = os.posix_spawnp(path, words, environment, file_actions=files, setpgroup=0, **signals)
        self._began(group)
        return group
    def watch(self, groups, seconds=0, ended=lambda _index, _code: None):
        codes = {}
        self._left, self._late = list(groups), set()
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
                        ended(groups.index(group), None if self._is_stopping or group in self._late else codes[group])
        finally:
            had_keys = self._take_back() is not None
            signal_groups(self._left, signal.SIGKILL)
            for group in self._left:
                os.waitpid(group, 0)
        if self._is_stopping or (had_keys and not KEYS.isdisjoint(codes.values())):
            signal_groups(groups, signal.SIGKILL)  # what has outlived its leader
            raise Interrupted
        signal_groups(self._late, signal.SIGKILL)
        if seconds:
            self._signals.wake_after(0)
        return [None if group in self._late else codes[group] for group in groups]
    def _heed(self, number):
        was_ending = self._is_stopping or bool(self._late)
        if number == signal.SIGALRM and self._signals.has_timer:
            self._late.update(self._left)
            number = signal.SIGKILL if was_ending else signal.SIGTERM
        elif number in self._signals.stops:
            self._is_stopping, number = True, number if number in FORWARDED else signal.SIGTERM
        else:
            return
        if not was_ending:
            self._signals.wake_after(PATIENCE)
        signal_groups(self._left, number, signal.SIGCONT)
    def _stopped(self, group, number):
        theirs = self._take_back()
        if number not in (signal.SIGTTIN, signal.SIGTTOU) or not self._lend(group, theirs):
            signal_groups([os.getpgrp()], signal.SIGTSTP)
            self._lend(group, theirs)
        signal_groups([group], signal.SIGCONT)
    # --- The controlling terminal, if there is one. SIGTTOU is ignored while it is used ---
    def _lend(self, group, modes=None):
        with suppress(OSError):
            if os.tcgetpgrp(self._terminal) == os.getpgrp():
                self._ours = self._give(group, modes)
        return self._ours is not None
    def _take_back(self):
        ours, self._ours = self._ours, None
        return self._give(os.getpgrp(), ours) if ours else None
    def _give(self, group, modes):
        import termios
        before = None
        with suppress(OSError, termios.error):  # the terminal may be gone, and the command
            before = termios.tcgetattr(self._terminal)
            if modes:
                termios.tcsetattr(self._terminal, termios.TCSANOW, modes)
            os.tcsetpgrp(self._terminal, group)
        return before

