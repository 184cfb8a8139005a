"""What the operator sees on standard error, line by line, and is asked at the terminal; what is told of steps (M8)."""

import os
import select
import signal
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Callable, Optional, TextIO

from runtime_shim.engine.journal import Record
from runtime_shim.engine.private import naming
from runtime_shim.engine.program import EXIT_COMPLETE, Table
from runtime_shim.engine.signals import Interrupted, Signals
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import MEANINGS, clean, one_line
from runtime_shim.engine.walk import Move, Registers, attempt_of, filled, instances_of

STALLED = 0.1  # seconds until a writer whom nobody reads looks again whether it was told to end
STYLES = {"bold": "1", "dim": "2", "pass": "32", "fail": "1;31"}


class Display:
    """Lines on a stream, in color where it is a terminal that wants it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self.is_terminal = stream, stream.isatty()
        self.rules = stream  # what `rule` writes to
        self.gives_up: Callable[[], bool] = lambda: False  # whether to leave a pipe that nobody reads
        self._color = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def put(self, text: str, file: int, encoding: str = "utf-8") -> None:
        """Write; a pipe that has stalled is left once the run was told to end."""
        data = text.encode(encoding, "backslashreplace")
        # A pipe that is ready takes this much without waiting. A line in a file is written at once, and so never torn.
        size = len(data) if stat.S_ISREG(os.fstat(file).st_mode) else select.PIPE_BUF
        while data:
            if select.select((), (file,), (), STALLED)[1]:
                data = data[os.write(file, data[:size]) :]
            elif self.gives_up():
                return

    def paint(self, text: str, style: str) -> str:
        """Give a text a style."""
        return f"\033[{STYLES.get(style, '1')}m{text}\033[0m" if self._color else text

    def line(self, text: str = "", end: str = "\n", stream: Optional[TextIO] = None) -> None:
        """Write a line; a log that nobody reads any more does not stop a run."""
        with suppress(OSError, ValueError):
            self.put(text + end, (stream or self._stream).fileno(), (stream or self._stream).encoding)

    def dim(self, lines: Iterable[str]) -> None:
        """Write lines that only explain."""
        for line in lines:
            self.line(self.paint(line, "dim"))

    def say(self, lines: Iterable[str]) -> int:
        """Write lines to standard output, for which the command was called."""
        with naming("standard output"):
            self.put("".join(clean(line) + "\n" for line in lines), sys.stdout.fileno(), sys.stdout.encoding)
        return EXIT_COMPLETE

    def rule(self, text: str) -> None:
        """Write one of the lines by which a run says where it stands (R3)."""
        self.line("rdc: " + clean(text).replace("\n", "?"), stream=self.rules)


def duration(seconds: float) -> str:
    """Write a time as a person says it."""
    minutes, rest = divmod(int(seconds), 60)
    longer = f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
    return longer if minutes else f"{seconds:.1f} s"


def forget_typed() -> None:
    """Throw away what was typed before a question: it was not meant for it."""
    import termios

    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def typed(display: Display, signals: Signals, prompt: str) -> str:
    """Return the line that a person types after a prompt, with its end; "" where nothing more comes."""
    before = signal.signal(signal.SIGCONT, lambda _number, _frame: display.line(prompt, end=""))  # after Ctrl-Z
    try:
        display.line(prompt, end="")
        with signals:
            while not select.select([0], [], [], 1)[0]:
                continue  # a signal that comes just before a read would have to wait for a key
            return os.read(0, 65536).decode(errors="surrogateescape")
    except Interrupted:  # the key has been echoed where the answer was due
        display.line()
        raise
    finally:
        signal.signal(signal.SIGCONT, before)


def question(display: Display, signals: Signals, text: str, choices: str) -> Optional[str]:
    """Ask for one of the choices; None means that nobody answers."""
    words = MEANINGS if choices in ("pass/fail", "yes/no") else {word: word for word in choices.split("/")}
    known = {word[:length]: words[word] for word in words for length in (1, len(word))}
    forget_typed()
    while line := typed(display, signals, f"{text} [{choices}] "):
        if word := known.get(line.strip().lower()):
            return word
        display.line(f"Please type {choices.replace('/', ' or ')}.")
    display.line()
    return None


class Telling:
    """The texts of a program, with what the registers of a run put into them."""

    program: Table
    display: Display
    state: State
    places: dict[str, str]  # of the steps that do something, in order
    _group = ""  # that of the last step

    def filled(self, node: Table, key: str, registers: Optional[Registers] = None) -> str:
        """Return a text of a step, whole."""
        return filled(node, node.get(key, ""), self.state.registers if registers is None else registers)

    def label(self, name: str) -> str:
        """Return a step's name and title as people read them."""
        return one_line(f"{name} {self.filled(self.program['nodes'][name], 'title')}")

    def texts(self, node: Table, key: str) -> list[str]:
        """Return a text of a step as the lines in which it is shown."""
        return [f"    {line}".rstrip() for line in clean(self.filled(node, key)).strip("\n").splitlines()]

    def about(self, name: str) -> Record:
        """Return a step as records and events have it."""
        node, now = self.program["nodes"][name], self.state.registers
        about = {"node": name, "title": self.filled(node, "title"), "attempt": attempt_of(node, now)}
        return {**about, "instances": instances_of(node, now)}

    def announce(self, name: str, *details: str) -> None:
        """Say which step begins, and where the step before was in another group, which group."""
        group = self.program["nodes"][name].get("group", "")
        if group not in ("", self._group):
            about = self.program["groups"][group]
            self.display.line(self.display.paint(one_line(f"{group} {self.filled(about, 'title')}"), "bold"))
            self.display.dim(self.texts(about, "prompt"))
        self._group = group
        step = f"[{self.places[name]}] {self.display.paint(self.label(name), 'bold')}"
        self.display.line(f"{step} - {', '.join(details)}" if details else step)

    def tell_passed(self, move: Move) -> None:
        """Show the results of nested documents that a run has passed."""
        for name in move.passed:
            node = self.program["nodes"][name]
            if node["task"] == "end":
                self.display.line("    " + one_line(f"{name} {self.filled(node, 'message', move.registers)}"))
