"""A question to the person at the terminal."""

import os
import signal
import sys
import termios
from contextlib import suppress
from typing import Optional

from runtime_shim.engine.display import Display, one_line
from runtime_shim.engine.program import Table
from runtime_shim.engine.signals import Interrupted, Signals

BINARY = ("pass", "fail")
MEANINGS = {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}


def words_of(node: Table) -> tuple[str, ...]:
    """Return the words that the outcome of a step may have."""
    return tuple(node.get("words", BINARY))


def word_of(node: Table, outcome: str) -> str:
    """Return an outcome as people read it: of a question that is put as yes/no it is YES or NO."""
    if node.get("question") == "yes/no":
        outcome = {"pass": "yes", "fail": "no"}.get(outcome, outcome)
    return one_line(outcome).upper()


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
