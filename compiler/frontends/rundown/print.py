"""Print transitions as their list items."""

from __future__ import annotations

import re

from compiler.frontends.rundown.syntax import Action, Complete, Continue, Goto, Stop, Transition


def print_transition(transition: Transition) -> str:
    """Return the full text of a transition's list item."""
    modifier = f" {transition.modifier}" if transition.modifier else ""
    retry = f"RETRY {transition.retries} " if transition.retries else ""
    return f"{transition.word}{modifier}: {retry}{_action(transition.action)}"


def _action(action: Action) -> str:
    match action:
        case Continue():
            return "CONTINUE"
        case Complete(message):
            return "COMPLETE" + _message(message)
        case Stop(message):
            return "STOP" + _message(message)
        case Goto(target):
            return f"GOTO {target}"


def _message(message: str) -> str:
    """Return a message in quotes, with the escapes of G5."""
    return " " + '"' + re.sub(r'(["\\])', r"\\\1", message) + '"' if message else ""
