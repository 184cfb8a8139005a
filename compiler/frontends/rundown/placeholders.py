"""Placeholders such as `{N}` in the texts of dynamic units (M5)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from compiler.ir.texts import Part, Reference, Text, joined, text


def with_references(written: str, registers: Mapping[str, str]) -> Text:
    """A text as its author wrote it, with references to counters for placeholders.

    A `$` before a placeholder keeps it as it is: shell expansions survive (M5).

    Args:
        written: The text.
        registers: The counter for each placeholder.
    """
    if not registers or "{" not in written:
        return text(written)
    pattern = "|".join(map(re.escape, registers))
    parts = re.split(rf"((?<!\$)(?:{pattern}))", written)
    return joined([_part(part, registers) for part in parts])


def _part(part: str, registers: Mapping[str, str]) -> Part:
    return Reference(registers[part], part) if part in registers else part
