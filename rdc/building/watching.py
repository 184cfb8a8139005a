"""Waiting for changes in a project (B-2)."""

from __future__ import annotations

from collections.abc import Iterator

from watchfiles import Change, DefaultFilter, watch

from rdc.building.records import FOLDER

_PATIENCE = 500
"""In milliseconds: how long the wait for a change is before it begins again."""


class _Filter(DefaultFilter):
    """Leaves out what builds write into their own folder, and what runs keep."""

    ignore_dirs = (*DefaultFilter.ignore_dirs, FOLDER, ".rdc")

    def __call__(self, change: Change, path: str) -> bool:
        """Whether a change matters."""
        return not path.endswith(".tmp") and super().__call__(change, path)


def changes(root: str) -> Iterator[None]:
    """Yield at the beginning, again once changes are seen, for what was changed in between, and then for each change.

    Raises:
        KeyboardInterrupt: The person has seen enough.
    """
    yield
    is_first = True
    for found in watch(root, watch_filter=_Filter(), rust_timeout=_PATIENCE, yield_on_timeout=True):
        if found or is_first:
            yield
        is_first = False
