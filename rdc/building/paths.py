"""Findings with paths as a person in the current folder writes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.source import Source


def rebased(
    found: Iterable[Diagnostic], sources: Mapping[str, Source], prefix: str
) -> tuple[list[Diagnostic], dict[str, Source]]:
    """Findings whose paths lead from the root of a project, with paths that lead there from the current folder.

    Args:
        found: The findings.
        sources: The sources that they point into, by their paths.
        prefix: The path from the current folder to the root.
    """
    if prefix == os.curdir:
        return list(found), dict(sources)
    moved = partial(_moved, prefix)
    return (
        [
            replace(
                one, path=moved(one.path), related=tuple(replace(near, path=moved(near.path)) for near in one.related)
            )
            for one in found
        ],
        {moved(path): source for path, source in sources.items()},
    )


def _moved(prefix: str, path: str) -> str:
    return os.path.normpath(os.path.join(prefix, path))
