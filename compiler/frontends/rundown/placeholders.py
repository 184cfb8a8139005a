"""Placeholders in text: `{N}` is an instance's number (M5), `{{NAME}}` an input or output (E1, E2)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from compiler.ir.texts import Part, Reference, Text, joined, text


def with_references(written: str, registers: Mapping[str, str]) -> Text:
    """Return text with its placeholders replaced by references to registers, in one pass.

    A `$` before a placeholder keeps it unchanged, so that shell expansions still work (M5).

    Args:
        written: The text as the author wrote it.
        registers: The register for each placeholder, with double braces first.
    """
    if not registers or "{" not in written:
        return text(written)
    pattern = "|".join(map(re.escape, registers))
    parts = re.split(rf"((?<!\$)(?:{pattern}))", written)
    return joined([_part(part, registers) for part in parts])


def _part(part: str, registers: Mapping[str, str]) -> Part:
    """Return a reference for a placeholder; an unset slot shows the placeholder itself."""
    if part not in registers:
        return part
    return Reference(registers[part], part, part if part.startswith("{{") else "")
