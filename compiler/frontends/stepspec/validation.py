"""What a validation looks for, by the words of its policy (B11)."""

from __future__ import annotations

import re

from compiler.ir.tasks import Check

_WORDS: tuple[tuple[Check, re.Pattern[str]], ...] = (
    ("parses", re.compile(r"\b(?:format|template|schema)", re.IGNORECASE)),
    ("ast", re.compile(r"\bast\b", re.IGNORECASE)),
    ("types", re.compile(r"\b(?:types?\b|typing|type-?check|mypy)", re.IGNORECASE)),
    ("lint", re.compile(r"\b(?:lint|ruff)", re.IGNORECASE)),
)


def checks_of(policy: str) -> tuple[Check, ...]:
    """The checks of a validation: that files are there, always, and what the policy names."""
    return ("exists", *(check for check, words in _WORDS if words.search(policy)))
