"""Metrics of a worker for Prometheus, at `--metrics [ADDRESS:]PORT`."""

from __future__ import annotations

from typing import Any

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import RefusedError


class Metrics:
    """The counters of a worker. Without a place to serve them, nothing is counted."""

    def __init__(self, place: str) -> None:
        self._steps: Any = None
        if not place:
            return
        try:
            import prometheus_client
        except ImportError:
            raise RefusedError("--metrics needs a package; to install it: pip install prometheus-client") from None
        address, _, port = place.rpartition(":")
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise RefusedError(f"--metrics {place!a}: expected PORT or ADDRESS:PORT")
        client = prometheus_client
        self._steps = client.Counter("rdc_steps", "Steps that ended at this worker", ["outcome"])
        self._seconds = client.Histogram("rdc_step_seconds", "Duration of steps", buckets=(0.1, 1, 10, 60, 600, 3600))
        self._ended = client.Counter("rdc_legs", "Legs that ended at this worker", ["state"])
        self._running = client.Gauge("rdc_legs_running", "Legs that run at this worker")
        self._queued = client.Gauge("rdc_legs_queued", "Legs of this program that wait for a worker")
        self._taken = client.Counter("rdc_takeovers", "Legs taken over from dead workers")
        try:
            client.start_http_server(int(port), address or "127.0.0.1")
        except OSError as error:
            raise RefusedError(f"--metrics {place}: {error.strerror}") from None

    def step(self, record: Record) -> None:
        """Count a step."""
        if self._steps is not None:
            self._steps.labels(record["outcome"]).inc()
            self._seconds.observe(record["seconds"])

    def leg(self, state: str) -> None:
        """Count a leg."""
        if self._steps is not None:
            self._ended.labels(state).inc()

    def now(self, running: int, queued: int, taken: int) -> None:
        """Set the gauges, and count legs taken over."""
        if self._steps is not None:
            self._running.set(running)
            self._queued.set(queued)
            self._taken.inc(taken)
