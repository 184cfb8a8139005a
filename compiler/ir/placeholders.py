"""Placeholders such as `{N}` in the texts of dynamic units (M5)."""

from __future__ import annotations

import re
from collections.abc import Mapping


def substitute(text: str, values: Mapping[str, str]) -> str:
    """A text with placeholders replaced, though not after a `$`: shell expansions survive (M5)."""
    for placeholder, value in values.items():
        text = _pattern(placeholder).sub(value, text)
    return text


def occurs(placeholder: str, text: str) -> bool:
    """Whether a text has a placeholder that is replaced."""
    return _pattern(placeholder).search(text) is not None


def _pattern(placeholder: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\$)" + re.escape(placeholder))
