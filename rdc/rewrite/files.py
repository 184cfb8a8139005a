"""Documents that a command rewrites: shown as a diff, and written unless they have changed since."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from msgspec import Struct

from compiler.diagnostics.model import Diagnostic
from compiler.text.regex import Regex
from compiler.text.source import Source
from rdc.output.paths import unwritable
from rdc.output.write import File, unwritable_link, write_all
from rdc.terminal.cells import visible
from rdc.terminal.output import is_terminal, put, tell

LINE = Regex(r"[^\n]*\n|[^\n]+")


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
                return unwritable(one.path, "it is read-only, or you have no write permission")
        write_all([one.file for one in rewrites])
    except OSError as error:
        return unwritable(str(error.filename), error.strerror or str(error))
    return None
