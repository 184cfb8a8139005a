import codecs
import collections
import json
import math
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
from functools import cached_property
from pathlib import Path
from urllib.parse import quote


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

def duration(seconds):  # Write a time as a person says it.
    minutes, rest = divmod(int(seconds), 60)
    longer = f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
    return longer if minutes else f"{seconds:.1f} s"

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
    last = None
    said = None
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
                        is_cut = self._is_stopping or group in self._late
                        self.last = None if is_cut else codes[group]
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


# A command, and the `version` it was read from; where `{model}` stands, `model` goes with the name of a model.
Recipe = collections.namedtuple("Recipe", "name version command model")

RECIPES = (
    Recipe("claude-code", "2.1", "claude -p --output-format text --permission-mode dontAsk{model}", "--model"),
    Recipe("codex", "0.169", "codex exec --ephemeral --color never -s read-only{model} -", "-m"),
    Recipe("gemini", "0.61", "gemini -o text --approval-mode plan --skip-trust{model}", "-m"),
    Recipe("llm", "0.36", "llm{model}", "-m"),
    Recipe("copilot", "documentation of 2026-11", "copilot -s --no-ask-user{model}", "--model"),
    Recipe("opencode", "documentation of 2026-11", "opencode run{model}", "--model"),
    # The prompt is an argument here, of which a system takes 128 KiB at most.
    Recipe("cursor", "documentation of 2026-11", 'cursor-agent -p --output-format text{model} -- "$(cat)"', "--model"),
)

def is_recipe(agent):  # Tell whether an agent is called by a name of this table.
    return any(recipe.name == agent.strip() for recipe in RECIPES)

def called(agent, model=''):
    """Return the command of an agent: that of the recipe if it is the name of one, else the agent itself.

    Raises RefusedError where a model is named for what is no recipe.
    """
    recipe = next((recipe for recipe in RECIPES if recipe.name == agent.strip()), None)
    if recipe is not None:
        return recipe.command.replace("{model}", f" {recipe.model} {shlex.quote(model)}" if model else "")
    if model:
        names = ", ".join(recipe.name for recipe in RECIPES)
        raise RefusedError(f"a model needs an agent that is called by name: {names}; name it in the command instead")
    return agent


TIME_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
LONGEST_TIME = 10**9  # seconds

def seconds_of(option, given):  # Return the seconds of a time; `option` is for the refusal of what is none.
    found = re.fullmatch(r"([0-9]{1,9})([smhd]?)", given)
    seconds = int(found[1]) * TIME_UNITS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST_TIME:
        raise RefusedError(f"{option} {one_line(given)!a}: give a time such as 90s, 30m, 24h or 7d")
    return seconds

def number_of(option, given, least):  # Return a number that an option takes.
    if not re.fullmatch("[0-9]{1,9}", given) or int(given) < least:
        raise RefusedError(f"{option} {one_line(given)!a}: give a number, at least {least}")
    return int(given)


KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\[\]{},"'#&*!|>%@`-][^#]*?|-[^\s#][^#]*?):(?:[ \t]+(.*)|)""")
BLOCK = re.compile(r"\|([+-]?)[ \t]*(?:#.*)?")
COMMENT = re.compile(r"\s#.*")
DEEPEST = 20

class PlainError(ValueError):
    """What is not in this part of YAML; the message begins with the number of the line."""

class Source:  # The lines of a file, and how far they were read.
    def __init__(self, text):
        self.lines = text.replace("\r\n", "\n").split("\n")
        self.at = 0
    def wrong(self, problem):  # Return an error at the line that was read last.
        return PlainError(f"{min(self.at + 1, len(self.lines))}: {problem}")
    def next(self):  # Return the indentation and the text of the next line that says anything; it stays the next one.
        while self.at < len(self.lines):
            line = self.lines[self.at]
            said = line.lstrip(" ")
            if said.startswith("\t"):
                raise self.wrong("a tab indents this line: use spaces")
            if said and not said.startswith("#") and not (said.rstrip() in ("---", "...") and said == line):
                return len(line) - len(said), said.rstrip()
            self.at += 1
        return None

def read_plain(text):  # Read a file; raises PlainError.
    lines = Source(text)
    found = _value(lines, 0, 0)
    if lines.next() is not None:
        raise lines.wrong("this line is indented less or more than what it belongs to")
    return found

def _value(lines, least, depth):
    """Read the list, the keys or the text that begins at the next line, which is indented by `least` at least."""
    first = lines.next()
    if first is None or first[0] < least:
        return ""
    if depth > DEEPEST:
        raise lines.wrong("too many values within each other")
    indent, said = first
    if said == "-" or said.startswith("- "):
        return _list(lines, indent, depth)
    if KEY.fullmatch(said):
        return _keys(lines, indent, depth)
    lines.at += 1
    return _text_of(lines, said, max(least - 1, 0))

def _list(lines, indent, depth):
    found = []
    while (line := lines.next()) and line[0] == indent and (line[1] == "-" or line[1].startswith("- ")):
        rest = line[1][1:].lstrip(" ")
        if not rest or rest.startswith("#"):
            lines.at += 1
            found.append(_value(lines, indent + 1, depth + 1))
        elif BLOCK.fullmatch(rest) or not (KEY.fullmatch(rest) or rest.startswith("- ")):
            lines.at += 1
            found.append(_text_of(lines, rest, indent))
        else:  # keys or a list begin in the line of the dash: they are indented as far as they stand
            inner = indent + len(line[1]) - len(rest)
            lines.lines[lines.at] = " " * inner + rest
            found.append(_value(lines, inner, depth + 1))
    return found

def _keys(lines, indent, depth):
    found = {}
    while (line := lines.next()) and line[0] == indent:
        pair = KEY.fullmatch(line[1])
        if pair is None:
            raise lines.wrong("expected `KEY: value`")
        name, rest = _plain(lines, pair[1].rstrip()), COMMENT.sub("", f" {pair[2] or ''}").strip()
        if name in found:
            raise lines.wrong(f"{name} stands here a second time")
        written = (pair[2] or "").strip()
        lines.at += 1
        if rest and not rest.startswith("#"):
            found[name] = _text_of(lines, written, indent)
            continue
        following = lines.next()  # a list may stand as far to the left as its key
        is_list = following and following[0] == indent and (following[1] == "-" or following[1].startswith("- "))
        found[name] = _value(lines, indent if is_list else indent + 1, depth + 1)
    return found

def _text_of(lines, said, indent):  # Read a text, whose first line was read, or a list or keys in brackets.
    block = BLOCK.fullmatch(said)
    if block:
        return _block(lines, block[1], indent)
    if said[0] in "[{":
        return _Flow(lines, said).whole()
    return _plain(lines, said)

def _plain(lines, said):  # Read a plain or quoted text of one line.
    if said[0] == "'":
        single = re.fullmatch(r"'((?:[^']|'')*)'\s*(?:#.*)?", said)
        if single:
            return single[1].replace("''", "'")
    elif said[0] == '"':
        double = re.fullmatch(r'("(?:[^"\\]|\\.)*")\s*(?:#.*)?', said)
        with suppress(ValueError):  # what JSON reads, YAML reads alike
            if double:
                return str(json.loads(double[1]))
    elif not re.match(r"[&*!%@`|>\[\]{},]|[?:-](\s|$)", said) and not re.search(r":\s|:$", COMMENT.sub("", said)):
        return COMMENT.sub("", said).rstrip()
    lines.at -= 1
    raise lines.wrong("expected a string: put quotes around it, or write it as a block after `|`")

def _block(lines, ends, indent):  # Read the lines of a text that are indented further.
    found = []
    while lines.at < len(lines.lines):
        line = lines.lines[lines.at]
        if line.strip(" ") and len(line) - len(line.lstrip(" ")) <= indent:
            break
        found.append(line)
        lines.at += 1
    widths = [len(line) - len(line.lstrip(" ")) for line in found if line.strip(" ")]
    depth = min(widths, default=max(map(len, found), default=0))
    text = "\n".join(line[depth:] for line in found)
    text += "" if lines.at == len(lines.lines) else "\n"  # the last line of a file may have no end
    body = text.rstrip("\n")
    if ends == "+":
        return text
    return body if ends == "-" or not body else text[: len(body) + 1]

class _Flow:  # A list or keys in brackets, on one line.
    WORD = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\[\]{},:"'\s?](?:[^\[\]{},:]|:(?=\S))*|[\[\]{},:])""")
    def __init__(self, lines, said):
        self._lines = lines
        self._words = []
        place = 0
        while place < len(said) and (word := self.WORD.match(said, place)) and not said[place:].strip().startswith("#"):
            self._words.append(word[1].strip())
            place = word.end()
        self._rest = said[place:].strip()
    def whole(self):  # Return the value.
        try:
            found = self._value(0)
        except IndexError:
            raise self._wrong() from None
        if self._words or (self._rest and not self._rest.startswith("#")):
            raise self._wrong()
        return found
    def _wrong(self):
        self._lines.at -= 1
        return self._lines.wrong("brackets are not closed in this line, or something stands behind them")
    def _value(self, depth):
        word = self._words.pop(0)
        if depth > DEEPEST or word in "]},:":
            raise self._wrong()
        if word == "[":
            return self._items(depth)
        if word == "{":
            return self._pairs(depth)
        return _plain(self._lines, word)
    def _items(self, depth):
        found = []
        while self._words[0] != "]":
            found.append(self._value(depth + 1))
            if self._words[0] == ",":
                self._words.pop(0)
            elif self._words[0] != "]":
                raise self._wrong()
        self._words.pop(0)
        return found
    def _pairs(self, depth):
        found = {}
        while self._words[0] != "}":
            name = self._value(DEEPEST)
            if not isinstance(name, str) or self._words.pop(0) != ":":
                raise self._wrong()
            found[name] = self._value(depth + 1)
            if self._words[0] == ",":
                self._words.pop(0)
            elif self._words[0] != "}":
                raise self._wrong()
        self._words.pop(0)
        return found


KINDS = ("agents", "tools", "executors")
KIND_OF = {"agent": "agents", "tool": "tools"}  # by how the key of a call begins

# What is answered, or why that fails, "" if it does not.
Reply = collections.namedtuple("Reply", "text trouble", defaults=('',))
READ_AS = {"executors": lambda _place, found: found}
"""How the items of a kind are read: those of executors by who plays them."""

def mocks_in(path, text):  # Read the text of a file of mocks, in YAML or JSON; `path` is what the file is called.
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else read_plain(text)
    except PlainError as error:
        raise RefusedError(f"{path}:{error}") from None
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}: not JSON: {error}") from None
    known = ", ".join(f"`{kind}`" for kind in KINDS)
    if not isinstance(found, dict) or not set(found) <= set(KINDS):
        raise RefusedError(f"{path}: a file of mocks has the keys {known}, and no others")
    return {kind: _by_name(path, kind, found.get(kind) or {}) for kind in KINDS}

def _by_name(path, kind, found):
    if not isinstance(found, dict):
        raise RefusedError(f"{path}: `{kind}` has a list of answers for each name")
    read = READ_AS.get(kind, _reply)
    return {
        name: [read(f"{path}: {kind}: {name}", reply) for reply in _listed(replies)] for name, replies in found.items()
    }

def _listed(replies):
    return replies if isinstance(replies, list) else [replies]

def _reply(place, found):
    if isinstance(found, dict) and set(found) == {"fail"}:
        return Reply("", " ".join(_reply(place, found["fail"]).text.split()) or "as the mock says")
    if isinstance(found, str):
        return Reply(found)
    if isinstance(found, (bool, int, float)):
        return Reply(json.dumps(found))
    raise RefusedError(f"{place}: expected a string, or {{fail: why}}")

def reply_to(mocks, kind, name, number):  # Return the answer to a call, by its number from 0; None where there is none.
    replies = mocks[kind].get(name, [])
    return replies[number] if number < len(replies) else None


GIVEN = "RDC_GIVEN_"  # begins the variables by which the script says what make was given

def given(name):  # Return what make was given as NAME=VALUE, "" if that is nothing.
    return os.environ.get(f"{GIVEN}{name}", "")

def read_commands(place, path):  # Return the commands of a file, which may be none.
    try:
        return read_pairs(place, path) if path else {}
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}") from None

class Orders:  # What the operator wants to be called, and how often and how long.
    @cached_property
    def mocks(self):  # The answers of a mock run, in which nothing is called.
        path = given("MOCK")
        try:
            return mocks_in(path, read_text(path)) if path else None
        except OSError as error:
            raise RefusedError(f"{path} cannot be read: {error.strerror}") from None
    @cached_property
    def retries(self):  # How often a call of an agent that fails is made again.
        return number_of("AGENT_RETRIES", given("AGENT_RETRIES") or "0", 0)
    @cached_property
    def seconds(self):  # How long a call of an agent may take, 0 where the operator says nothing.
        text = given("AGENT_TIMEOUT")
        return seconds_of("AGENT_TIMEOUT", text) if text else 0
    @cached_property
    def jobs(self):  # How many entries of a parallel step are called at the same time, 0 for all.
        return number_of("JOBS", given("JOBS"), 1) if given("JOBS") else 0
    @cached_property
    def _agents(self):
        path = given("AGENTS")
        if path:
            return read_commands(path, path)
        path = "" if given("AGENT") else os.environ.get("RDC_AGENTS", "")
        return read_commands(f"RDC_AGENTS {path}", path)
    @cached_property
    def _tools(self):
        path = given("TOOLS")
        return read_commands(path, path)
    def agent(self, kind):  # Return the command for a type of agent, "" if there is none.
        found = self._agents.get(kind) or given("AGENT") or os.environ.get("RDC_AGENT", "")
        if self.mocks is not None or not found.strip():
            return "mock" if self.mocks is not None else ""
        return called(found, given("AGENT_MODEL") if is_recipe(found) else "")
    def tool(self, connection, tool, is_optional):
        """Return the command for a tool, "" if there is none; an optional one that no mock has is one without."""
        if self.mocks is None:
            return self._tools.get(connection, "")
        return "" if is_optional and f"{connection}/{tool}" not in self.mocks["tools"] else "mock"
    def mocked(self, key, number):  # Return the answer of a mock run to a call, by its number from 0.
        kind, _, name = key.partition(" ")
        return reply_to(self.mocks, KIND_OF[kind], name, number) if self.mocks is not None else None
    def missing(self, kinds):
        """Say what is wrong with what make was given; agents of these types, which work together, need commands."""
        if given("AGENT_CALLS"):
            number_of("AGENT_CALLS", given("AGENT_CALLS"), 1)
        model, commands = (
            given("AGENT_MODEL"),
            [given("AGENT") or os.environ.get("RDC_AGENT", ""), *self._agents.values()],
        )
        if model and not any(map(is_recipe, commands)):
            called(next(filter(None, commands), ""), model)
        _ = self.retries, self.seconds, self.jobs, self.mocks, self._tools
        for kind in kinds:
            if not self.agent(kind):
                which = f"the agent {kind}" if kind else "the agents"
                return f"there is no command for {which}: give AGENT=COMMAND, or set RDC_AGENT or RDC_AGENTS"
        return ""


LARGEST_ANSWER = 1 << 20  # bytes
SPACES = " \t\n\r\v\f"
NO_TEXT = re.compile("[\0\ud800-\udfff]")
COLOURS = re.compile("\x1b\\[[0-?]*[ -/]*[@-~]")  # what tells a terminal how to show the words beside it

def decoded(answer):  # Return the text of an answer: what is not UTF-8, and NUL, is U+FFFD; no spaces around (I11).
    return cleaned(answer.decode("utf-8", errors="replace"))

def cleaned(text):  # Return a text without what no target could keep, and without spaces at both ends.
    return NO_TEXT.sub("\ufffd", text).strip(SPACES)

def keywords_in(answer, keywords):  # Return the keywords of the line that decides; several are ambiguous (I12).
    ordered = sorted(keywords, key=len, reverse=True)
    alternatives = "|".join(f"({re.escape(keyword)})" for keyword in ordered)
    # Underscores around a word are emphasis of Markdown; within one they belong to it.
    exact, alike = (re.compile(rf"(?<!\w)_*(?:{alternatives})(?!_*[^\W_])", flags) for flags in (0, re.IGNORECASE))
    said = set()
    for line in reversed(answer.split("\n")):
        found, folded = (
            {ordered[match.lastindex - 1] for match in pattern.finditer(line) if match.lastindex}
            for pattern in (exact, alike)
        )
        if found:  # what an earlier line says in exact case may be a quotation, and so may the word below it
            return found | said
        said = said or folded
    return said

def is_found(pattern, answer):  # Tell whether a validation pattern matches somewhere in an answer (I12).
    return re.search(pattern, answer, re.IGNORECASE) is not None

def read_word(answer, keywords, validation=None, excused=(), search=is_found):
    """Return the word of an answer, or of none (I12)."""
    if keywords:
        return _decided(answer, keywords, validation, excused, search)
    return "pass" if answer else "fail"

def _decided(answer, keywords, validation, excused, search):
    if not answer:
        return "failed"
    answer = COLOURS.sub("", answer)
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
        processes.said = _answered(exchanges[index], processes.last)
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
    return child_says(processes, SEARCH, [pattern, answer], LONGEST_SEARCH, "-S") == b"True\n"

def child_says(processes, code, given, seconds, *flags):
    """Return what a small program of Python says of a JSON value, in a process of its own."""
    words = [sys.executable, "-I", *flags, "-W", "ignore", "-c", code, str(seconds)]
    call = Call(f"exec {shlex.join(words)}", os.environb, json.dumps(given).encode(), lambda _lines: None)
    (answered,) = exchange(processes, [call], seconds)
    if answered.trouble:
        raise SearchError(answered.trouble)
    return answered.answer


AROUND_SECRETS = " \t\n\v\f\r"
SHORTEST = 4  # characters; what is shorter stands in too many words
CODES = re.compile(r"\\u[0-9a-f]{4}")
HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}  # as writers of JSON for pages escape them

def secret_value(name):
    """Return the value of a secret without what stands around it: commands print it without that too."""
    return os.environ.get(name, "").strip(AROUND_SECRETS)

def hidden_parts(names):
    """Return the pattern of values, of their lines, and of both as they stand in JSON, the longest first."""
    found = set()
    for value in map(secret_value, names):
        for part in {value, *(line.strip(AROUND_SECRETS) for line in value.split("\n"))}:
            found.update(_written(part) if len(part) >= SHORTEST else ())
    parts = map(re.escape, sorted(found, key=len, reverse=True))
    return re.compile("|".join(parts)) if found else None

def _written(part):
    """Return a text as it is, and in the ways in which it is written in JSON, also within a string of JSON."""
    once = {part, *_escaped(part)}
    once |= {each.replace("/", "\\/") for each in once}
    once |= {each.translate(HTML) for each in once}
    once |= {CODES.sub(lambda found: "\\u" + found[0][2:].upper(), each) for each in once}
    return once.union(*map(_escaped, once))

def _escaped(part):
    return {json.dumps(part, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}


PROMPTS, ANSWERS = "prompts", "answers"
LONGEST_NAME = 200  # characters of a file's name
FIRST_PAUSE = 2  # seconds until an agent is called again; each further pause is twice as long
AT_REST = "rest"  # as the last line, that nothing is called at present
AGENT, TOOL = "agent ", "tool "  # begin what is counted

class Account:  # The calls of a run, in `calls/tally` of its state directory: a line for each, before it is made.
    def __init__(self, folder):
        self._folder = Path(folder)
    def made(self):  # Return the calls so far; a line that was not written to its end is of a call that was not made.
        found = collections.Counter()
        with suppress(OSError):
            for line in (self._folder / "calls" / "tally").read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    found[json.loads(line)] += 1
        return found
    def note(self, keys):  # Note calls that are made now.
        self._write([json.dumps(key) for key in keys])
    def rest(self):  # Note that nothing is called: a run that goes on need not ask what became of it.
        self._write([AT_REST])
    def _write(self, lines):
        with (self._folder / "calls" / "tally").open("a", encoding="utf-8") as file:
            file.write("".join(f"\n{line}" for line in lines) + "\n")
    def again(self, node, tries, seconds):
        """Note when the calls of a step, which have failed so many times, are made again."""
        note = {"node": node, "calls": sum(self.made().values()), "tries": tries, "until": time.time() + seconds}
        keep(str(self._folder / "calls" / "again"), json.dumps(note) + "\n")
    def tried(self, node):
        """Return how many times the calls of a step have failed, and how many seconds are left until the next ones.

        If anything was called since that was noted, the step is another one, or done anew.
        """
        with suppress(OSError, ValueError, TypeError, KeyError):
            note = json.loads((self._folder / "calls" / "again").read_bytes())
            if (note["node"], note["calls"]) == (node, sum(self.made().values())):
                left = max(float(note["until"]) - time.time(), 0.0)
                return int(note["tries"]), min(left, FIRST_PAUSE * 2.0 ** (int(note["tries"]) - 1))
        return 0, 0.0
    def may_call(self, number):  # Tell whether so many agents may be called within the budget of the run.
        path = self._folder / "calls" / "budget"
        made = sum(count for key, count in self.made().items() if key.startswith(AGENT))
        return not path.exists() or made + number <= int(path.read_text())
    def keep(self, folder, name, text, number=0):  # Keep a text, as STEP.K for the K-th call, and return K.
        stem = self._folder / folder / quote(name, safe="{} ")[:LONGEST_NAME]
        while not number or (folder == PROMPTS and Path(f"{stem}.{number}").exists()):
            number += 1
        keep(f"{stem}.{number}", masked(text))
        return number

def masked(text):  # Return a text without what of secrets is hidden.
    pattern = hidden_parts(given("SECRETS").split())
    return pattern.sub("***", text) if pattern else text


ENTRIES = "entries"  # the folder of what the entries of the step at work have answered
BY_HAND = "-"  # in place of a word: there is no command, and a person is to answer

# A call: who is called, as what it is counted, its command, what it is given and its own variables.
One = collections.namedtuple("One", "name key command given own")

def check(kinds):  # Say what is wrong with what make was given, before anything runs.
    try:
        return Orders().missing(json.loads(kinds))
    except RefusedError as error:
        return str(error)

class Caller:  # Calls what a step wants.
    def __init__(self, driver, left, folder):
        self.orders, self.account = Orders(), Account(folder)
        self._step = os.environ.get("RDC_STEP", "")
        self._driver, self._left = driver, left
        self._display = Display(sys.stderr)
        self._entries = None  # where the answers of entries are kept, for a step that has some
    def converse(self, seconds, calls, retries=0):
        """Return the answers of commands that run at the same time, None for one that gave none (I11)."""
        found = self.earlier(calls)
        due = [index for index in range(len(calls)) if index not in found]
        with running(self._driver, self._left, self._display) as processes:
            before, left = self.account.tried(self._step)
            if left:
                self._sleep(processes, left)
            for tries in range(min(before, retries), retries + 1):
                self._count([calls[index] for index in due])
                said = self._call(processes, seconds, [calls[index] for index in due], tries)
                found.update(zip(due, said))  # Python 3.9 has no `strict`
                due = [index for index in due if not _answer(found[index])]
                if tries == retries or not due or not self.account.may_call(len(due)):
                    break
                troubles = (f"{calls[at].name}: {found[at].trouble or 'an empty answer'}" for at in due)
                self._pause(processes, ", ".join(troubles), tries)
        end_left(self._left)
        for index in [index for index in due if found[index].trouble]:
            self._show((f"{calls[index].name}: " if len(calls) > 1 else "") + found[index].trouble)
        return [_answer(found[index]) for index in range(len(calls))]
    def earlier(self, calls):
        """Return the answers of entries that had come before the run was interrupted: these are not called again."""
        paths = [self._entries / str(index) for index in range(len(calls))] if self._entries else []
        return {index: Answered(path.read_bytes(), "") for index, path in enumerate(paths) if path.exists()}
    def _settle(self, one, answered):  # Keep the answer of an entry as soon as it is there.
        if self._entries and _answer(answered):
            keep(str(self._entries / one.own["RDC_ENTRY"]), masked(decoded(answered.answer)))
    def _count(self, calls):
        made = self.account.made()
        for one in calls:
            if self.orders.mocks is not None and self.orders.mocked(one.key, made[one.key]) is None:
                kind, _, name = one.key.partition(" ")
                number, where = made[one.key] + 1, one_line(f"{KIND_OF[kind]}: {name}")
                raise RefusedError(f"{one.name}: {given('MOCK')} has no answer number {number} under {where}")
        self.account.note(one.key for one in calls)
    def _call(self, processes, seconds, calls, tries):  # Call commands once, and keep what they were given and said.
        numbers = [self.account.keep(PROMPTS, one.name, one.given) for one in calls]
        if self.orders.mocks is not None:
            answers = list(map(self._mocked, calls))
        else:
            most = self.orders.jobs or len(calls) or 1
            pieces = [calls[place : place + most] for place in range(0, len(calls), most)]
            answers = [said for piece in pieces for said in self._exchange(processes, seconds, piece, tries)]
        for one, number, answered in zip(calls, numbers, answers):
            self.account.keep(ANSWERS, one.name, decoded(answered.answer), number)
            self._settle(one, answered)
        return answers
    def _mocked(self, one):
        reply = self.orders.mocked(one.key, self.account.made()[one.key] - 1)
        if reply is None or reply.trouble:
            return Answered(b"", reply.trouble if reply else "no answer")
        if reply.text:
            self._show(reply.text.rstrip("\n"))
        return Answered(reply.text.encode("utf-8", "replace"), "")
    def _exchange(self, processes, seconds, calls, tries):
        heard = [[] for _ in calls]
        common = {name: value for name, value in os.environ.items() if not name.startswith(GIVEN)}
        common["RDC_ATTEMPT"] = str(int(common.get("RDC_ATTEMPT", "1")) + tries)
        made = []
        for one, lines in zip(calls, heard):  # Python 3.9 has no `strict`
            variables = {os.fsencode(name): os.fsencode(value) for name, value in {**common, **one.own}.items()}
            shown = self._show if len(calls) == 1 else lines.append
            made.append(Call(one.command, variables, one.given.encode("utf-8", "replace"), shown))
        answers = exchange(processes, made, seconds, lambda index: self._settle(calls[index], processes.said))
        for one, lines in zip(calls, heard):
            if len(calls) > 1:
                self._display.line(f"    {one_line(one.name)}:")
            for line in lines:
                self._show(line)
        return answers
    def _pause(self, processes, trouble, tries):
        """Wait before another attempt, in which a run that is ended can go on without a decision."""
        seconds = FIRST_PAUSE * 2**tries
        self._display.line(f"    {one_line(trouble)}; trying again in {duration(seconds)}")
        self.account.again(self._step, tries + 1, seconds)
        self.account.rest()
        self._sleep(processes, seconds)
    @staticmethod
    def _sleep(processes, seconds):
        sleeping = Call(f"exec sleep {math.ceil(seconds)}", os.environb, b"", lambda _lines: None)
        exchange(processes, [sleeping], 0)
    def _show(self, lines):
        for line in clean(lines).split("\n"):
            self._display.line(f"    {line}".rstrip())
    def word(self, entry, answer):  # Return the word of an answer (I12).
        with running(self._driver, self._left, self._display) as processes:
            word, trouble = searched_word(processes, entry, answer)
        end_left(self._left)
        if trouble:
            self._show(trouble)
        return word
    def agents(self, call, prompts, folder):  # Call the agents of a step, and return its word and its text.
        entries, is_parallel = call["entries"], "check" in call
        calls = []
        for index, entry in enumerate(entries):
            name = entry["name"] if is_parallel else os.environ.get("RDC_STEP", "")
            own = {"RDC_ENTRY": str(index), "RDC_STEP": name} if is_parallel else {}
            command = self.orders.agent(entry["agent"])
            if not command:
                return BY_HAND, ""
            own["RDC_AGENT_TYPE"] = entry["agent"]
            calls.append(One(name, f"{AGENT}{name}", command, text_in(prompts[index]), own))
        self._entries = Path(folder, ENTRIES) if is_parallel else None
        found = self.converse(self.orders.seconds or call["timeout"], calls, self.orders.retries)
        words = [self.word(entry, answer) for entry, answer in zip(entries, found)]
        if not is_parallel:
            return words[0], found[0] or ""
        return joined_word(words, call["check"], call["failing"], call["unanimous"]), joined_answer(found)
    def tool(self, call, values):  # Call the tool of a step, and return its word and its result (I13).
        connection, tool, is_optional = call["connection"], call["tool"], bool(call.get("optional"))
        command = self.orders.tool(connection, tool, is_optional)
        if not command and is_optional:
            self._show(f"no command is named: TOOLS=FILE with a line {connection}=COMMAND")
            return "fail", ""
        if not command:
            return BY_HAND, ""
        one = One(os.environ.get("RDC_STEP", ""), f"{TOOL}{connection}/{tool}", command, request(call, values), {})
        (result,) = self.converse(call["timeout"], [one])
        return ("fail", "") if result is None else ("pass", result)

def request(call, values):  # Return what the command of a tool is given.
    arguments = ""
    for part in call["arguments"]:
        if isinstance(part, str):
            arguments += part
            continue
        value = values[part["register"]]
        arguments += in_json(part["missing"] if value is None else part["before"] + value + part["after"])
    return f'{{"tool": {json.dumps(call["tool"])}, "arguments": {arguments}}}\n'

def _answer(answered):
    return None if answered.trouble else decoded(answered.answer)

def text_in(path):  # Return the text of a file; what is not UTF-8 is U+FFFD.
    return Path(path).read_bytes().decode("utf-8", "replace")

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
            found[name] = text_in(str(Path(folder, "values", f"{name}.{value}")))
    return found

def call_out(driver, left, folder, registers, answer, *prompts):
    """Make the call that is described in a file; its word and its text are files too. Of no outcome nothing is kept."""
    call, outcome = json.loads(Path(folder, "call").read_bytes()), str(Path(folder, "outcome"))
    caller = Caller(driver, left, folder)
    try:
        if "tool" in call:
            word, text = caller.tool(call, values_of(registers, folder))
        else:
            word, text = caller.agents(call, prompts, folder)
    except (OSError, RefusedError) as error:
        caller.account.rest()
        keep(outcome, f"! {one_line(str(error))}\n")
        return ""
    if word == BY_HAND:
        caller.account.rest()
    keep(answer, masked(text))
    keep(outcome, call.get("tokens", {}).get(word, word) + "\n")
    return ""

def shown(folder, registers, asked):  # Write down what a tool would be given.
    call = json.loads(Path(folder, "call").read_bytes())
    keep(asked, masked(request(call, values_of(registers, folder))))
    return ""

def replied(driver, left, folder, answer, asked, reply):  # Take the answer that a person gives in place of a command.
    call, caller = json.loads(Path(folder, "call").read_bytes()), Caller(driver, left, folder)
    text = cleaned(text_in(reply))
    word = "pass" if "tool" in call else caller.word(call["entries"][0], text or None)
    name = os.environ.get("RDC_STEP", "")
    caller.account.keep(ANSWERS, name, text, caller.account.keep(PROMPTS, name, text_in(asked)))
    caller.account.rest()
    keep(answer, masked(text))
    keep(str(Path(folder, "outcome")), call.get("tokens", {}).get(word, word) + "\n")
    return ""

REQUESTS.update({"check": check, "call": call_out, "shown": shown, "replied": replied})


def heading_date():  # Return the time as it stands in headings.
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())

@contextmanager
def folder_of_reports(folder, at=None):
    """Open the folder of reports, by its path from an open directory, and make it; a link in its place is refused."""
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700, dir_fd=at)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
    try:
        yield opened
    finally:
        os.close(opened)

def report_blocks(folder, texts):  # Return what is added to which report for these texts; an empty one adds nothing.
    date, found = heading_date(), {}
    for report, text in texts.items():
        size = report_size(os.path.join(folder, f"{report}.md"))
        if text:
            found[report] = (size, "\n" * bool(size) + f"## {date}\n\n{text}\n")
    return found

def report_size(path):  # Return the size of a report; what is in its place and none has none.
    try:
        about = os.lstat(path)
    except OSError:
        return 0
    return about.st_size if stat.S_ISREG(about.st_mode) else 0

def add_block(folder, report, place, text, at=None):  # Add a block to a report at a place, unless it stands there.
    name, draft, block = f"{report}.md", f".{report}.new", text.encode("utf-8", "replace")
    with folder_of_reports(folder, at) as inside:
        before = read_report(name, inside)
        if before[place : place + len(block)] == block:
            return
        with open_new(draft, inside) as file:
            file.write(before[:place] + block + before[place:])
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, name, src_dir_fd=inside, dst_dir_fd=inside)

def open_new(path, at=None):
    """Open a new file; what an agent may have put in its place is not followed, nor waited for."""
    with suppress(FileNotFoundError):
        os.unlink(path, dir_fd=at)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=at), "wb")

def read_report(path, at=None):
    """Read a report; what an agent may have put in its place is not followed, nor waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=at)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return file.read()


def texts_reported(call, folder, answer):
    """Return what is added to which report: of a parallel step, to those of its entries too."""
    found = {}
    for index, entry in enumerate(call["entries"] if "check" in call else ()):
        with suppress(FileNotFoundError):
            found[entry["name"]] = text_in(str(Path(folder, ENTRIES, str(index))))
    return {**found, call["report"]: text_in(answer)}

def planned_blocks(folder, token, call, answer):
    """Return what is added for an outcome: what was written down when that was first asked for."""
    path = Path(folder, "calls", "reports")
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):  # what is damaged is made again
        found = json.loads(path.read_bytes())
        if found["of"] == token:
            return {report: (place, text) for report, (place, text) in found["blocks"].items()}
    texts = {report: masked(text) for report, text in texts_reported(call, folder, answer).items()}
    plan = report_blocks(str(Path(folder, "reports")), texts)
    keep(str(path), json.dumps({"of": token, "blocks": plan}))
    return plan

def report_call(folder, answer, token):
    """Add what the call has said that is described in a file; `token` tells outcomes apart."""
    call = json.loads(Path(folder, "call").read_bytes())
    if "report" not in call:
        return ""
    for name, (place, text) in planned_blocks(folder, token, call, answer).items():
        try:
            add_block(str(Path(folder, "reports")), name, place, text)
        except OSError as error:
            return one_line(f"the report {name} cannot be written: {error.strerror}")
    return ""

REQUESTS["report"] = report_call

main(sys.argv[1:])
