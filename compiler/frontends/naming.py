"""Name programs, and find names in text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable

from compiler.regex import Regex
from compiler.source import sha256_of, without_ending

NAMED = Regex(r"(?<![${])\{\{[A-Za-z_]\w*\}\}(?!\})|(?<![${`])\{\{ [A-Za-z_]\w* \}\}(?![}`])")
"""Matches a name in double braces whose author expects a value; other template languages have more in their braces."""

LONGEST_NAME = 64
"""The longest name in characters, because it becomes a file name."""


def safe_name(wanted: str, otherwise: str) -> str:
    """Return a name that is safe in paths and close to the wanted one, or `otherwise` if nothing is left of it."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", wanted).strip("-.")
    return f"{name[:-9][: LONGEST_NAME - 9]}-{sha256_of(wanted)[:8]}" if len(name) > LONGEST_NAME else name or otherwise


def name_of(path: str, endings: Iterable[str], exists: Callable[[str], bool]) -> str:
    """Return the name of a document's state and files: its path from the root with dots, without its extension (R4).

    It keeps the extension if another document with the same name `exists` beside it.
    """
    plain = without_ending(path, endings)
    is_shared = any(exists(plain + ending) for ending in endings if not path.endswith(ending))
    return safe_name((path if is_shared else plain).replace("/", "."), f"document-{sha256_of(path)[:8]}")


def stem(path: str, *endings: str) -> str:
    """Return a document's file name without these extensions, removed in this order."""
    name = posixpath.basename(path)
    for ending in endings:
        name = name.removesuffix(ending)
    return name
