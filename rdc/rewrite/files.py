"""Documents that a command rewrites: shown as a diff, and written unless they have changed since."""

import os
from collections.abc import Sequence
from difflib import unified_diff
from itertools import zip_longest
from pathlib import Path

from msgspec import Struct

from compiler.diagnostics.model import Diagnostic
from compiler.driver import Formatting, Opened, Settings
from compiler.text.regex import Regex
from compiler.text.source import Source
from rdc.output.paths import NO_PERMISSION, unwritable
from rdc.output.write import File, unwritable_link, write_all
from rdc.rewrite.fixes import Fixed, fix_opened
from rdc.terminal.cells import visible
from rdc.terminal.output import is_terminal, put, tell

LINE = Regex(r"[^\n]*\n|[^\n]+")

MOST_NUMBERS = 6
"""How many new step numbers a message lists."""


class Rewrite(Struct, frozen=True):
    """A document and its new text."""

    source: Source
    path: str
    text: str

    @property
    def file(self) -> File:
        """The file with the new text."""
        return File(Path(self.path), self.source.encode(self.text))

    def is_still_there(self) -> bool:
        """Return whether the file is unchanged since it was read; raises OSError."""
        return Path(self.path).read_bytes() == self.source.data

    def difference(self) -> str:
        """Return a unified diff for `patch` and `git apply`."""
        old, new = (LINE.findall(text) for text in (self.source.text, self.text))
        lines = unified_diff(old, new, self.path, self.path)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


class Reformatted(Rewrite, frozen=True):
    """A document that is not formatted, and the old and new numbers of its steps."""

    renumbered: Sequence[tuple[str, str]]

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
        moved = [f"{old} is now {new}" for old, new in self.renumbered]
        shown = ", ".join(moved[:MOST_NUMBERS]) + (", …" if len(moved) > MOST_NUMBERS else "")
        return f"formatted {self.path}" + (f" ({shown})" if shown else "")


def reformatted(formatting: Formatting) -> Reformatted | None:
    """Return the change to a document, or None if it is formatted or cannot be."""
    source, text = formatting.opened.source, formatting.result.text
    if not isinstance(source, Source) or text is None or text == source.text:
        return None
    return Reformatted(source, formatting.opened.path, text, formatting.result.renumbered)


def fix_documents(
    documents: Sequence[Opened], settings: Settings, *, unsafe: bool
) -> tuple[list[Fixed], list[Rewrite]]:
    """Return the documents after fixing, and rewrites for the changed ones. Nothing is written."""
    results = [fix_opened(document, settings, unsafe=unsafe) for document in documents]
    rewrites: list[Rewrite] = []
    for document, result in zip(documents, results, strict=True):
        old, new = document.source, result.opened.source
        if isinstance(old, Source) and isinstance(new, Source) and new.text != old.text:
            rewrites.append(Rewrite(old, document.path, new.text))
    return results, rewrites


def show_differences(rewrites: Sequence[Rewrite], *, is_text: bool) -> None:
    """Show the diffs: escaped on a terminal, unchanged for `git apply`."""
    for one in rewrites:
        lines = one.difference().removesuffix("\n")
        if not is_text:
            tell("\n".join(map(visible, lines.split("\n"))))  # standard output is for tools
        elif is_terminal():
            put("\n".join(map(visible, lines.split("\n"))))
        else:
            put(f"{lines}\n".encode())


def write_rewrites(rewrites: Sequence[Rewrite], command: str) -> Diagnostic | None:
    """Write all files, or write none and return the reason.

    `command` is the command to run again, such as `rdc fmt`.
    """
    try:
        for one in rewrites:
            if not one.is_still_there():
                return unwritable(one.path, "it has changed since rdc read it", f"run `{command}` again")
            if problem := unwritable_link(one.path):
                return unwritable(one.path, problem, f"use the path of the file itself: {os.path.realpath(one.path)}")
            if not os.access(one.path, os.W_OK):
                return unwritable(one.path, NO_PERMISSION)
        write_all([one.file for one in rewrites])
    except OSError as error:
        return unwritable(str(error.filename), error.strerror or str(error))
    return None
