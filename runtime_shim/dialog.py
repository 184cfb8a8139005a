"""A question to the person at the terminal."""

from __future__ import annotations

import sys
import termios
from contextlib import suppress
from typing import Optional

from runtime_shim.display import Display
from runtime_shim.signals import Interrupted, Signals

MEANINGS = {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}


def outcome_of(word: str) -> Optional[str]:
    """Return the outcome that a word stands for, in any case; None if it is no such word."""
    return MEANINGS.get(word.lower())


def question(display: Display, signals: Signals, text: str, choices: str) -> Optional[str]:
    """Ask until one of the choices (`pass/fail`) is given; None means that nobody answers now.

    There is no default: an empty line is no answer. What was typed before the question is thrown
    away, since it was not meant for it.
    """
    words = choices.split("/")
    known = {word[:length]: word for word in [*words, *MEANINGS] for length in (1, len(word))}
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    while True:
        display.line(f"{text} [{choices}] ", end="")
        try:
            with signals.listening():
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
