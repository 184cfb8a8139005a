"""The pages that explain diagnostics."""

from __future__ import annotations

from pathlib import Path

import compiler
from compiler.diagnostic import CODES

_FOLDER = Path(compiler.__file__).parent / "explanations"


def find(word: str) -> str | None:
    """Return the code for `RD201`, `rd201` or the name `unknown-target`; None for an unknown one."""
    if word.upper() in CODES:
        return word.upper()
    return next((code for code, known in CODES.items() if known.name == word.lower()), None)


def page(code: str) -> str:
    """Return the page of a code as Markdown, without a final line break.

    Raises:
        FileNotFoundError: The code has no page.
    """
    return (_FOLDER / f"{code}.md").read_text(encoding="utf-8").rstrip("\n")
