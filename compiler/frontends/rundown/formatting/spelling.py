"""Spell headers, transitions and nested runbooks in their normal form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from compiler.frontends.rundown.build import TOO_DEEP
from compiler.frontends.rundown.formatting.numbering import Label, Numbering
from compiler.frontends.rundown.formatting.pieces import Piece, Section
from compiler.frontends.rundown.lines import parse_transition
from compiler.frontends.rundown.syntax import Action, Complete, Continue, Goto, Stop, Transition, spell
from compiler.regex import Regex

_HEADER = {
    "STEP": Regex(r"(?P<step>\{N\}|\w+)(?P<separator>[.:)—→ \t-]*)(?P<title>.*)"),
    "SUBSTEP": Regex(r"(?P<step>\{N\}|\w+)\.(?P<child>\{n\}|\w+)(?P<separator>[.:)—→ \t-]*)(?P<title>.*)"),
}
_CLOSING = Regex(r"(^|[ \t])#+$")
"""Matches closing marks of a Markdown heading."""


class Spelling:
    """The normal spelling of each piece of a document whose only errors are in order and numbering."""

    def __init__(self, sections: Sequence[Section], numbering: Numbering) -> None:
        self._numbering = numbering
        headers = [section.header for section in sections if section.header]
        self._labels: Mapping[int, Label] = {
            header.first: label for header, label in zip(headers, numbering.labels(), strict=True)
        }

    def __call__(self, piece: Piece) -> str | None:
        """Return the line of a piece, or None if its lines stay unchanged."""
        text = piece.block.text if piece.block else ""
        match piece.kind:
            case "TITLE":
                return _heading("#", text)
            case "STEP" | "SUBSTEP":
                return self._header(piece.kind, text, self._labels[piece.first])
            case "TRANSITION":
                return f"- {self._transition(text)}"
            case "RUNBOOK":
                return f"- {text}"
            case _:
                return None

    def _header(self, kind: str, text: str, label: Label) -> str:
        match = _HEADER[kind].fullmatch(text)
        assert match  # noqa: S101 (the header was parsed)
        step, child = label
        name = spell(step) if child is None else f"{spell(step)}.{spell(child)}"
        separator, title = match["separator"], match["title"].strip()
        deep = TOO_DEEP["step" if kind == "STEP" else "substep"].match(text)
        if isinstance(step if child is None else child, str) or deep:
            separator = re.sub(r"[ \t]+", " ", separator)  # keep the author's punctuation, or a number that is an error
        else:
            separator = ". " if kind == "STEP" else " "
        return _heading("##" if kind == "STEP" else "###", f"{name}{separator}{title}" if title else name)

    def _transition(self, text: str) -> str:
        transition = self._numbering.transition(parse_transition(text))
        action, quote = transition.action, text.find('"')
        if not isinstance(action, Stop | Complete) or not action.message or quote < 0:
            return print_transition(transition)
        bare = replace(transition, action=type(action)())
        return f"{print_transition(bare)} {text[quote:].rstrip()}"  # the message with the author's escapes


def _heading(marks: str, text: str) -> str:
    return f"{marks} {text} {marks}" if _CLOSING.search(text) else f"{marks} {text}".rstrip()


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
