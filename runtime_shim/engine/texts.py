"""Text that is safe on any terminal and in any log, and the words for outcomes."""

import re
from collections.abc import Iterable

from runtime_shim.engine.program import Table

# Controls that could steer the terminal or hide text: C0, C1, bidi.
HIDDEN = "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
BINARY = ("pass", "fail")
MEANINGS = {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}


def clean(text: str) -> str:
    """Replace control characters with `?`; newlines and tabs stay."""
    return text if text.isprintable() else re.sub(HIDDEN, "?", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Join the lines of a text and replace its control characters."""
    return clean(" ".join(text.split()))


def meant(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `; did you mean X?` if a known word is similar, otherwise ""."""
    import difflib

    near = difflib.get_close_matches(word, [*known], 1, cutoff)
    return f"; did you mean {near[0]}?" if near and near[0].isprintable() else ""


def words_of(node: Table) -> tuple[str, ...]:
    """Return the possible outcomes of a step."""
    return tuple(node.get("words", BINARY))


def word_of(node: Table, outcome: str) -> str:
    """Return an outcome as people read it: YES or NO for a yes/no question."""
    if node.get("question") == "yes/no":
        outcome = {"pass": "yes", "fail": "no"}.get(outcome, outcome)
    return one_line(outcome).upper()
