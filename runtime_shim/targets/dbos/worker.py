"""A worker: it takes legs from the queue, lets helpers run them, and records each step with DBOS."""

import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from runtime_shim.engine.display import Display, duration
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_REFUSED, Table
from runtime_shim.engine.signals import end_groups, is_alive
from runtime_shim.engine.texts import one_line
from runtime_shim.targets.dbos.engine import Duties, Engine, Metrics
from runtime_shim.targets.dbos.leases import BEAT, FENCE, Channel, Helpers, Leases
from runtime_shim.targets.dbos.legs import Legs, Place, leg_id, now_ms
from runtime_shim.targets.dbos.steps import QUICKLY

ROUND = 2.0  # seconds between two looks for dead workers
STRANGE = 5_000  # milliseconds after which a queued leg of another version is reported


class Parked(BaseException):
    """Not an error: this worker gives up a leg without an outcome, so that one can take it over."""


class Worker:
    """A worker and the legs that it runs."""

    def __init__(self, database: Legs, place: Place, duties: Duties, display: Display, helpers: Helpers) -> None:
        self.database, self.place, self.duties = database, place, duties
        self.display, self.helpers = display, helpers
        self.host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())
        self.name = f"{self.host}:{os.getpid()}:{os.urandom(4).hex()}"
        self.channels: dict[str, Channel] = {}  # to the helpers, by leg
        self.stops, self.is_lost, self._leases = 0, False, Leases(database)
        self._told: set[str] = set()
        self._parked: list[str] = []

    def run(self, metrics: Metrics) -> int:
        """Work until a signal comes, and return the exit code."""
        self.metrics, queues = metrics, [self.place.queue]
        queues += [f"{self.place.queue}@{self.host}"] if self.duties.is_bound else []
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, self._asked_to_stop)
        self.engine = Engine(self.database, self.place.version, self.name, self.duties)
        self._leases.take(self.name, self.place.version)
        with self.database.worded():
            self.engine.launch(lambda run, number, given: Execution(self, run, number).go(given), queues)
        where = f"version {self.place.version[:8]}, {self.database.shown}, --jobs {self.duties.jobs}"
        self.display.rule(f"worker {self.name} is ready: {where}")
        try:
            return self._watch()
        finally:
            self._leases.give_back()

    def _asked_to_stop(self, _number: int, _frame: object) -> None:
        self.stops += 1

    def queue_of(self, worker: str) -> str:
        """Return the queue for legs of a worker."""
        host = worker.partition(":")[0]
        return f"{self.place.queue}@{host}" if self.duties.is_bound else self.place.queue

    @contextmanager
    def parking(self, name: str) -> Iterator[None]:
        """Keep a leg for the next round if anything fails. A leg is never marked as failed."""
        try:
            yield
        except Exception as error:
            self._warn(f"run {name.rpartition('.')[0]} will be tried again: {one_line(self.database.words(error))}")
            self._parked.append(name)
            raise Parked from error
        except BaseException as error:  # DBOS would wait for the worker that has the leg now
            raise Parked from error

    def _watch(self) -> int:
        """Keep the lease, stop lost legs, and take over those of dead workers, until a signal comes."""
        last_beat = last_round = time.monotonic()
        stopper = threading.Thread(target=self.engine.stop, args=(10**6,), daemon=True)
        while stopper.ident is None or stopper.is_alive():
            time.sleep(BEAT)
            if is_kept := self._leases.beat():
                last_beat = time.monotonic()
                self._say({"beat": ""})
            elif time.monotonic() - last_beat > FENCE:
                self._leave(f"lost the lease: {self.database.shown} did not answer for {FENCE:.0f} seconds")
            if not self.helpers.is_alive():
                self._leave("the process that starts helpers ended")
            if self.stops and stopper.ident is None:
                count = f"{len(self.channels)} step{'s' * (len(self.channels) != 1)}"
                self.display.rule(f"finishing {count}, then stopping; a second signal interrupts")
                self._say({"leave": ""})
                stopper.start()
            elif self.stops > 1:
                self._say({"stop": ""})
            with suppress(Exception), self._warning():  # the database may be back for the next round
                self._end_lost()
                if is_kept and time.monotonic() - last_round > ROUND:
                    last_round = time.monotonic()
                    self._go_round()
        self.display.rule("stopped")
        return EXIT_COMPLETE

    def _say(self, message: Table) -> None:
        for channel in list(self.channels.values()):
            channel.send(message)

    @contextmanager
    def _warning(self) -> Iterator[None]:
        """Show an error, and raise it again."""
        try:
            yield
        except Exception as error:
            self._warn(self.database.words(error))
            raise

    def _warn(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.display.rule(text)

    def _leave(self, why: str) -> None:
        """End all commands, since other workers will take over the legs, and this process: DBOS may wait forever."""
        self.is_lost = True
        self._say({"end": ""})
        self.display.rule(f"error: {why}")
        time.sleep(2 * QUICKLY)
        os._exit(EXIT_REFUSED)

    def _end_lost(self) -> None:
        names = list(self.channels)
        for name in self.database.lost(names, self.name) if names else ():
            if channel := self.channels.get(name):
                channel.send({"end": ""})

    def _go_round(self) -> None:
        owners, taken = self.database.workers(), 0
        for worker in self._leases.dead([name for name in owners if name != self.name]):
            with self._leases.hold(worker) as is_mine:
                taken += self.database.queue_again(worker, self.queue_of(worker)) if is_mine else 0
        for leg in self.database.expired(self.place.version):
            queue = f"{self.place.queue}@{leg.result['host']}" if "host" in leg.result else self.place.queue
            going_on: Table = {"records": [], "step": leg.result.get("step")}
            self.database.enqueue(leg.run, leg.number + 1, going_on, self.place._replace(queue=queue))
        if parked := list(self._parked):
            self.database.queue_again(self.name, self.queue_of(self.name), parked)
            del self._parked[: len(parked)]
        if taken:
            self.display.rule(f"took over {taken} run{'s' * (taken > 1)} of a dead worker")
        waiting = self.database.queued()
        self.metrics.now(len(self.channels), sum(count for _, count, _ in waiting), taken)
        for version, count, since in waiting:
            is_late = version != self.place.version and now_ms() - since > STRANGE
            if is_late and self._leases.is_free(f"version-{version}"):
                needs = f"run{'s need' if count > 1 else ' needs'} version {version[:8]}"
                hint = "and no worker of it is running; start one, or run: resume RUN --adopt"
                self._warn(f"{count} {needs}, {hint}")


class Execution:
    """One execution of a leg at a worker. The worker may get the same leg again, after it has lost it."""

    def __init__(self, worker: Worker, run: str, number: int) -> None:
        self._worker, self._run, self._number, self._name = worker, run, number, leg_id(run, number)
        self._channel: Channel | None = None
        self._left: list[Table] = []  # the processes of the current step

    def go(self, given: Table) -> Table:
        """Run the leg, as DBOS's workflow. A leg that was recorded in part continues where the records end."""
        try:
            with self._worker.parking(self._name):
                return self._steps(str(given["step"] or self._run))
        finally:
            if self._channel:
                self._channel.close()
            if self._worker.channels.get(self._name) is self._channel:
                self._worker.channels.pop(self._name, None)

    def _steps(self, step: str) -> Table:
        while True:
            message = self._worker.engine.record(step, partial(self._next, step))
            if "end" in message:
                return self._ended(message["end"])
            step = str(message["record"].get("next", step))
            if self._channel:  # otherwise it was shown by another worker
                self._tell(message["record"])

    def _next(self, step: str) -> Table:
        """Return the next record of the leg's helper, or how the leg ended. The first call starts the helper.

        DBOS would record an Exception as the result of the step.
        """
        worker = self._worker
        with worker.parking(self._name):
            if self._channel:
                self._channel.send({"recorded": ""})
            elif worker.stops:
                return {"end": {"state": "ready", "step": step}}
            else:
                self._channel = self._started()
            while (message := self._channel.receive()) and "process" in message:
                self._left.append(message["process"])
            if message is not None and message.get("record", {}).get("kind") == "done":
                self._left = []
            is_over = message is None or "end" in message
            if is_over and (worker.is_lost or worker.database.lost([self._name], worker.name)):
                raise Parked
            if message is not None:
                return message
            end_groups([process for process in self._left if is_alive(process)])
            return {"end": {"state": "interrupted", "step": step, "message": "the helper process was killed"}}

    def _started(self) -> Channel:
        """Start a helper. End that of an earlier execution here, which has lost the leg."""
        worker = self._worker
        records, first = worker.database.journal(self._run, self._number)
        if old := worker.channels.get(self._name):
            old.send({"end": ""})
        channel = worker.helpers.start()
        channel.send({"run": self._run, "records": records, "answers": first.get("answers")})
        worker.channels[self._name] = channel
        if worker.stops:  # a signal came in between
            channel.send({"leave": ""})
        return channel

    def _ended(self, result: Table) -> Table:
        worker, state = self._worker, result["state"]
        if worker.duties.is_bound:
            result["host"] = worker.host
        if state == "ready":
            given, due = {"records": [], "step": result["step"]}, result.get("due", 0.0)
            place = worker.place._replace(queue=worker.queue_of(worker.name))
            worker.database.enqueue(self._run, self._number + 1, given, place, due)
        else:
            where = result.get("message") or result.get("label") or ""
            worker.display.rule(f"{self._run} {state.upper()} {where}".rstrip())
        worker.metrics.leg(state)
        return {"state": state, **result}

    def _tell(self, record: Table) -> None:
        if record["kind"] == "done" and "how" in record:
            step = one_line(f"{record['node']} {record['title']}")
            parts = [record["outcome"].upper(), duration(record["seconds"]), *map(one_line, record.get("remarks", ()))]
            self._worker.display.rule(f"{self._run} {step}: {', '.join(parts)}")
            self._worker.metrics.step(record)
