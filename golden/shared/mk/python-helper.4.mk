import codecs
import collections
import json
import os
import re
import select
import shlex
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

def keep(path, text):  # Write a file that has its name once it is whole.
    Path(f"{path}.new").write_bytes(text.encode("utf-8", "replace"))
    Path(f"{path}.new").replace(path)

def main(words):  # Do what the script asks for.
    says = REQUESTS[words[0]](*words[1:])
    if says:
        sys.stdout.buffer.write(says.encode("utf-8", "replace"))
        sys.stdout.flush()
        sys.exit(2)


EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130  # R3

class RefusedError(Exception):
    """A reason to go no further, after lines with details, for the operator; the exit code is 2 (R3)."""


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
# Texts of a document must not steer the terminal or hide what they say (C0, C1, bidi controls).
HIDDEN = "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"

def clean(text):  # Take the control characters out of a text; newlines and tabs stay.
    return re.sub(HIDDEN, "?", text.replace("\r\n", "\n"))

def one_line(text):  # Take the control characters out of a text that belongs on one line.
    return clean(" ".join(text.split()))

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
    def rule(self, text):  # Write one of the lines by which a run says where it stands (R3).
        self.line("rdc: " + clean(text).replace("\n", "?"))


GRACE = 5.0  # seconds from SIGTERM to SIGKILL
TOLERANCE = 5  # ticks: journals of older programs say when a process was recorded, which is a little later

def started_at(pid):  # Return when a process began, in ticks of the machine; None if it is gone, or without /proc.
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        state, *fields = file.read(4096).rpartition(b")")[2].split()
        return int(fields[18]) if state not in (b"Z", b"X") else None
    return None

def is_alive(process):  # Tell whether a recorded process still lives; another one may have its number by now.
    pid, since = process["pid"], process["since"]
    began = started_at(pid) if (type(pid), type(since)) == (int, int) and pid > 1 else None  # no command is 0 or 1
    return began is not None and abs(began - since) <= TOLERANCE

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


LARGEST_INPUT = 1 << 20  # bytes

def read_text(path):  # Read a text file that is given as an input, or holds several.
    with Path(path).open("rb") as file:
        content = file.read(LARGEST_INPUT + 1)
    if len(content) > LARGEST_INPUT:
        raise RefusedError(f"{path}: larger than {LARGEST_INPUT:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError(f"{path}: not UTF-8") from None


def pairs(place, words):  # Read `KEY=COMMAND` words.
    found = {}
    for word in words:
        key, equals, command = word.partition("=")
        if not equals or not command.strip() or "\0" in command:
            raise RefusedError(f"{place}: {one_line(word)}: expected NAME=COMMAND")
        found[key.strip()] = command
    return found

def read_pairs(place, path):  # Read a file of `KEY=COMMAND` lines; one that begins with `#` is a comment.
    lines = read_text(path).splitlines()
    return pairs(place, [line for line in lines if line.strip() and not line.lstrip().startswith("#")])


LARGEST_ANSWER = 1 << 20  # bytes
MOST_OBJECTS = 10_000  # places where a JSON object may begin: more are not tried, so that no answer takes for ever
BLANKS = " \t\n\r\v\f"
NO_TEXT = re.compile("[\0\ud800-\udfff]")

def decoded(answer):  # Return the text of an answer: what is not UTF-8, and NUL, is U+FFFD; no blanks around (I11).
    return cleaned(answer.decode("utf-8", errors="replace"))

def cleaned(text):  # Return a text without what no target could keep, and without blanks at both ends.
    return NO_TEXT.sub("\ufffd", text).strip(BLANKS)

def keywords_in(answer, keywords):  # Return the keywords of the line that decides; several are ambiguous (I12).
    ordered = sorted(keywords, key=len, reverse=True)
    alternatives = "|".join(f"({re.escape(keyword)})" for keyword in ordered)
    for flags in (0, re.IGNORECASE):
        pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", flags)
        for line in reversed(answer.split("\n")):
            found = {ordered[match.lastindex - 1] for match in pattern.finditer(line) if match.lastindex}
            if found:
                return found
    return set()

def is_found(pattern, answer):  # Tell whether a validation pattern matches somewhere in an answer (I12).
    return re.search(pattern, answer, re.IGNORECASE) is not None

def read_word(answer, keywords, validation=None, excused=(), search=is_found):
    """Return the word of an answer, or of none (I12)."""
    if not keywords:
        return "pass" if answer else "fail"
    if not answer:
        return "failed"
    found = keywords_in(answer, keywords)
    is_excused = len(found) == 1 and bool(found & set(excused))
    if validation is not None and not is_excused and not search(validation, answer):
        return "invalid"
    if len(found) > 1:
        return "ambiguous"
    return found.pop() if found else "none"

def joined_word(words, check, failing=(), unanimous=()):  # Join the words of entries (I14); `fail` fails.
    for trouble in ("failed", "invalid", "ambiguous"):
        if trouble in words:
            return trouble
    if words[0] in set(unanimous) and len(set(words)) == 1:
        return words[0]
    counted = [word for word in words if word != "none" and word not in set(unanimous)]
    bad = [word for word in counted if word in set(failing)]
    good = [word for word in counted if word not in set(failing)]
    if check == "any":
        return (good or bad or ["none"])[0]
    if bad:
        return bad[0]
    return "ambiguous" if len(set(good)) > 1 else (good or ["none"])[0]

def joined_answer(answers):  # Return the text of a parallel step: its answers, an empty line between two (I14).
    return "\n\n".join(answer for answer in answers if answer)

def extracted(answer, field):
    """Return the field of the last JSON object in an answer that has it, else the whole answer (I19)."""
    decoder = json.JSONDecoder(parse_constant=_no_json)
    place = len(answer)
    for _ in range(MOST_OBJECTS):
        place = answer.rfind("{", 0, place)
        if place < 0:
            break
        try:
            value, _end = decoder.raw_decode(answer[place:])  # an error looks at all that stands before it
        except (ValueError, RecursionError):
            continue
        if field in value:
            return _as_text(value[field])
    return answer

def _no_json(name):
    raise ValueError(f"{name} is no JSON, though Python takes it")

def _as_text(value):
    return cleaned(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))

def in_json(text):  # Return a text as it stands inside of a JSON string (I13).
    return json.dumps(text, ensure_ascii=False)[1:-1]


SH = "/bin/sh"
PIECE = 65536
LOOK = 100  # milliseconds until an exchange looks again whether its process has ended
GRACE_AFTER = 1.0  # seconds that what a process has left behind may still write

class Exchange(threading.Thread):
    """One exchange, by a thread: the runner itself waits for signals. `shown` is told the lines of the answer.

    A thread for each keeps a process that reads nothing, or never ends its output, from holding up another one.
    """
    def __init__(self, given, shown):
        super().__init__(daemon=True)
        self.answer = bytearray()
        self._given = memoryview(given)
        self._shown = shown
        self._group = 0
        self._over = threading.Event()
        self._theirs, self._to = os.pipe()
        self._from, self._back = os.pipe()
        for descriptor in (self._to, self._from):
            os.set_blocking(descriptor, False)
    @property
    def files(self):  # What the process is to find as its standard input and output.
        return [(os.POSIX_SPAWN_DUP2, self._theirs, 0), (os.POSIX_SPAWN_DUP2, self._back, 1)]
    @property
    def is_too_long(self):  # Whether more was said than an answer may have.
        return len(self.answer) > LARGEST_ANSWER
    def begin(self, group):  # Exchange with this process, which has been begun with `files`.
        self._group = group
        os.close(self._theirs)
        os.close(self._back)
        self.start()
    def abandon(self):  # Close everything: the process could not be begun.
        for descriptor in (self._theirs, self._back, self._to, self._from):
            os.close(descriptor)
    def finish(self):  # Take what is there once the process has ended; one that it left behind does not write for long.
        self._over.set()
        self.join(GRACE_AFTER)
        if self.is_alive():
            signal_groups([self._group], signal.SIGKILL)
            self.join()  # who is shown the answer may hold it up, and nothing of it must be lost
    def run(self):  # Give and take until the output ends.
        lines = Lines(self._shown)
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        poll.register(self._to, select.POLLOUT)
        is_giving, deadline = True, 0.0
        while not self.is_too_long:
            if self._over.is_set() and not deadline:
                deadline = time.monotonic() + GRACE_AFTER
            is_late = deadline and time.monotonic() > deadline
            ready = dict(poll.poll(0 if is_late else LOOK))
            if self._to in ready and not self._give():
                poll.unregister(self._to)
                os.close(self._to)
                is_giving = False
            if self._from in ready:
                data = os.read(self._from, PIECE)
                if not data:
                    break
                self.answer += data
                lines.take(data)
            elif is_late:
                break
        lines.take(b"", is_last=True)
        os.close(self._from)
        if is_giving:
            os.close(self._to)
        if self.is_too_long:
            self._end()
    def _give(self):  # Write a piece; tells whether there is more that somebody reads.
        if self._given:
            with suppress(BlockingIOError):
                try:
                    self._given = self._given[os.write(self._to, self._given[:PIECE]) :]
                except BrokenPipeError:  # it does not read all of it, and need not
                    return False
        return bool(self._given)
    def _end(self):
        signal_groups([self._group], signal.SIGTERM)
        signal_groups([self._group], signal.SIGCONT)
        if not self._over.wait(PATIENCE):
            signal_groups([self._group], signal.SIGKILL)

class Lines:  # Cuts what arrives in pieces into lines.
    def __init__(self, shown):
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._shown = shown
        self._rest = ""
    def take(self, data, is_last=False):  # Pass on the lines that are whole, all that came together at once.
        *whole, self._rest = (self._rest + self._decoder.decode(data, is_last)).split("\n")
        if self._rest and (is_last or len(self._rest) > PIECE):
            whole.append(self._rest)
            self._rest = ""
        if whole:
            self._shown("\n".join(whole))

# A command for `sh -c`, its environment, what it gets on standard input, and who is shown its answer.
Call = collections.namedtuple("Call", "command environment given shown")

# What a called command said, and why that is no answer (I11), "" if it is one.
Answered = collections.namedtuple("Answered", "answer trouble")

def exchange(processes, calls, seconds, ended=lambda _index: None):  # Call commands at the same time (I21).
    exchanges = []
    groups = []
    try:
        for call in calls:
            exchanges.append(Exchange(call.given, call.shown))
            words = [b"sh", b"-c", os.fsencode(call.command)]
            groups.append(processes.spawn(SH, words, call.environment, exchanges[-1].files))
            exchanges[-1].begin(groups[-1])
    except OSError:
        for one in exchanges[len(groups) :]:
            one.abandon()
        signal_groups(groups, signal.SIGKILL)
        for group in groups:
            os.waitpid(group, 0)
        raise

    def finished(index):
        exchanges[index].finish()
        ended(index)

    how = processes.watch(groups, seconds, finished)
    return list(map(_answered, exchanges, how))

def _answered(one, code):
    if one.is_too_long:
        return Answered(b"", f"more than {LARGEST_ANSWER:,} bytes")
    return Answered(bytes(one.answer), in_words(code))


LONGEST_SEARCH = 60  # seconds: an hour may not be enough for `\\d+:` in a megabyte of digits
SEARCH = """
import json, re, signal, sys
signal.alarm(int(sys.argv[1]))
pattern, answer = json.load(sys.stdin)
print(re.search(pattern, answer, re.IGNORECASE) is not None)
"""

class SearchError(Exception):
    """What kept a process from looking for a pattern."""

def searched_word(processes, what, answer):  # Return the word of an agent's answer, and what went wrong.
    settings = what.get("keywords", ()), what.get("validation"), what.get("excused", ())
    try:
        return read_word(answer, *settings, search=lambda pattern, text: _is_found(processes, pattern, text)), ""
    except SearchError as error:
        return read_word(None, *settings), f"looking for its validation pattern: {error}"

def _is_found(processes, pattern, answer):
    words = [sys.executable, "-I", "-S", "-W", "ignore", "-c", SEARCH, str(LONGEST_SEARCH)]
    given = json.dumps([pattern, answer]).encode()
    call = Call(f"exec {shlex.join(words)}", os.environb, given, lambda _lines: None)
    (answered,) = exchange(processes, [call], LONGEST_SEARCH)
    if answered.trouble:
        raise SearchError(answered.trouble)
    return answered.answer == b"True\n"


OURS = ("RDC_AGENT_GIVEN", "RDC_TOOLS_FILE")  # how the script says what make was given

# --- Which command is called ------------------------------------------------------------------------------------------

def command_for(kind, name):  # Return the command of an agent type or a connection, "" if there is none.
    if kind == "tool":
        return listed("RDC_TOOLS_FILE").get(name, "")
    given = os.environ.get("RDC_AGENT_GIVEN")
    return given or listed("RDC_AGENTS").get(name) or os.environ.get("RDC_AGENT", "")

def listed(variable):  # Return the commands of the file that a variable names.
    path = os.environ.get(variable)
    try:
        return read_pairs(path, path) if path else {}
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}") from None

def check(wanted):  # Say what is missing for a run that would come to an agent or a tool without a command.
    try:
        for kind, name in json.loads(wanted):
            if command_for(kind, name):
                continue
            if kind == "tool":
                return f"there is no command for the connection {name}: give TOOLS=FILE with a line {name}=COMMAND"
            which = f"the agent {name}" if name else "the agents"
            return f"there is no command for {which}: give AGENT=COMMAND, or set RDC_AGENT or RDC_AGENTS"
    except RefusedError as error:
        return str(error)
    return ""

def converse(driver, left, seconds, calls):
    """Return the answers of commands that run at the same time, None for one that gave none (I11)."""
    is_one, display = len(calls) == 1, Display(sys.stderr)
    heard = [[] for _ in calls]
    common = {name: value for name, value in os.environ.items() if name not in OURS}

    def show(lines):
        for line in clean(lines).split("\n"):
            display.line(f"    {line}".rstrip())

    made = []
    for (_, command, given, own), lines in zip(calls, heard):  # Python 3.9 has no `strict`
        variables = {os.fsencode(name): os.fsencode(value) for name, value in {**common, **own}.items()}
        made.append(Call(command, variables, given, show if is_one else lines.append))
    with running(driver, left, display) as processes:
        answers = exchange(processes, made, seconds)
    end_left(left)
    for (name, *_), answered, lines in zip(calls, answers, heard):
        if not is_one:
            display.line(f"    {clean(name)}:")
        for line in [*lines, *([answered.trouble] if answered.trouble else [])]:
            show(line)
    return list(map(_answer, answers))

def _answer(answered):
    return None if answered.trouble else decoded(answered.answer)

def call_agents(driver, left, call, paths):
    """Call the agents of a unit, and return its word and its text. `paths` are those of prompts, then of answers."""
    entries, is_parallel = call["entries"], "check" in call
    prompts, kept = paths[: len(entries)], paths[len(entries) :]
    calls = []
    for index, entry in enumerate(entries):
        own = {"RDC_AGENT_TYPE": entry["agent"]}
        if is_parallel:
            own |= {"RDC_ENTRY": str(index), "RDC_UNIT": entry["name"]}
        command = command_for("agent", entry["agent"])
        calls.append((entry["name"], command, Path(prompts[index]).read_bytes(), own))
    found = converse(driver, left, call["timeout"], calls)
    words = read_words(driver, left, entries, found)
    for path, answer in zip(kept, found):
        keep(path, answer or "")
    if not is_parallel:
        return words[0], found[0] or ""
    return joined_word(words, call["check"], call["failing"], call["unanimous"]), joined_answer(found)

def read_words(driver, left, entries, found):  # Return the word of each answer (I12).
    words, display = [], Display(sys.stderr)
    with running(driver, left, display) as processes:
        for entry, answer in zip(entries, found):
            word, trouble = searched_word(processes, entry, answer)
            words.append(word)
            if trouble:
                display.line(f"    {trouble}")
    end_left(left)
    return words

def call_tool(driver, left, call, values):  # Call the tool of a unit, and return its word and its result (I13).
    arguments = ""
    for part in call["arguments"]:
        if isinstance(part, str):
            arguments += part
            continue
        value = values[part["register"]]
        arguments += in_json(part["missing"] if value is None else part["before"] + value + part["after"])
    given = f'{{"tool": {json.dumps(call["tool"])}, "arguments": {arguments}}}\n'.encode("utf-8", "replace")
    command = command_for("tool", call["connection"])
    if not command and call.get("optional"):
        Display(sys.stderr).line(f"    no command is named: TOOLS=FILE with a line {call['connection']}=COMMAND")
        return "fail", ""
    (result,) = converse(driver, left, call["timeout"], [(call["tool"], command, given, {})])
    return ("fail", "") if result is None else ("pass", result)

def values_of(registers, folder):
    """Return what registers hold, from their variables in the script: `rdc_n1_a=3 rdc_s1_b=7`."""
    found = {}
    for pair in registers.split():
        name, _, value = pair.partition("=")
        if not name.startswith("rdc_s"):
            found[name] = value
        elif value == "0":
            found[name] = None
        else:
            found[name] = Path(folder, f"{name}.{value}").read_bytes().decode("utf-8", "replace")
    return found

def call_out(driver, left, order, registers, folder, outcome, *paths):
    """Make the call that is described in a file; its word and its text are files too. Of no outcome nothing is kept."""
    call, (answer, *others) = json.loads(Path(order).read_bytes()), paths
    try:
        if "tool" in call:
            word, text = call_tool(driver, left, call, values_of(registers, folder))
        else:
            word, text = call_agents(driver, left, call, others)
    except (OSError, RefusedError) as error:
        Display(sys.stderr).rule(str(error))
        sys.exit(1)
    keep(answer, text)
    keep(outcome, call["tokens"].get(word, word) + "\n")
    return ""

REQUESTS.update({"check": check, "call": call_out})


NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")

def unfit(value, kind, options=(), pattern=None):
    """Return what is wrong with a value of an input of some type, in words; "" if nothing is."""
    if "\0" in value:
        return "it holds a NUL character"
    if kind == "number" and not NUMBER.fullmatch(value):
        return "it is not a decimal number"
    if kind == "boolean" and value not in ("true", "false"):
        return "it is neither true nor false"
    if kind == "choice" and value not in options:
        return f"it is none of {', '.join(options)}"
    if kind == "string" and ("\n" in value or "\r" in value):
        return "it has more than one line"
    if pattern is not None and not re.fullmatch(pattern, value):
        return f"it does not match {pattern}"
    return ""


def extract(answer, field, target):  # Keep a field of an answer; all three are files.
    text = Path(answer).read_bytes().decode("utf-8", "replace")
    keep(target, extracted(text, Path(field).read_bytes().decode("utf-8")))
    return ""

def fits(rule, value):  # Return why a value breaks a rule; both are files.
    text = Path(value).read_bytes().decode("utf-8", "surrogateescape")
    return unfit(text, *json.loads(Path(rule).read_bytes()))

REQUESTS.update({"extract": extract, "fits": fits})

main(sys.argv[1:])
