"""Watches a document and the runs that pages look at, and turns their changes into events."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Condition, Thread
from time import monotonic, sleep
from typing import Protocol

import msgspec

from rdc.looking.drawing import Drawing
from rdc.looking.following import DAMAGES, AnyRun, Seen
from rdc.looking.model import Changed, Document, RunEntry, RunList, Visits, encoded
from runtime_shim.engine.program import UsageError

EVERY = 0.05
"""How many seconds pass between two looks at the files. Polling also works on network disks."""

RUNS_EVERY = 1.0
ALIVE = 15.0
"""After how many quiet seconds a stream gets a comment."""

MOST_VISITS = 1_000
"""How many visits an event has."""


class ManyRuns(Protocol):
    """The runs of a document, on this machine or of workers."""

    def entries(self) -> tuple[RunEntry, ...]:
        """Return the runs for the list."""

    def run(self, key: str) -> AnyRun:
        """Return the run with a key; raise KeyError without one."""


class UnknownRunError(Exception):
    """No run has this key."""


class Watch:
    """A document and its runs. One thread looks at them while a page is open."""

    def __init__(self, file: str, about: Document, runs: Callable[[Drawing, Callable[[], None]], ManyRuns]) -> None:
        self._changed, self._number, self._pages, self._is_closed = Condition(), 0, 0, False
        self._followed: dict[str, tuple[AnyRun, int]] = {}
        self.drawing = Drawing(file, about, self._notify)
        self.runs = runs(self.drawing, self._notify)
        self._entries = self.runs.entries()
        Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        """End the threads and all streams."""
        self._is_closed = True
        self.drawing.close()
        self._notify()

    # --- Data for the routes ---

    def document(self) -> Document:
        """Return the document as it is now."""
        return self.drawing.document

    def listed(self, wanted: str) -> RunList:
        """Return the runs. The chosen one has the wanted key, name or id, or is the newest that has started."""
        entries = self._entries = self.runs.entries()
        fits = [one for one in entries if wanted in (one.key, one.id)] if wanted else [*entries]
        started = [one for one in fits if one.state != "none"] or fits
        return RunList(started[0].key if started else "", entries)

    @contextmanager
    def following(self, key: str) -> Iterator[AnyRun]:
        """Give a run that is read while anyone follows it; raise `UnknownRunError` without such a run."""
        with self._changed:
            known = self._followed.get(key)
        try:
            run = known[0] if known else self.runs.run(key)  # reading a long journal takes a while
        except KeyError:
            raise UnknownRunError(key) from None
        with self._changed:
            run, count = self._followed.get(key, (run, 0))
            self._followed[key] = run, count + 1
            self._pages += 1
            self._changed.notify_all()
        try:
            yield run
        finally:
            with self._changed:
                self._pages -= 1
                run, count = self._followed.pop(key)
                if count > 1:
                    self._followed[key] = run, count - 1

    def events(self, run: AnyRun, after: int, known: str) -> Iterator[bytes]:
        """Yield the events of a stream. A page knows the first visits `after` of the run with an id."""
        state = run.seen.state
        sent = _Sent(after if state.run == known else 0, run.seen.epoch, state.run, self.document().edition)
        entries, number = self._entries, -1
        while not self._is_closed:
            with self._changed:
                is_news = self._changed.wait_for(lambda: self._number != number, ALIVE)  # noqa: B023 (it waits here)
                number = self._number
            if not is_news:
                yield b": alive\n\n"
                continue
            if self._entries != entries:
                entries = self._entries
                yield event("runs", Changed(self.document().edition))
            yield b"".join(sent.news(run.seen, self.document()))

    # --- The thread ---

    def _notify(self) -> None:
        with self._changed:
            self._number += 1
            self._changed.notify_all()

    def _watch(self) -> None:
        listed = monotonic()
        while not self._is_closed:
            with self._changed:
                self._changed.wait_for(lambda: self._pages > 0 or self._is_closed)
                runs = [run for run, _ in self._followed.values()]
            self.drawing.look()
            is_changed = True in [run.look() for run in runs]
            if monotonic() - listed >= RUNS_EVERY:
                before, listed = self._entries, monotonic()
                with suppress(UsageError, OSError, *DAMAGES):  # a database that does not answer, for example
                    self._entries = self.runs.entries()
                is_changed = is_changed or before != self._entries
            if is_changed:
                self._notify()
            sleep(EVERY)


class _Sent:
    """The part of a run that a page has received."""

    def __init__(self, visits: int, epoch: int, run: str, edition: int) -> None:
        self._visits, self._epoch, self._run, self._edition = visits, epoch, run, edition
        self._state: object = None

    def news(self, seen: Seen, document: Document) -> Iterator[bytes]:
        """Yield the events that the page needs."""
        if document.edition != self._edition:
            self._edition = document.edition
            yield event("document", Changed(document.edition))
        state = seen.state
        if (state.run, seen.epoch) != (self._run, self._epoch) or state.total < self._visits:
            self._run, self._epoch, self._visits = state.run, seen.epoch, 0
            if not state.total:
                yield event("visits", Visits(state.run, 0, ()))
        if state != self._state:
            self._state = state
            yield event("state", state)
        while self._visits < state.total:
            end = min(self._visits + MOST_VISITS, state.total)
            yield event("visits", Visits(state.run, self._visits, tuple(seen.visits[self._visits : end])))
            self._visits = end


def event(kind: str, data: msgspec.Struct) -> bytes:
    """Return an event of a stream."""
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), encoded(data))
