"""Spell headers, transitions and nested runbooks in their normal form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from compiler.frontends.rundown.build import TOO_DEEP
from compiler.frontends.rundown.formatting.numbering import Label, Numbering
from compiler.frontends.rundown.formatting.pieces import Piece, Section
from compiler.frontends.rundown.lines import Header, print_transition
from compiler.frontends.rundown.syntax import Complete, Stop, Transition, spell
from compiler.regex import Regex

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
        text, parsed = (piece.block.text, piece.block.parsed) if piece.block else ("", None)
        match piece.kind, parsed:
            case "TITLE", _:
                return _heading("#", text)
            case "STEP" | "SUBSTEP", Header():
                return self._header(piece.kind, text, parsed, self._labels[piece.first])
            case "TRANSITION", Transition():
                return f"- {self._transition(text, parsed)}"
            case "RUNBOOK", _:
                return f"- {text}"
            case _:
                return None

    @staticmethod
    def _header(kind: str, text: str, header: Header, label: Label) -> str:
        step, child = label
        name = spell(step) if child is None else f"{spell(step)}.{spell(child)}"
        separator, title = header.separator, header.title
        deep = TOO_DEEP["step" if kind == "STEP" else "substep"].match(text)
        if isinstance(step if child is None else child, str) or deep:
            separator = re.sub(r"[ \t]+", " ", separator)  # keep the author's punctuation, or a number that is an error
        else:
            separator = ". " if kind == "STEP" else " "
        return _heading("##" if kind == "STEP" else "###", f"{name}{separator}{title}" if title else name)

    def _transition(self, text: str, parsed: Transition) -> str:
        transition = self._numbering.transition(parsed)
        action, quote = transition.action, text.find('"')
        if not isinstance(action, Stop | Complete) or not action.message or quote < 0:
            return print_transition(transition)
        bare = replace(transition, action=type(action)())
        return f"{print_transition(bare)} {text[quote:].rstrip()}"  # the message with the author's escapes


def _heading(marks: str, text: str) -> str:
    return f"{marks} {text} {marks}" if _CLOSING.search(text) else f"{marks} {text}".rstrip()
