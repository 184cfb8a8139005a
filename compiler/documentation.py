"""The address at which a project publishes rdc's documentation, and the pages to which messages link."""

from __future__ import annotations

import os
from collections.abc import Mapping

from compiler.diagnostic import Diagnostic
from compiler.issues import Place
from compiler.regex import Regex

DOCS_URL = "docs-url"
"""The key of the configuration."""

PATTERN = r"(https?://|file:///)[A-Za-z0-9][!$-&(-;=@-Z_a-z~]*"
"""A web address or a folder's address. It has no query, no quotes, no spaces and no control characters."""

LONGEST = 2000
"""The longest address in characters."""

_ADDRESS = Regex(PATTERN)


def read_docs_url(own: Mapping[str, object], place: Place) -> tuple[str, list[Diagnostic]]:
    """Return the value of `docs-url` without a slash at its end, "" if it is invalid or missing, and the errors."""
    address = own.get(DOCS_URL, "")
    if isinstance(address, str) and (not address or (len(address) <= LONGEST and _ADDRESS.fullmatch(address))):
        return address.rstrip("/"), []
    problem = (
        f"`{DOCS_URL}` must be an ASCII address that starts with `https://`, `http://` or `file:///`, "
        "and has no spaces, quotes, `?` or `#`"
    )
    if isinstance(address, str) and len(address) > LONGEST:
        problem = f"`{DOCS_URL}` has more than {LONGEST:,} characters"
    return "", [place.finding(problem, f'write `{DOCS_URL} = "https://docs.example.org/rdc"`, or remove the line')]


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
