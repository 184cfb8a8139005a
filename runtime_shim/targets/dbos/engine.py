"""DBOS as the engine of a worker: its start, its queues, its records and its metrics."""

import importlib.metadata
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Callable, NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.targets.dbos.legs import LEG, Legs

NEEDED = "3.4.0"  # the only version of DBOS with which this file is tested: see `_keep_duties`


class Duties(NamedTuple):
    """A worker's options: how many legs at once, how often to look at the queue, and where to stay."""

    jobs: int
    poll: float
    is_bound: bool  # whether runs stay at the host they started on


def load_dbos() -> Any:  # the module
    """Return DBOS. Refuse another version, since the tables differ."""
    how = f"start this file with `uv run`, or install it: pip install dbos=={NEEDED}"
    try:
        if (found := importlib.metadata.version("dbos")) != NEEDED:
            raise UsageError(f"this program needs dbos {NEEDED}, but dbos {found} is installed; {how}")
        import dbos
    except ImportError:
        raise UsageError(f"this program needs dbos {NEEDED}; {how}") from None
    return dbos


class Engine:
    """DBOS, launched for a worker or to make the tables."""

    def __init__(self, database: Legs, version: str, name: str, duties: Duties) -> None:
        self._dbos, self._duties = load_dbos(), duties
        if database.is_sqlite:
            database.check_file()
            with suppress(OSError):  # only this user may read the output of runs
                os.close(os.open(database.path, os.O_CREAT | os.O_EXCL, 0o600))
            with database.worded():  # readers don't wait for writers, and a commit is one sync
                database.rows("PRAGMA journal_mode = WAL")
        config: Table = {
            "name": database.application, "system_database_url": database.url, "application_version": version,
            "executor_id": name, "serializer": self._dbos.DBOSPortableJSONSerializer(), "log_level": "CRITICAL",
            "use_listen_notify": False, "sys_db_pool_size": min(max(duties.jobs, 2), 16),
            "max_executor_threads": duties.jobs + 4,
        }  # fmt: skip
        with database.worded():
            self._instance = self._dbos.DBOS(config=config)

    def launch(self, leg: Callable[[str, int, Table], Table], queues: Sequence[str]) -> None:
        """Make the tables, and take legs from the queues."""

        def workflow(run: str, number: int, given: Table) -> Any:  # JSON
            return leg(run, number, given)

        self._dbos.DBOS.listen_queues(queues)
        self._dbos.DBOS.workflow(name=LEG)(workflow)
        self._dbos.DBOS.launch()
        self._keep_duties()
        for queue in queues:
            # One leg is the limit of the first look, which can come before `_keep_duties`.
            self._dbos.DBOS.register_queue(queue, worker_concurrency=1, on_conflict="always_update")

    def _keep_duties(self) -> None:
        """Use this worker's own limits: DBOS reads those of a queue from a row that all workers share.

        No public function of DBOS sets them for one worker. So this replaces one of its private methods for this
        process, and `load_dbos` accepts only the version that was tested with it.
        """
        system, active = self._instance._sys_db, self._instance._active_workflows_set
        read = system.get_queue

        def get_queue(name: str, **more: Any) -> Any:  # a queue of DBOS
            queue = read(name, **more)
            if queue is not None:
                others = len(active.activeList()) - active.count_for_queue(name)
                queue._worker_concurrency = max(self._duties.jobs - others, 0)
                queue._polling_interval_sec = self._duties.poll
            return queue

        system.get_queue = get_queue

    def record(self, name: str, receive: Callable[[], Table]) -> Table:
        """Record the message that a step of a leg receives, as ASCII; or return the recorded one."""
        message: Table = json.loads(self._dbos.DBOS.run_step({"name": name}, lambda: json.dumps(receive())))
        return message

    def stop(self, seconds: int) -> None:
        """Take no more legs, and wait some time for the running ones."""
        self._dbos.DBOS.destroy(workflow_completion_timeout_sec=seconds)


class Metrics:
    """The counters of a worker. Without a place to serve them, nothing is counted."""

    def __init__(self, place: str) -> None:
        self._steps: Any = None
        if not place:
            return
        try:
            import prometheus_client
        except ImportError:
            raise UsageError("--metrics needs a package; to install it: pip install prometheus-client") from None
        address, _, port = place.rpartition(":")
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise UsageError(f"--metrics {place!a}: expected PORT or ADDRESS:PORT")
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
            raise UsageError(f"--metrics {place}: {error.strerror}") from None

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
