"""What formatting changes in a document: as a finding, as a difference, in words, and as the file to write."""

from __future__ import annotations

from itertools import zip_longest

from compiler.diagnostic import Diagnostic
from compiler.driver import Formatting
from compiler.source import Source
from rdc.rewriting import Rewrite
from rdc.words import many

MOST_NUMBERS = 6
"""How many of the new numbers a message lists."""


class Change(Rewrite):
    """A document whose normal form differs from what it is."""

    def __init__(self, source: Source, formatting: Formatting, text: str) -> None:
        super().__init__(source, formatting.opened.path, text)
        self._renumbered = formatting.result.renumbered

    def finding(self) -> Diagnostic:
        """The finding of `--check`, at the first line that would change."""
        new = self.text.split("\n")
        old = self.source.text.split("\n")
        same = next(number for number, (a, b) in enumerate(zip_longest(old, new)) if a != b)
        line = min(same + 1, len(self.source.lines))
        message = f"{self.path} is not in its normal form"
        remedy = "run `rdc fmt` on it; `rdc fmt --diff` shows what would change"
        return Diagnostic("RD515", self.path, self.source.line_span(line), message, remedy)

    def words(self) -> str:
        """What was done, in a line."""
        moved = [f"{old} is now {new}" for old, new in self._renumbered]
        shown = ", ".join(moved[:MOST_NUMBERS]) + (", …" if len(moved) > MOST_NUMBERS else "")
        return f"formatted {self.path}" + (f" ({shown})" if shown else "")


def change(formatting: Formatting) -> Change | None:
    """What would change in a document; None if nothing would, or if it is left alone."""
    source, text = formatting.opened.source, formatting.result.text
    if not isinstance(source, Source) or text is None or text == source.text:
        return None
    return Change(source, formatting, text)


def defect(formatting: Formatting) -> str:
    """What is to be said of a document that is left alone because of a defect of rdc; empty for all others."""
    if not formatting.result.defect:
        return ""
    reason = formatting.result.defect
    return f"{formatting.opened.path} was left alone: {reason}; please report this defect of rdc with the document"


def unchanged(count: int) -> str:
    """That so many documents are as they should be."""
    return f"{many(count, 'file')} already formatted"
