"""Waiting for changes in a project (B-2)."""

from __future__ import annotations

from collections.abc import Iterator

from watchfiles import Change, DefaultFilter, watch

from rdc.building.records import FOLDER


class _Filter(DefaultFilter):
    """Leaves out what builds write into their own folder, and what runs keep."""

    ignore_dirs = (*DefaultFilter.ignore_dirs, FOLDER, ".rdc")

    def __call__(self, change: Change, path: str) -> bool:
        """Whether a change matters."""
        return not path.endswith(".tmp") and super().__call__(change, path)


def changes(root: str) -> Iterator[None]:
    """Yield once at the beginning, and then whenever files have changed; ends when the person interrupts."""
    yield
    for _ in watch(root, watch_filter=_Filter(), raise_interrupt=False):
        yield
