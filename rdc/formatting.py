"""What formatting changes in a document: as a finding, as a difference, in words, and as the file to write."""

from __future__ import annotations

from difflib import unified_diff
from itertools import zip_longest
from pathlib import Path

from compiler.diagnostic import Diagnostic
from compiler.driver import Formatting
from compiler.regex import Regex
from compiler.source import Source
from rdc.atomic import File
from rdc.words import many

LINE = Regex(r"[^\n]*\n|[^\n]+")

MOST_NUMBERS = 6
"""How many of the new numbers a message lists."""


class Change:
    """A document whose normal form differs from what it is."""

    def __init__(self, source: Source, formatting: Formatting, text: str) -> None:
        self.source = source
        self.path = formatting.opened.path
        self.text = text
        self._renumbered = formatting.result.renumbered

    @property
    def file(self) -> File:
        """The file with the normal form in it."""
        return File(Path(self.path), self.source.encode(self.text))

    def is_still_there(self) -> bool:
        """Whether the file is what it was when it was read; raises OSError."""
        return Path(self.path).read_bytes() == self.source.data

    def finding(self) -> Diagnostic:
        """The finding of `--check`, at the first line that would change."""
        new = self.text.split("\n")
        old = self.source.text.split("\n")
        same = next(number for number, (a, b) in enumerate(zip_longest(old, new)) if a != b)
        line = min(same + 1, len(self.source.lines))
        message = f"{self.path} is not in its normal form"
        remedy = "run `rdc fmt` on it; `rdc fmt --diff` shows what would change"
        return Diagnostic("RD515", self.path, self.source.line_span(line), message, remedy)

    def difference(self) -> str:
        """A unified diff that `patch` and `git apply` take."""
        old, new = (LINE.findall(text) for text in (self.source.text, self.text))
        lines = unified_diff(old, new, self.path, self.path)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

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
