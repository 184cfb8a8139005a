"""The cost of runs that wait for a person."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks.workers.fleet import Fleet
from benchmarks.workers.places import KINDS, Found, Place, Runs

DOCUMENT = (
    "# Parked\n\n## 1. Build\n\n```bash\ntrue\n```\n\n## 2. Check\n\nIs it fine?\n\n- YES: COMPLETE\n- NO: STOP\n"
)
TICKS = os.sysconf("SC_CLK_TCK")


def parked(at: Place, count: int = 10_000, seconds: float = 20.0) -> Iterator[Found]:
    """Compare an idle worker beside no runs and beside many that wait."""
    for kind in KINDS:
        with at.fleet(kind, "parked") as fleet:
            yield from (Found(f"{kind}: {one.what}", one.figure) for one in _parked(fleet, count, seconds))


def spent(pid: int) -> float:
    """Return the seconds of a processor that a process and its children have taken."""
    total = 0.0
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total = sum(map(int, fields[11:15])) / TICKS
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(spent(int(child)) for child in (task / "children").read_text().split())
    return total


def threads(pid: int) -> int:
    """Return the number of threads of a process."""
    return sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())


def _parked(fleet: Fleet, count: int, seconds: float) -> Iterator[Found]:
    fleet.compile(DOCUMENT)
    worker = fleet.worker(poll="0.25")
    runs = Runs(fleet)
    fleet.until("model", "waiting")
    yield _idle(worker.process.pid, 1, seconds)
    records, _ = runs.legs.journal("model", 1)
    (leg,) = runs.legs.of_run("model")
    since = time.monotonic()
    runs.park([f"r{number}" for number in range(1, count)], records, leg.result)
    yield Found("seconds to add the runs", f"{time.monotonic() - since:.0f}")
    yield _idle(worker.process.pid, count, seconds)
    for words in (["list", "--waiting"], ["status", "r7"], ["answer", "r7", "2", "yes"]):
        since = time.monotonic()
        output = fleet.call(*words)
        yield Found(
            f"`{' '.join(words)}` beside {count:,} runs", f"{time.monotonic() - since:.2f} s, exit code {output.code}"
        )
    since = time.monotonic()
    fleet.until("r7", "complete")
    yield Found("seconds until a worker had continued it", f"{time.monotonic() - since:.2f}")


def _idle(pid: int, count: int, seconds: float) -> Found:
    time.sleep(2)
    before, since = spent(pid), time.monotonic()
    time.sleep(seconds)
    share = (spent(pid) - before) / (time.monotonic() - since)
    return Found(
        f"an idle worker beside {count:,} parked runs", f"{threads(pid)} threads, {100 * share:.1f} % of a core"
    )
