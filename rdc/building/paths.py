"""Findings with paths as a person in another folder writes them."""

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
    """Findings whose paths lead from the current folder, with paths that lead there from another one.

    Args:
        found: The findings.
        sources: The sources that they point into, by their paths.
        folder: The other folder, in which the person is.
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
