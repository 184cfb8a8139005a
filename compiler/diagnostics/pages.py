"""The pages about diagnostics, and their addresses."""

from __future__ import annotations

import os


def page(code: str) -> str:
    """Return the page of a code as Markdown, without a final line break.

    Raises:
        FileNotFoundError: The code has no page.
    """
    with open(f"{os.path.dirname(__file__)}/explanations/{code}.md", encoding="utf-8") as file:
        return file.read().rstrip("\n")


def page_of(address: str, code: str) -> str:
    """Return the address of the page about a diagnostic."""
    return f"{address}/diagnostics/{code}.html"
