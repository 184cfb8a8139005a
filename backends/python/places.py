"""What stands for the marks in texts, as the runtime reads it (M5, I6)."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from backends.marks import Marks
from compiler.ir.texts import Reference

Table = dict[str, Any]


def placeholders(marks: Marks, slots: Container[str]) -> Table:
    """What stands for each mark in the texts of a step, a group or a contract."""
    found = {mark: _place(reference, slots) for mark, reference in marks.references.items()}
    return {"placeholders": found} if found else {}


def _place(reference: Reference, slots: Container[str]) -> str | list[str]:
    """The counter of a reference; for others also what stands before and behind its value, and what without one."""
    found = around(reference, slots)
    return found if reference.register in slots or any(found[1:]) else reference.register


def around(reference: Reference, slots: Container[str]) -> list[str]:
    """A reference as a list: its register, the texts around its value, and the one that stands there without one."""
    missing = reference.missing if reference.register in slots else ""
    return [reference.register, reference.before, reference.after, missing]
