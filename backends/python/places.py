"""The values of marks in strings, in the runtime's format (M5, I6)."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from backends.marks import Marks
from compiler.ir.texts import Reference

Table = dict[str, Any]


def placeholders(marks: Marks, slots: Container[str]) -> Table:
    """Return the value of each mark in a step, group or contract."""
    found = {mark: _place(reference, slots) for mark, reference in marks.references.items()}
    return {"placeholders": found} if found else {}


def _place(reference: Reference, slots: Container[str]) -> str | list[str]:
    """Return a reference's counter, or a list that also has the strings around its value and its missing value."""
    found = around(reference, slots)
    return found if reference.register in slots or any(found[1:]) else reference.register


def around(reference: Reference, slots: Container[str]) -> list[str]:
    """Return a reference as a list: its register, the strings around its value, and the string if it has none."""
    missing = reference.missing if reference.register in slots else ""
    return [reference.register, reference.before, reference.after, missing]
