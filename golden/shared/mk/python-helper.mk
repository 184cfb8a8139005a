import json
import os
import select
import shutil
import signal
import stat
import sys
import termios
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path


REQUESTS = {}
"""What the script may ask for; each returns what is wrong, "" if nothing is. Modules add what they do."""

def main(words):  # Do what the script asks for.
    says = REQUESTS[words[0]](*words[1:])
    if says:
        sys.stdout.buffer.write(says.encode("utf-8", "replace"))
        sys.stdout.flush()
        sys.exit(2)


EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130  # R3


STOPS = ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "XCPU", "ALRM", "VTALRM", "PROF", "POLL", "PWR", "STKFLT")
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)  # commands get the others as TERM

class Interrupted(KeyboardInterrupt):
    """The operator, or the system, told the run to end."""

class Signals:  # What would end a run, blocked until it is waited for: a handler loses one just before a call.
    def __init__(self):
        wanted = [signal.Signals[f"SIG{name}"] for name in STOPS if hasattr(signal, f"SIG{name}")]
        self.stops = {number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN}
        self._has_received, self.has_timer = False, False  # an alarm not of the run's own is a stop like any other
        self._watched = {*self.stops, signal.SIGCHLD, signal.SIGALRM}
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, self._watched)
        self._handlers = {number: signal.signal(number, self._received) for number in self._watched}
        self._handlers[signal.SIGTTOU] = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # it takes its terminal back
    def _received(self, number, _frame):
        if number in self.stops:
            self._has_received = True
            raise Interrupted
    def wait(self):  # Wait for a stop signal, the end of a child or an alarm; returns its number.
        number = signal.sigwait(self._watched)
        self._has_received |= number in self.stops and not (number == signal.SIGALRM and self.has_timer)
        return number
    def wake_after(self, seconds):  # Have `wait` return SIGALRM after a time; 0 takes it back.
        signal.alarm(seconds)
        if not seconds and self.has_timer and signal.SIGALRM in signal.sigpending():
            signal.sigwait({signal.SIGALRM})
        self.has_timer = bool(seconds)
    def has_come(self):  # Tell whether a stop signal has come, be it received or still held back.
        return self._has_received or bool(self.stops & signal.sigpending())
    def release(self):
        """Let signals do what they did before; those that have come are too late, since the run has its end."""
        signal.alarm(0)
        while self._watched & signal.sigpending():
            self.wait()
        for number, handler in self._handlers.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)

@contextmanager
def held_back():  # Hold signals back for a while; a run does so until its process ends.
    signals = Signals()
    try:
        yield signals
    finally:
        signals.release()


STALLED = 100  # milliseconds until a writer whom nobody reads looks again whether it was told to end

class Display:  # Lines on a stream, in colour where it is a terminal that wants it.
    def __init__(self, stream):
        self._stream, self.is_terminal = stream, stream.isatty()
        self.gives_up = lambda: False  # whether what nobody takes is not waited for any more
        self._colour = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._dash = "—" if "utf" in (stream.encoding or "").lower() else "-"
    def put(self, text, file, encoding='utf-8'):  # Write; a pipe that has stalled is left once the run was told to end.
        data = text.encode(encoding, "backslashreplace")
        # A pipe that is ready takes this much without waiting. A line in a file is written at once, and so never torn.
        step = len(data) if stat.S_ISREG(os.fstat(file).st_mode) else select.PIPE_BUF
        poll = select.poll()
        poll.register(file, select.POLLOUT)
        while data:
            if poll.poll(STALLED):
                data = data[os.write(file, data[:step]) :]
            elif self.gives_up():
                return
    def line(self, text='', end='\n'):  # Write a line; a log that nobody reads any more does not stop a run.
        with suppress(OSError, ValueError):
            self.put(text + end, self._stream.fileno(), self._stream.encoding)


GRACE = 5.0  # seconds from SIGTERM to SIGKILL

def started_at(pid):  # Return when a process began, in ticks of the machine; None if it is gone, or without /proc.
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        state, *fields = file.read(4096).rpartition(b")")[2].split()
        return int(fields[18]) if state not in (b"Z", b"X") else None
    return None

def is_alive(process):  # Tell whether a recorded process still lives; another one may have its number by now.
    pid, since = process["pid"], process["since"]
    began = started_at(pid) if (type(pid), type(since)) == (int, int) and pid > 1 else None  # no command is 0 or 1
    return began is not None and began == since

def signal_groups(groups, *numbers):  # Send signals to process groups that may be gone.
    for group in groups:
        for number in numbers:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)

def end_groups(left):  # End the process groups of processes that were left behind.
    groups = [process["pid"] for process in left]
    signal_groups(groups, signal.SIGTERM, signal.SIGCONT)
    deadline = time.monotonic() + GRACE
    while any(map(is_alive, left)) and time.monotonic() < deadline:
        time.sleep(0.02)
    signal_groups(groups, signal.SIGKILL)


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
    if code is None:
        return "out of time"
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
    def _heed(self, number):  # End what runs when the run is told to end or the time is up (I21): at last by SIGKILL.
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
    def _stopped(self, group, number):  # Stop with it (Ctrl-Z) and go on; one that wanted the terminal gets it.
        self._foreground.take_back()
        if number not in (signal.SIGTTIN, signal.SIGTTOU) or not self._foreground.is_ours():
            signal_groups([os.getpgrp()], signal.SIGTSTP)
        self._foreground.lend(group, again=True)
        signal_groups([group], signal.SIGCONT)


TICK = 0.05  # seconds between two looks at whether the script still lives
LATE, NOT_BEGUN, NOT_FOUND = 124, 126, 127  # exit codes by which the script knows how a command ended

@contextmanager
def running(driver, left, display):
    """Let processes run until this one is told to end, or the script that drives it is gone.

    `driver` is the process of the script, and `left` the file of what it has begun: what was left behind there by one
    that was killed is ended first.
    """
    end_left(left)
    for number in (signal.SIGINT, signal.SIGQUIT):  # a shell has what runs beside it ignore them
        signal.signal(number, signal.SIG_DFL)
    with held_back() as signals:
        display.gives_up = signals.has_come
        threading.Thread(target=end_with, args=(int(driver),), daemon=True).start()
        try:
            yield Processes(signals, os.isatty(0) and os.isatty(2), lambda group: begun(left, group))
        except Interrupted:
            sys.exit(EXIT_INTERRUPTED)

def end_with(driver):  # End this process, and so all that it has begun, as soon as the script is gone.
    while os.getppid() == driver:
        time.sleep(TICK)
    os.kill(os.getpid(), signal.SIGTERM)

def begun(left, group):  # Note a process, to be found again if this one is killed.
    with suppress(OSError), Path(left).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"pid": group, "since": started_at(group)}) + "\n")

def _alive(left):  # Return the processes of a file that still run; none if it cannot be read.
    with suppress(OSError, ValueError, KeyError, TypeError):
        return [found for found in map(json.loads, Path(left).read_text().splitlines()) if is_alive(found)]
    return []

def end_left(left):  # End the processes of a file that still run.
    end_groups(_alive(left))
    with suppress(OSError):
        Path(left).unlink()
    return ""

def living(left):  # Return the numbers of the processes of a file that still run.
    return ", ".join(str(found["pid"]) for found in _alive(left))

def limited(driver, left, seconds, *words):  # Run a command with a time limit and end as it ends.
    path = shutil.which(words[0])
    if path is None:
        sys.exit(NOT_FOUND)
    display = Display(sys.stderr)
    with running(driver, left, display) as processes:
        try:
            group = processes.spawn(path, list(map(os.fsencode, words)), os.environb)
        except OSError:
            sys.exit(NOT_BEGUN)
        (code,) = processes.watch([group], int(seconds))
    end_left(left)
    if code is None:
        display.line(f"    {in_words(code)}")
        sys.exit(LATE)
    sys.exit(0 if code == 0 else 1)

REQUESTS.update({"limited": limited, "end": end_left, "living": living})

main(sys.argv[1:])
