"""Check the open documents in a thread, shortly after their last change, and drop older results."""

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from rdc.lsp.documents import Documents, Result, Version

DELAY = 0.15
"""Seconds from the last key to a check."""

IDLE = 1.0
"""Seconds from the last check until garbage is collected, which stops everything for a moment."""

MOST_CHECKS = 30
"""The most checks without collecting garbage, if the editor is never idle."""


class Checker:
    """Checks documents one after the other, and passes the results of current versions to `show`."""

    def __init__(
        self, documents: Documents, show: Callable[[Result], None], report: Callable[[Exception], None]
    ) -> None:
        self.documents = documents
        self._show = show
        self._report = report
        self._thread = ThreadPoolExecutor(1, "check")
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._cleaning: asyncio.TimerHandle | None = None
        self._checks = 0

    def soon(self, uri: str, delay: float = DELAY) -> None:
        """Check a document after a delay, which starts again with each call."""
        self.forget(uri)
        self._timers[uri] = asyncio.get_running_loop().call_later(delay, self._start, uri)

    def forget(self, uri: str) -> None:
        """Cancel the check of a document."""
        if timer := self._timers.pop(uri, None):
            timer.cancel()

    def _start(self, uri: str) -> None:
        self._timers.pop(uri, None)
        if version := self.documents.versions.get(uri):
            task = asyncio.get_running_loop().create_task(self._check(version))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _check(self, version: Version) -> None:
        loop = asyncio.get_running_loop()
        try:
            result = await loop.run_in_executor(self._thread, self._checked, version)
        except Exception as error:  # noqa: BLE001 (a defect must not end the server)
            self._report(error)
            return
        if result and self.documents.keep(result):
            self._show(result)
        self._clean_later(loop)

    def _checked(self, version: Version) -> Result | None:
        """Return the result of a version, or None if there is a newer one by the time the thread is free."""
        return self.documents.check(version) if self.documents.versions.get(version.uri) is version else None

    def _clean_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._checks += 1
        if self._cleaning:
            self._cleaning.cancel()
        self._cleaning = loop.call_later(0 if self._checks >= MOST_CHECKS else IDLE, self._clean)

    def _clean(self) -> None:
        if self._timers or self._running:
            return
        self._checks = 0
        gc.collect()
