"""Convert the paths in diagnostics for a person in another folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.source import Source


def rebased(
    found: Iterable[Diagnostic], sources: Mapping[str, Source], folder: str
) -> tuple[list[Diagnostic], dict[str, Source]]:
    """Return diagnostics and sources with paths relative to another folder.

    Args:
        found: The diagnostics, with paths relative to the current folder.
        sources: The sources that they refer to, by path.
        folder: The other folder.
    """
    if folder == os.getcwd():
        return list(found), dict(sources)
    moved = partial(os.path.relpath, start=folder)
    return (
        [
            replace(
                one, path=moved(one.path), related=tuple(replace(near, path=moved(near.path)) for near in one.related)
            )
            for one in found
        ],
        {moved(path): source for path, source in sources.items()},
    )
