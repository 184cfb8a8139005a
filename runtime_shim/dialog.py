"""A question to the person at the terminal."""

import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Optional

from runtime_shim.display import Display, one_line
from runtime_shim.program import Table
from runtime_shim.signals import Interrupted, Signals

BINARY = ("pass", "fail")
MEANINGS = {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}


def outcome_of(word: str) -> Optional[str]:
    """Return the outcome that a word stands for, in any case; None if it is no such word."""
    return MEANINGS.get(word.lower())


def words_of(unit: Table) -> tuple[str, ...]:
    """Return the words that the outcome of a unit may have."""
    return tuple(unit.get("words", BINARY))


def word_of(unit: Table, outcome: str) -> str:
    """Return an outcome as people read it: of a question that is put as yes/no it is YES or NO."""
    good, bad = unit.get("question", "pass/fail").split("/")
    return one_line({"pass": good, "fail": bad}.get(outcome, outcome)).upper()


@contextmanager
def _shown(display: Display, prompt: str) -> Iterator[None]:
    """Show the prompt, and show it again when the run goes on after Ctrl-Z, however soon that was pressed."""
    before = signal.signal(signal.SIGCONT, lambda _number, _frame: display.line(prompt, end=""))
    try:
        display.line(prompt, end="")
        yield
    finally:
        signal.signal(signal.SIGCONT, before)


def question(display: Display, signals: Signals, text: str, choices: str) -> Optional[str]:
    """Ask until one of the choices (`pass/fail`) is given; None means that nobody answers now.

    There is no default: an empty line is no answer. What was typed before the question is thrown
    away, since it was not meant for it.
    """
    words = choices.split("/")
    accepted = [*words, *MEANINGS] if len(words) == 2 and words[0] in MEANINGS else words
    known = {word[:length]: word for word in accepted for length in (1, len(word))}
    prompt = f"{text} [{choices}] "
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    while True:
        try:
            with signals.listening(), _shown(display, prompt):
                typed = sys.stdin.readline()
        except Interrupted:  # the key has been echoed where the answer was due
            display.line()
            raise
        if not typed:
            display.line()
            return None
        word = known.get(typed.strip().lower())
        if word is not None:
            return MEANINGS.get(word, word)
        display.line(f"Please type {choices.replace('/', ' or ')}.")
