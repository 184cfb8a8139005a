"""Texts as people read them: safe on any terminal and in any log, with the words of outcomes."""

import re

from runtime_shim.engine.program import Table

# Texts of a document must not steer the terminal or hide what they say (C0, C1, bidi controls).
HIDDEN = "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
BINARY = ("pass", "fail")
MEANINGS = {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}


def clean(text: str) -> str:
    """Take the control characters out of a text; newlines and tabs stay."""
    return text if text.isprintable() else re.sub(HIDDEN, "?", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Take the control characters out of a text that belongs on one line."""
    return clean(" ".join(text.split()))


def words_of(node: Table) -> tuple[str, ...]:
    """Return the words that the outcome of a step may have."""
    return tuple(node.get("words", BINARY))


def word_of(node: Table, outcome: str) -> str:
    """Return an outcome as people read it: of a question that is put as yes/no it is YES or NO."""
    if node.get("question") == "yes/no":
        outcome = {"pass": "yes", "fail": "no"}.get(outcome, outcome)
    return one_line(outcome).upper()
