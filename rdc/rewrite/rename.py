"""Rename a step, an input or an output of a document, and prove that nothing else changes."""

from __future__ import annotations

from msgspec import Struct

from compiler.diagnostics.model import Edit
from compiler.driver import Compilation, Opened, Settings
from compiler.frontends.common.marks import Mark


class RefusedError(Exception):
    """The name can't be changed; the message has the reason and what to do."""


class Renamed(Struct, frozen=True):
    """A proved rename: the edits in the document, and the document after them."""

    edits: tuple[Edit, ...]
    opened: Opened
    compilation: Compilation


def renamable(marks: tuple[Mark, ...], line: int, column: int) -> Mark:
    """Return the mark at a position if a person may rename it; raise `RefusedError`. This is fast and proves nothing."""
    raise NotImplementedError


def rename(opened: Opened, settings: Settings, line: int, column: int, new: str) -> Renamed:
    """Return the edits that give the part at a position a new name; raise `RefusedError`."""
    raise NotImplementedError
