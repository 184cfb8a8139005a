"""Many runs, and workers that die."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from benchmarks.workers.fleet import Fleet
from benchmarks.workers.places import KINDS, Found, Place, Runs

DOCUMENT = "# Takeover\n\n" + "".join(
    f"## {n}. S\n\n```bash\necho $RDC_RUN_ID {n} >> steps\nsleep 0.05\n```\n\n" for n in range(1, 4)
)


def takeover(at: Place, count: int = 1_000) -> Iterator[Found]:
    """Start many runs at four workers, and kill two. The others repeat the interrupted steps."""
    for kind in KINDS:
        with at.fleet(kind, "takeover") as fleet:
            yield from (Found(f"{kind}: {one.what}", one.figure) for one in _takeover(fleet, count))


class Watch:
    """The legs of killed workers, and when another worker took each of them."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._since: dict[str, tuple[float, str]] = {}
        self.taken: list[float] = []

    def killed(self, pid: int) -> None:
        """Remember the legs of a worker."""
        query = "SELECT workflow_uuid, executor_id FROM workflow_status WHERE status = 'PENDING'"
        for name, worker in self._runs.legs.rows(query):
            if f":{pid}:" in worker:
                self._since[name] = (time.monotonic(), worker)

    def look(self) -> None:
        """See which legs have another worker by now."""
        query = "SELECT status, executor_id FROM workflow_status WHERE workflow_uuid = ?"
        for name, (since, worker) in [*self._since.items()]:
            ((status, now),) = self._runs.legs.rows(query, name)
            if now != worker and status in ("PENDING", "SUCCESS"):
                self.taken.append(time.monotonic() - since)
                del self._since[name]

    @property
    def left(self) -> int:
        """How many legs no one has taken yet."""
        return len(self._since)


def _takeover(fleet: Fleet, count: int) -> Iterator[Found]:
    fleet.compile(DOCUMENT)
    runs = Runs(fleet)
    runs.start([f"r{number}" for number in range(1, count)])
    workers = [fleet.worker("--interrupted", "rerun", poll="0.1") for _ in range(4)]
    since, watch, at = time.monotonic(), Watch(runs), [count // 4, count // 2]
    deadline = since + 240
    while time.monotonic() < deadline:
        ended = runs.legs.rows("SELECT COUNT(*) FROM workflow_status WHERE status = 'SUCCESS'")[0][0]
        if at and ended >= at[0]:
            at.pop(0)
            worker = workers.pop()
            worker.kill()
            watch.killed(worker.process.pid)
        watch.look()
        if ended >= count and not watch.left:
            break
        time.sleep(0.05)
    took, states = time.monotonic() - since, runs.states()
    repeated = sum(more - 1 for more in Counter(fleet.lines("steps")).values())
    yield Found(
        "runs complete", f"{sum(state == 'complete' for state in states.values())} of {len(states)} in {took:.0f} s"
    )
    yield Found("legs of the two killed workers", f"{len(watch.taken) + watch.left}, not taken over: {watch.left}")
    if watch.taken:
        middle = sorted(watch.taken)[len(watch.taken) // 2]
        yield Found("seconds until a leg was taken over", f"median {middle:.1f}, at most {max(watch.taken):.1f}")
    yield Found("steps repeated, as `--interrupted rerun` says", str(repeated))
    yield Found("runs with a step left out", str(sum(len({*runs.finished(run)}) != 3 for run in states)))
