"""A worker: it takes legs from the queue, lets helpers run them, and records each step with DBOS."""

import importlib.metadata
import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Callable, NamedTuple

from runtime_shim.engine.display import Display, duration
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_REFUSED, RefusedError, Table
from runtime_shim.engine.signals import end_groups
from runtime_shim.engine.texts import one_line
from runtime_shim.targets.dbos.helpers import Channel, Helpers
from runtime_shim.targets.dbos.leases import BEAT, FENCE, Leases
from runtime_shim.targets.dbos.legs import LEG, Legs, leg_id, now_ms
from runtime_shim.targets.dbos.metrics import Metrics
from runtime_shim.targets.dbos.runs import Place
from runtime_shim.targets.dbos.steps import QUICKLY

NEEDED = "3.4."  # the version of DBOS
ROUND = 2.0  # seconds between two looks for dead workers
STRANGE = 5_000  # milliseconds after which a queued leg of another version is reported


class Duties(NamedTuple):
    """A worker's options: how many legs at once, how often to look at the queue, and where to stay."""

    jobs: int
    poll: float
    is_bound: bool  # whether runs stay at the host they started on


class Parked(BaseException):
    """Not an error: this worker gives up a leg without an outcome, so that one can take it over."""


def load_dbos() -> Any:  # noqa: ANN401 (the module)
    """Return DBOS. Refuse another version, since the tables differ."""
    how = "start this file with `uv run`, or install it: pip install 'dbos>=3.4,<3.5'"
    try:
        if not (found := importlib.metadata.version("dbos")).startswith(NEEDED):
            raise RefusedError(f"this program needs dbos 3.4, but dbos {found} is installed; {how}")
        import dbos
    except ImportError:
        raise RefusedError(f"this program needs dbos 3.4; {how}") from None
    return dbos


class Engine:
    """DBOS, launched for a worker or to make the tables."""

    def __init__(self, database: Legs, version: str, name: str, queues: Sequence[str], jobs: int) -> None:
        self._dbos = load_dbos()
        if database.is_sqlite:  # readers don't wait for writers, and a commit is one sync
            with database.worded():
                database.rows("PRAGMA journal_mode = WAL")
        config: Table = {
            "name": database.application, "system_database_url": database.url, "application_version": version,
            "executor_id": name, "serializer": self._dbos.DBOSPortableJSONSerializer(), "log_level": "CRITICAL",
            "use_listen_notify": False, "sys_db_pool_size": min(max(jobs, 2), 16), "max_executor_threads": jobs + 4,
        }  # fmt: skip
        with database.worded():
            self._dbos.DBOS(config=config)
            self._dbos.DBOS.listen_queues(queues)

    def launch(self, leg: Any, queues: Sequence[str], duties: Duties) -> None:  # noqa: ANN401 (a function)
        """Make the tables, and take legs from the queues."""

        def workflow(run: str, number: int, given: Table) -> Any:  # noqa: ANN401 (JSON)
            return leg(run, number, given)

        self._dbos.DBOS.workflow(name=LEG)(workflow)
        self._dbos.DBOS.launch()
        for queue in queues:
            self._dbos.DBOS.register_queue(
                queue,
                worker_concurrency=duties.jobs,
                polling_interval_sec=duties.poll,
                on_conflict="always_update",
            )

    def record(self, name: str, receive: Callable[[], Table]) -> Table:
        """Return what a step of a leg receives, and record it as ASCII; or return what is recorded."""
        message: Table = json.loads(self._dbos.DBOS.run_step({"name": name}, lambda: json.dumps(receive())))
        return message

    def pending(self, worker: str) -> list[str]:
        """Return the legs that a worker has taken."""
        statuses = self._dbos.DBOS.list_workflows(
            executor_id=worker, status="PENDING", name=LEG, load_input=False, load_output=False
        )
        return [one.workflow_id for one in statuses]

    def queue_again(self, names: Sequence[str], queue: str) -> None:
        """Queue legs that no worker runs any more."""
        if names:
            self._dbos.DBOS.resume_workflows(list(names), queue_name=queue)

    def stop(self, seconds: int) -> None:
        """Take no more legs, and wait some time for the running ones."""
        self._dbos.DBOS.destroy(workflow_completion_timeout_sec=seconds)


class Worker:
    """A worker and the legs that it runs."""

    def __init__(self, database: Legs, place: Place, duties: Duties, display: Display, helpers: Helpers) -> None:
        self._database, self._place, self._duties = database, place, duties
        self._display, self._helpers = display, helpers
        self._host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())
        self._name = f"{self._host}:{os.getpid()}:{os.urandom(4).hex()}"
        self._leases = Leases(database)
        self._legs: dict[str, Channel] = {}
        self._stops, self._is_lost = 0, False
        self._told: set[str] = set()
        self._parked: list[str] = []

    def run(self, metrics: Metrics) -> int:
        """Work until a signal comes, and return the exit code."""
        self._metrics = metrics
        queues = [self._place.queue, *([f"{self._place.queue}@{self._host}"] if self._duties.is_bound else [])]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._asked_to_stop)
        self._engine = Engine(self._database, self._place.version, self._name, queues, self._duties.jobs)
        self._leases.take(self._name, self._place.version)
        with self._database.worded():
            self._engine.launch(self.leg, queues, self._duties)
        where = f"{self._database.shown}, {self._duties.jobs} runs at once"
        self._display.rule(f"worker {self._name} is ready: version {self._place.version[:8]}, {where}")
        try:
            return self._watch()
        finally:
            self._leases.give_back()

    def _asked_to_stop(self, _number: int, _frame: object) -> None:
        self._stops += 1

    # --- The legs ---

    def leg(self, run: str, number: int, given: Table) -> Table:
        """Run a leg, the workflow of DBOS. A leg that was recorded in part goes on where the records end."""
        name, step = leg_id(run, number), str(given["step"] or run)
        try:
            while True:
                message = self._engine.record(step, partial(self._next, run, number, step))
                if "end" in message:
                    return self._ended(run, number, message["end"])
                step = str(message["record"].get("next", step))
                if name in self._legs:  # only records of this worker
                    self._tell(run, message["record"])
        except Exception as error:  # noqa: BLE001 (a leg is never marked as failed)
            raise self._given_up(name, error) from None
        finally:
            if channel := self._legs.pop(name, None):
                channel.close()

    def _given_up(self, name: str, error: Exception) -> Parked:
        self._warn(f"run {name.rpartition('.')[0]} will be tried again: {one_line(self._database.words(error))}")
        self._parked.append(name)
        return Parked()

    def _next(self, run: str, number: int, step: str) -> Table:
        """Return the next message for a leg. DBOS would record an Exception as the result of the step."""
        try:
            return self._received(run, number, step)
        except Exception as error:  # noqa: BLE001
            raise self._given_up(leg_id(run, number), error) from None

    def _received(self, run: str, number: int, step: str) -> Table:
        """Return the next record of a leg's helper, or how the leg ended. The first call starts the helper."""
        name = leg_id(run, number)
        channel = self._legs.get(name)
        if channel is None:
            if self._stops:
                return {"end": {"state": "ready", "step": step}}
            records, first = self._database.journal(run, number)
            channel = self._legs[name] = self._helpers.start()
            channel.send({"run": run, "records": records, "answers": first.get("answers")})
        else:
            channel.send({"recorded": ""})
        left: list[Table] = []
        while (message := channel.receive()) and "process" in message:
            left = [message["process"]]
        is_over = message is None or "end" in message
        if self._is_lost or (is_over and self._database.lost([name], self._name)):
            raise Parked
        if message is None:
            end_groups(left)
        return message or {"end": {"state": "interrupted", "step": step, "message": "the helper process was killed"}}

    def _ended(self, run: str, number: int, result: Table) -> Table:
        if self._duties.is_bound:
            result["host"] = self._host
        if result["state"] == "ready":
            queue = f"{self._place.queue}@{self._host}" if self._duties.is_bound else self._place.queue
            given = {"records": [], "step": result["step"]}
            self._database.enqueue(run, number + 1, given, self._place.version, queue, result.get("due", 0.0))
        else:
            where = result.get("message") if result["state"] in ("complete", "stop", "refused") else result.get("label")
            self._display.rule(f"{run} {result['state'].upper()} {where or ''}".rstrip())
        self._metrics.leg(result["state"])
        return {"state": result.pop("state"), **result}

    def _tell(self, run: str, record: Table) -> None:
        if record["kind"] == "done" and "how" in record:
            step = one_line(f"{record['node']} {record['title']}")
            self._display.rule(f"{run} {step}: {record['outcome'].upper()}, {duration(record['seconds'])}")
            self._metrics.step(record)

    # --- The watch ---

    def _watch(self) -> int:
        """Keep the lease, stop lost legs, and take over those of dead workers, until a signal comes."""
        last_beat = last_round = time.monotonic()
        stopper = threading.Thread(target=self._engine.stop, args=(10**6,), daemon=True)
        while stopper.ident is None or stopper.is_alive():
            time.sleep(BEAT)
            if self._leases.beat():
                last_beat = time.monotonic()
                self._say({"beat": ""})
            elif time.monotonic() - last_beat > FENCE:
                self._give_up(f"lost the lease: {self._database.shown} did not answer for {FENCE:.0f} seconds")
            if not self._helpers.is_alive():
                self._give_up("the process that starts helpers was killed")
            if self._stops and stopper.ident is None:
                self._display.rule(
                    f"finishing steps of {len(self._legs)} runs, then stopping; a second signal interrupts them"
                )
                self._say({"leave": ""})
                stopper.start()
            elif self._stops > 1:
                self._say({"end": ""})
            try:
                self._end_lost()
                if time.monotonic() - last_round > ROUND:
                    last_round = time.monotonic()
                    self._go_round()
            except Exception as error:  # noqa: BLE001 (the database may be back for the next round)
                self._warn(self._database.words(error))
        self._display.rule("stopped")
        return EXIT_COMPLETE

    def _say(self, message: Table) -> None:
        for channel in list(self._legs.values()):
            channel.send(message)

    def _warn(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._display.rule(text)

    def _give_up(self, why: str) -> None:
        """End all commands, since other workers will take over the legs, and this process: DBOS may wait forever."""
        self._is_lost = True
        self._say({"end": ""})
        self._display.rule(f"error: {why}")
        time.sleep(2 * QUICKLY)
        os._exit(EXIT_REFUSED)

    def _end_lost(self) -> None:
        names = list(self._legs)
        for name in self._database.lost(names, self._name) if names else ():
            if channel := self._legs.get(name):
                channel.send({"end": ""})

    def _go_round(self) -> None:
        """Take over legs of dead workers, and report legs that no worker can run."""
        owners, taken = self._database.workers(), 0
        for worker in self._leases.dead([name for name in owners if name != self._name]):
            with self._leases.hold(worker) as is_mine:
                names = self._engine.pending(worker) if is_mine else []
                self._engine.queue_again(names, self._queue_of(worker))
                taken += len(names)
        parked, self._parked = self._parked, []
        self._engine.queue_again(parked, self._queue_of(self._name))
        if taken:
            self._display.rule(f"took over {taken} run{'s' * (taken > 1)} of a dead worker")
        waiting = self._database.queued()
        self._metrics.now(len(self._legs), sum(count for _, count, _ in waiting), taken)
        for version, count, since in waiting:
            if (
                version != self._place.version
                and now_ms() - since > STRANGE
                and self._leases.is_free(f"version-{version}")
            ):
                needs = (
                    f"run{'s need' if count > 1 else ' needs'} version {version[:8]}, and no worker of it is running"
                )
                self._warn(f"{count} {needs}; start one, or run: resume RUN --adopt")

    def _queue_of(self, worker: str) -> str:
        host = worker.partition(":")[0]
        return f"{self._place.queue}@{host}" if self._duties.is_bound else self._place.queue
