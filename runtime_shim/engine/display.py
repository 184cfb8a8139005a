"""Output on standard error, and questions at the terminal."""

import os
import select
import signal
import stat
import sys
import termios
from collections.abc import Iterable
from contextlib import suppress
from typing import Callable, TextIO

from runtime_shim.engine.private import naming
from runtime_shim.engine.program import EXIT_COMPLETE
from runtime_shim.engine.signals import Interrupted, Signals
from runtime_shim.engine.texts import MEANINGS, clean

STALLED = 0.1  # seconds between checks for a stop while no one reads the output
STYLES = {"bold": "1", "dim": "2", "pass": "32", "fail": "1;31"}


class Display:
    """Lines on a stream, in color if it is a terminal that supports it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self.is_terminal, self.rules = stream, stream.isatty(), stream  # `rules`: for `rule`
        self.idle: Callable[[], None] = lambda: None  # called while a question waits
        self.gives_up: Callable[[], bool] = lambda: False  # whether to abandon a pipe that no one reads
        self._color = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def put(self, text: str, file: int, encoding: str = "utf-8") -> None:
        """Write text. Abandon a stalled pipe once the run was asked to end."""
        data = text.encode(encoding, "backslashreplace")
        # A ready pipe takes this much without blocking. A line in a file is one write, so it is never torn.
        size = len(data) if stat.S_ISREG(os.fstat(file).st_mode) else select.PIPE_BUF
        while data:
            if select.select((), (file,), (), STALLED)[1]:
                data = data[os.write(file, data[:size]) :]
            elif self.gives_up():
                return

    def paint(self, text: str, style: str) -> str:
        """Return a text in a style."""
        return f"\033[{STYLES.get(style, '1')}m{text}\033[0m" if self._color else text

    def line(self, text: str = "", end: str = "\n", stream: "TextIO | None" = None) -> None:
        """Write a line. A log that no one reads does not stop a run."""
        with suppress(OSError, ValueError):
            self.put(text + end, (stream or self._stream).fileno(), (stream or self._stream).encoding)

    def dim(self, lines: Iterable[str]) -> None:
        """Write secondary lines."""
        for line in lines:
            self.line(self.paint(line, "dim"))

    def say(self, lines: Iterable[str]) -> int:
        """Write a subcommand's result to standard output."""
        with naming("standard output"):
            self.put("".join(clean(line) + "\n" for line in lines), sys.stdout.fileno(), sys.stdout.encoding)
        return EXIT_COMPLETE

    def rule(self, *lines: str) -> None:
        """Write lines that start with `rdc:`."""
        self.line("".join("rdc: " + clean(line).replace("\n", "?") + "\n" for line in lines), "", self.rules)


def duration(seconds: float) -> str:
    """Return a duration as people read it."""
    minutes, rest = divmod(int(seconds), 60)
    longer = f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
    return longer if minutes else f"{seconds:.1f} s"


def forget_typed() -> None:
    """Discard anything typed before a question."""
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def typed(display: Display, signals: Signals, prompt: str) -> str:
    """Return the line typed after a prompt, with its newline; "" at the end of input."""
    before = signal.signal(signal.SIGCONT, lambda _number, _frame: display.line(prompt, end=""))  # after Ctrl-Z
    try:
        display.line(prompt, end="")
        with signals:
            while not select.select([0], [], [], 0.2)[0]:  # a signal just before a read would wait for a key
                display.idle()
            display.idle()  # the reply may come too late
            return os.read(0, 65536).decode(errors="surrogateescape")
    except Interrupted:  # the key was echoed after the prompt
        display.line()
        raise
    finally:
        signal.signal(signal.SIGCONT, before)


def meanings_of(choices: str) -> dict[str, str]:
    """Return the replies that a question takes, and the meaning of each."""
    more = {"pass/fail": ("ok", "done"), "yes/no": ("ok",)}.get(choices)
    words = MEANINGS if more else {word: word for word in choices.split("/")}
    known = {word[:length]: words[word] for word in words for length in (1, len(word))}
    return {**known, **dict.fromkeys(more or (), "pass")}


def question(display: Display, signals: Signals, text: str, choices: str) -> "str | None":
    """Ask until one of the choices is typed, and return it; None at the end of input."""
    known = meanings_of(choices)
    forget_typed()
    while line := typed(display, signals, f"{text} [{choices}] "):
        if word := known.get(line.strip().lower()):
            return word
        display.line(f"Please type {choices.replace('/', ', ', choices.count('/') - 1).replace('/', ' or ')}.")
    display.line()
    return None
