"""Placeholders in texts: `{N}` for the number of an instance (M5), `{{NAME}}` for an input or output (E1, E2)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from compiler.ir.texts import Part, Reference, Text, joined, text


def with_references(written: str, registers: Mapping[str, str]) -> Text:
    """A text as its author wrote it, with references to registers for placeholders, found in one pass.

    A `$` before a placeholder keeps it as it is: shell expansions survive (M5).

    Args:
        written: The text.
        registers: The register for each placeholder, those in double braces first.
    """
    if not registers or "{" not in written:
        return text(written)
    pattern = "|".join(map(re.escape, registers))
    parts = re.split(rf"((?<!\$)(?:{pattern}))", written)
    return joined([_part(part, registers) for part in parts])


def _part(part: str, registers: Mapping[str, str]) -> Part:
    """A reference for a placeholder; a counter always has a value, for an unset slot stands what was written."""
    if part not in registers:
        return part
    return Reference(registers[part], part, part if part.startswith("{{") else "")
