"""The address at which a project publishes rdc's documentation, and the pages to which messages link."""

from __future__ import annotations

import os
from collections.abc import Mapping

from compiler.diagnostic import Diagnostic
from compiler.files import read_text
from compiler.issues import Place
from compiler.project import CONFIGURATIONS, DOCS_URL, Project, project_around, read_configuration
from compiler.regex import Regex

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


def docs_url() -> str:
    """Return the `docs-url` of the current folder's project, or ""; a document of another project has no say."""
    root = project_around(os.getcwd()).root
    for name in CONFIGURATIONS:
        try:
            if DOCS_URL in read_text(os.path.join(root, name), root):  # few have one: only these pay for reading TOML
                return read_configuration(Project(root), ()).docs_url
        except (OSError, ValueError):
            continue
    return ""


def page_of(address: str, code: str) -> str:
    """Return the address of the page about a diagnostic."""
    return f"{address}/diagnostics/{code}.html"
