"""Name programs, and find names in text."""

from __future__ import annotations

import posixpath
import re

from compiler.regex import Regex

NAMED = Regex(r"(?<![${])\{\{[A-Za-z_]\w*\}\}(?!\})|(?<![${`])\{\{ [A-Za-z_]\w* \}\}(?![}`])")
"""Matches a name in double braces whose author expects a value; other template languages have more in their braces."""

LONGEST_NAME = 64
"""The longest name in characters, because it becomes a file name."""


def safe_name(wanted: str, otherwise: str) -> str:
    """Return a name that is safe in paths and close to the wanted one, or `otherwise` if nothing is left of it."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", wanted).strip("-.")[:LONGEST_NAME] or otherwise


def stem(path: str, *endings: str) -> str:
    """Return a document's file name without these extensions, removed in this order."""
    name = posixpath.basename(path)
    for ending in endings:
        name = name.removesuffix(ending)
    return name
