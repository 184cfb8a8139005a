"""The pages that explain the diagnostic codes."""

from __future__ import annotations

from pathlib import Path

import compiler
from compiler.diagnostic import CODES

_FOLDER = Path(compiler.__file__).parent / "explanations"


def find(word: str) -> str | None:
    """The code that a person means: `RD201`, `rd201` or the name `unknown-target`; None if there is none."""
    if word.upper() in CODES:
        return word.upper()
    return next((code for code, known in CODES.items() if known.name == word.lower()), None)


def page(code: str) -> str:
    """The page of a code as Markdown, without a line end after it.

    Raises:
        FileNotFoundError: The code has no page.
    """
    return (_FOLDER / f"{code}.md").read_text(encoding="utf-8").rstrip("\n")
