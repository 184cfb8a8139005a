# --- Signals, held back while the run thinks, and the processes that outlive a runner.
GRACE = 5.0  # seconds from SIGTERM to SIGKILL
def started_at(pid):
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        state, *fields = file.read(4096).rpartition(b")")[2].split()
        return int(fields[18]) if state not in (b"Z", b"X") else None
    return None
def is_alive(process):
    pid, since = process["pid"], process["since"]
    return type(pid) is type(since) is int and pid > 1 and started_at(pid) == since  # no command is 0 or 1
def signal_groups(groups, *numbers):
    for group in groups:
        for number in numbers:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
def end_groups(left):
    groups = [process["pid"] for process in left]
    signal_groups(groups, signal.SIGTERM, signal.SIGCONT)
    deadline = time.monotonic() + GRACE
    while any(map(is_alive, left)) and time.monotonic() < deadline:
        time.sleep(0.02)
    signal_groups(groups, signal.SIGKILL)

STOPS = ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "XCPU", "ALRM", "VTALRM", "PROF", "POLL", "PWR", "STKFLT")
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)  # commands get the others as TERM

class Interrupted(KeyboardInterrupt):
    pass

class Signals:
    def __init__(self):
        wanted = [signal.Signals[f"SIG{name}"] for name in STOPS if hasattr(signal, f"SIG{name}")]
        self.stops = {number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN}
        self._has_received, self.has_timer = False, False  # an alarm not of the run's own is a stop like any other
        self._watched = {*self.stops, signal.SIGCHLD, signal.SIGALRM}
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, self._watched)
        for number in self._watched:
            signal.signal(number, self._received)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # the run takes its terminal back
    def _received(self, number, _frame):
        if number in self.stops:
            self._has_received = True
            raise Interrupted
    def __enter__(self):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self.stops)
    def __exit__(self, *_error):
        signal.pthread_sigmask(signal.SIG_BLOCK, self.stops)
    def wait(self):
        number = signal.sigwait(self._watched)
        self._has_received |= number in self.stops and not (number == signal.SIGALRM and self.has_timer)
        return number
    def wake_after(self, seconds):
        signal.alarm(seconds)
        if not seconds and self.has_timer and signal.SIGALRM in signal.sigpending():
            signal.sigwait({signal.SIGALRM})
        self.has_timer = bool(seconds)
    def has_come(self):
        return self._has_received or bool(self.stops & signal.sigpending())

