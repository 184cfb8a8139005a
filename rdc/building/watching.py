"""Wait for changes in a project (B-2)."""

from __future__ import annotations

from collections.abc import Iterator

from watchfiles import Change, DefaultFilter, watch

from rdc.building.records import FOLDER

_PATIENCE = 500
"""In milliseconds. The longest single wait for a change."""


class _Filter(DefaultFilter):
    """Ignores files that builds and runs write in their own folders."""

    ignore_dirs = (*DefaultFilter.ignore_dirs, FOLDER, ".rdc")

    def __call__(self, change: Change, path: str) -> bool:
        """Return whether a change matters."""
        return not path.endswith(".tmp") and super().__call__(change, path)


def changes(root: str) -> Iterator[None]:
    """Yield at the start, once after watching has started, and then after each change.

    Raises:
        KeyboardInterrupt: The person has stopped watching.
    """
    yield
    is_first = True
    for found in watch(root, watch_filter=_Filter(), rust_timeout=_PATIENCE, yield_on_timeout=True):
        if found or is_first:
            yield
        is_first = False
