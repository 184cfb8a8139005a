"""What programs are called."""

from __future__ import annotations

import posixpath
import re

LONGEST_NAME = 64
"""In characters: the name becomes the name of files."""


def safe_name(wanted: str, otherwise: str) -> str:
    """A name that is safe in paths, as near as possible to one that is wanted; another one if nothing of it is left."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", wanted).strip("-.")[:LONGEST_NAME] or otherwise


def stem(path: str, *endings: str) -> str:
    """The name of a document's file without its endings, the last of them first."""
    name = posixpath.basename(path)
    for ending in endings:
        name = name.removesuffix(ending)
    return name
