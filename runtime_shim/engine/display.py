"""What the operator sees on standard error, line by line, and is asked at the terminal."""

import os
import select
import signal
import stat
import sys
import termios
from collections.abc import Iterable
from contextlib import suppress
from typing import Callable, Optional, TextIO

from runtime_shim.engine.journal import naming
from runtime_shim.engine.program import EXIT_COMPLETE
from runtime_shim.engine.signals import Interrupted, Signals
from runtime_shim.engine.texts import MEANINGS, clean

STALLED = 100  # milliseconds until a writer whom nobody reads looks again whether it was told to end
STYLES = {"bold": "1", "dim": "2", "pass": "32", "fail": "1;31"}


class Display:
    """Lines on a stream, in colour where it is a terminal that wants it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self.is_terminal = stream, stream.isatty()
        self.rules = stream  # what `rule` writes to
        self.gives_up: Callable[[], bool] = lambda: False  # whether what nobody takes is not waited for any more
        self._colour = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._dash = "—" if "utf" in (stream.encoding or "").lower() else "-"

    def put(self, text: str, file: int, encoding: str = "utf-8") -> None:
        """Write; a pipe that has stalled is left once the run was told to end."""
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

    def paint(self, text: str, style: str) -> str:
        """Give a text a style."""
        return f"\033[{STYLES.get(style, '1')}m{text}\033[0m" if self._colour else text

    def line(self, text: str = "", end: str = "\n", stream: Optional[TextIO] = None) -> None:
        """Write a line; a log that nobody reads any more does not stop a run."""
        stream = stream or self._stream
        with suppress(OSError, ValueError):
            self.put(text + end, stream.fileno(), stream.encoding)

    def say(self, lines: Iterable[str]) -> int:
        """Write lines to standard output, for which the command was called."""
        with naming("standard output"):
            self.put("".join(clean(line) + "\n" for line in lines), sys.stdout.fileno(), sys.stdout.encoding)
        return EXIT_COMPLETE

    def started(self, place: str, name: str, details: list[str]) -> None:
        """Say which step begins."""
        self.line(f"[{place}] {self.paint(name, 'bold')}" + (f" {self._dash} {', '.join(details)}" if details else ""))

    def rule(self, text: str) -> None:
        """Write one of the lines by which a run says where it stands (R3)."""
        self.line("rdc: " + clean(text).replace("\n", "?"), stream=self.rules)


def question(display: Display, signals: Signals, text: str, choices: str) -> Optional[str]:
    """Ask for one of the choices; None means that nobody answers."""
    known = {word[:length]: word for word in choices.split("/") for length in (1, len(word))}
    if choices in ("pass/fail", "yes/no"):
        known = {word[:length]: MEANINGS[word] for word in MEANINGS for length in (1, len(word))}
    with suppress(OSError, ValueError, termios.error):  # what was typed before the question was not meant for it
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    prompt, word, typed = f"{text} [{choices}] ", None, " "
    before = signal.signal(signal.SIGCONT, lambda _number, _frame: display.line(prompt, end=""))  # after Ctrl-Z
    try:
        while typed and not word:
            display.line(prompt, end="")
            with signals.listening():
                typed = os.read(sys.stdin.fileno(), 4096).decode(errors="replace")
            word = known.get(typed.strip().lower())
            if not word:
                display.line(f"Please type {choices.replace('/', ' or ')}." if typed else "")
    except Interrupted:  # the key has been echoed where the answer was due
        display.line()
        raise
    finally:
        signal.signal(signal.SIGCONT, before)
    return word
