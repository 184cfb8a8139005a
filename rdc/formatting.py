"""The changes that formatting makes to a document: as a finding, as a diff, in words, and as a file."""

from __future__ import annotations

from itertools import zip_longest

from compiler.diagnostic import Diagnostic
from compiler.driver import Formatting
from compiler.source import Source
from rdc.rewriting import Rewrite
from rdc.words import many

MOST_NUMBERS = 6
"""How many new step numbers a message lists."""


class Change(Rewrite):
    """A document that is not formatted."""

    def __init__(self, source: Source, formatting: Formatting, text: str) -> None:
        super().__init__(source, formatting.opened.path, text)
        self._renumbered = formatting.result.renumbered

    def finding(self) -> Diagnostic:
        """Return the finding of `--check`, at the first line that would change."""
        new = self.text.split("\n")
        old = self.source.text.split("\n")
        same = next(number for number, (a, b) in enumerate(zip_longest(old, new)) if a != b)
        line = min(same + 1, len(self.source.lines))
        message = f"{self.path} is not formatted"
        remedy = "run `rdc fmt`; to see the changes first, run `rdc fmt --diff`"
        return Diagnostic("RD515", self.path, self.source.line_span(line), message, remedy)

    def words(self) -> str:
        """Return the success message."""
        moved = [f"{old} is now {new}" for old, new in self._renumbered]
        shown = ", ".join(moved[:MOST_NUMBERS]) + (", …" if len(moved) > MOST_NUMBERS else "")
        return f"formatted {self.path}" + (f" ({shown})" if shown else "")


def change(formatting: Formatting) -> Change | None:
    """Return the change to a document, or None if it is formatted or cannot be."""
    source, text = formatting.opened.source, formatting.result.text
    if not isinstance(source, Source) or text is None or text == source.text:
        return None
    return Change(source, formatting, text)


def defect(formatting: Formatting) -> str:
    """Return the message for a document that a defect of rdc keeps from being formatted; "" for all others."""
    if not formatting.result.defect:
        return ""
    reason = formatting.result.defect
    return f"{formatting.opened.path} was not formatted: {reason}; please report this defect of rdc with the document"


def unchanged(count: int) -> str:
    """Return the message for files that are already formatted."""
    return f"{many(count, 'file')} already formatted"
