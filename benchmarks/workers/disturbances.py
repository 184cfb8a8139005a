"""Leases that end, servers that restart, full disks, and workers that pause."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks.workers.fleet import Fleet, until
from benchmarks.workers.kills import Answering
from benchmarks.workers.places import KINDS, Found, Place, Runs, mounted, restart, unmount

LONG = """\
# Long

## 1. Long

```bash
echo $RDC_RUN_ID 1 starts >> steps
for n in $(seq 60); do sleep 0.1; done
echo $RDC_RUN_ID 1 ends >> steps
```

## 2. Short

```bash
echo $RDC_RUN_ID 2 starts >> steps
```
"""
SHORT = "# Short\n\n" + "".join(
    f"## {n}. S\n\n```bash\necho $RDC_RUN_ID {n} starts >> steps\nsleep 0.1\n```\n\n" for n in range(1, 6)
)
WRITES = SHORT.replace("sleep 0.1", "sleep 0.1; head -c 3000 /dev/urandom | base64")


def disturbances(at: Place) -> Iterator[Found]:
    """Disturb workers in each of these ways."""
    with at.fleet("postgresql", "lease") as fleet:
        yield from _lease(fleet, at)
    for how in ("fast", "immediate"):
        with at.fleet("postgresql", f"restart-{how}") as fleet:
            yield from _restart(fleet, at, how)
    for kind in KINDS:
        with at.fleet(kind, "stopped") as fleet:
            yield from (Found(f"{kind}: {one.what}", one.figure) for one in _stopped(fleet))
    yield from _full(at)


def summary(fleet: Fleet, runs: Runs, answer: Answering | None = None) -> str:
    """Return how the runs ended, and which steps were started twice without a person's word."""
    states = runs.states()
    starts = Counter(line for line in fleet.lines("steps") if line.endswith("starts"))
    asked = sum(answer.repeats.values()) if answer else 0
    asked_of = {f"{run} {step} starts": more for (run, step), more in answer.repeats.items()} if answer else {}
    twice = sum(more > 1 + asked_of.get(line, 0) for line, more in starts.items())
    recorded = sum(max(Counter(runs.finished(run)).values(), default=0) > 1 for run in states)
    ended = ", ".join(f"{count} {state}" for state, count in Counter(states.values()).items())
    return f"{ended}; interrupted {asked}, started twice unasked {twice}, recorded twice {recorded}"


def _lease(fleet: Fleet, at: Place) -> Iterator[Found]:
    """End the session that has a worker's lease while a step runs, three times; no one takes the run over."""
    fleet.compile(LONG)
    worker, other = fleet.worker(), fleet.worker()
    runs = Runs(fleet)
    until(lambda: fleet.lines("steps"), 20)
    for _ in range(3):
        time.sleep(0.7)
        at.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
        )
    runs.until_over(40)
    output = [
        line for one in (worker, other) for line in one.text.splitlines() if "took over" in line or "error" in line
    ]
    yield Found("pg_terminate_backend on all leases, three times in a step", summary(fleet, runs))
    yield Found("  output of the workers", "; ".join(output) or "nothing")
    yield Found("  workers alive", str(sum(one.process.poll() is None for one in (worker, other))))


def _restart(fleet: Fleet, at: Place, how: str) -> Iterator[Found]:
    """Restart the server under load, twice."""
    fleet.compile(SHORT)
    workers = [fleet.worker(poll="0.1") for _ in range(2)]
    runs = Runs(fleet)
    answer = Answering(fleet, runs)
    runs.start([f"r{number}" for number in range(60)])
    took = []
    for _ in range(2):
        time.sleep(2)
        runs.legs.close()
        took.append(restart(at.server, how))
    since = time.monotonic()
    runs.until_over(90, answer)
    after = time.monotonic() - since
    yield Found(f"PostgreSQL restarted ({how}) under load, twice", summary(fleet, runs, answer))
    lasted = " and ".join(f"{seconds:.1f}" for seconds in took)
    yield Found("  restarts lasted (s); until all runs had ended (s)", f"{lasted}; {after:.1f}")
    yield Found("  workers alive", f"{sum(one.process.poll() is None for one in workers)} of 2")


def _stopped(fleet: Fleet) -> Iterator[Found]:
    """Stop a worker in a step for longer than its lease lasts, and then continue it."""
    fleet.compile(LONG)
    worker = fleet.worker("--jobs", "1")
    runs = Runs(fleet)
    until(lambda: fleet.lines("steps"), 20)
    other = fleet.worker("--jobs", "1")
    worker.send(signal.SIGSTOP)
    since = time.monotonic()
    while time.monotonic() - since < 20 and fleet.state("model") == "running":
        time.sleep(0.1)
    state, took = fleet.state("model"), time.monotonic() - since
    worker.send(signal.SIGCONT)
    time.sleep(1)
    answer = Answering(fleet, runs)
    runs.until_over(40, answer)
    time.sleep(6)
    yield Found(
        "a worker stopped past its lease: the run", f"{state} after {took:.1f} s; {summary(fleet, runs, answer)}"
    )
    code = worker.process.poll()
    yield Found(
        "  the stopped worker", "works again" if code is None else f"ended with exit code {code}: {worker.text[-90:]}"
    )
    yield Found("  the other worker", "alive" if other.process.poll() is None else other.text[-200:])


def _full(at: Place) -> Iterator[Found]:
    """Let the disk of a SQLite database become full under load, then free it."""
    folder = at.folder / "small"
    folder.mkdir()
    if not mounted(folder, "24m"):
        yield Found("disk full", "skipped: no small disk can be mounted here")
        return
    try:
        with at.fleet("sqlite", "full") as fleet:
            fleet.url = fleet.environment["RDC_DATABASE"] = f"sqlite:///{folder}/runs.sqlite"
            yield from _filled(Fleet(fleet.folder, fleet.url, at.nursery), folder)
    finally:
        unmount(folder)


def _filled(fleet: Fleet, folder: Path) -> Iterator[Found]:
    with fleet:
        fleet.compile(WRITES)
        worker = fleet.worker(poll="0.1")
        runs = Runs(fleet)
        answer = Answering(fleet, runs)
        runs.start([f"r{number}" for number in range(40)])
        time.sleep(2)
        filler = folder / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"0" * 4096)
        time.sleep(6)
        output = fleet.call("start", "--id", "more")
        alive = worker.process.poll() is None
        filler.unlink()
        again = worker if alive else fleet.worker()
        runs.until_over(60, answer)
        yield Found("disk full under load: `start`", f"exit code {output.code}: {output.text.strip()}")
        yield Found("  the worker", "alive" if alive else f"ended with {worker.process.returncode}")
        lines = [line for line in again.text.splitlines() if "full" in line or "space" in line or "error" in line]
        yield Found("  its output", "; ".join(lines[:2]))
        yield Found("  after space was freed", summary(fleet, runs, answer))
